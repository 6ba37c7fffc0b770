SELECT ROW((SELECT ROW(
      t1.id,
      t1.name,
      ARRAY(SELECT ROW(t3.name, t3.level::text)
        FROM unnest(t1.ancestor_ids) WITH ORDINALITY AS e2(id, position)
          JOIN exact_location() AS t3 ON t3.id = e2.id
        ORDER BY e2.position),
      CASE coalesce('TOP', 'TOP') WHEN 'TOP' THEN t1.top_count ELSE 0 END,
      ARRAY(SELECT r.kind::text FROM reaction r WHERE r.subject_id = t1.id AND r.user_id = $2::bigint
      ORDER BY r.kind),
      t1.comment_count - CASE WHEN t1.comment_count > 0 AND EXISTS (SELECT FROM hidden_user($2::bigint))
        THEN hidden_comments($2::bigint, t1.id) ELSE 0 END,
      t1.post_count - CASE WHEN t1.post_count > 0 AND EXISTS (SELECT FROM hidden_user($2::bigint))
        THEN hidden_posts($2::bigint, t1.id) ELSE 0 END,
      ARRAY(SELECT ROW(
          t4_rank.score,
          t4_rank.post_id,
          t4.id,
          t4.body,
          ARRAY(SELECT ROW(photo_url(form_url(t6.url, t6.width, t6.height, 'SQUARE', NULL::int4)))
            FROM post_photo AS e5
              JOIN shown_photo($2::bigint) AS t6 ON t6.id = e5.photo_id
            WHERE e5.post_id = t4.id
            ORDER BY e5.position),
          (SELECT ROW(t7.id, t7.username)
            FROM named_user($2::bigint) AS t7
            WHERE t7.id = t4.author_id),
          CASE 'TOP' WHEN 'HEART' THEN t4.heart_count WHEN 'LIKE' THEN t4.like_count WHEN 'TOP' THEN
          t4.top_count WHEN 'AGREE' THEN 0 ELSE t4.score END,
          ARRAY(SELECT r.kind::text FROM reaction r WHERE r.subject_id = t4.id AND r.user_id = $2::bigint
          ORDER BY r.kind))
        FROM visible_post($2::bigint) AS t4
          JOIN post_rank AS t4_rank ON t4_rank.post_id = t4.id
        WHERE (t4_rank.location_id = t1.id)
          AND (t4_rank.kind IN (18))
        ORDER BY t4_rank.score DESC, t4_rank.post_id DESC
        LIMIT 21))
    FROM exact_location() AS t1
    WHERE (t1.gmaps_id = $1::text)))

-- $1 text: variable $gmapsId
-- $2 bigint: the viewer's id
