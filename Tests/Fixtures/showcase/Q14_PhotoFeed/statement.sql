SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(
          e2.created_at,
          e2.id,
          t3.id,
          t3.body,
          t3.created_at,
          (SELECT ROW(t4.id, t4.display_name, (SELECT ROW(photo_url(form_url(t5.url, t5.width, t5.height, 'SQUARE', NULL::int4)))
                FROM shown_photo($1::bigint) AS t5
                WHERE t5.id = t4.avatar_id))
            FROM named_user($1::bigint) AS t4
            WHERE t4.id = t3.author_id),
          ARRAY(SELECT ROW(photo_url(form_url(t7.url, t7.width, t7.height, 'ORIGINAL', NULL::int4)), t7.width, t7.height)
            FROM post_photo AS e6
              JOIN shown_photo($1::bigint) AS t7 ON t7.id = e6.photo_id
            WHERE e6.post_id = t3.id
            ORDER BY e6.position),
          (SELECT ROW(t8.id, t8.name, ARRAY(SELECT ROW(t10.name, t10.level::text)
                FROM unnest(t8.ancestor_ids) WITH ORDINALITY AS e9(id, position)
                  JOIN exact_location() AS t10 ON t10.id = e9.id
                ORDER BY e9.position))
            FROM exact_location() AS t8
            WHERE t8.id = t3.location_id),
          CASE NULL::text WHEN 'HEART' THEN t3.heart_count WHEN 'LIKE' THEN t3.like_count WHEN 'TOP' THEN
          t3.top_count WHEN 'AGREE' THEN 0 ELSE t3.score END,
          ARRAY(SELECT r.kind::text FROM reaction r WHERE r.subject_id = t3.id AND r.user_id = $1::bigint
          ORDER BY r.kind),
          t3.comment_count - CASE WHEN t3.comment_count > 0 AND EXISTS (SELECT FROM hidden_user($1::bigint))
            THEN hidden_comments($1::bigint, t3.id) ELSE 0 END,
          ARRAY(SELECT ROW(t11.body, (SELECT ROW(t12.display_name)
                FROM named_user($1::bigint) AS t12
                WHERE t12.id = t11.author_id))
            FROM shown_comment($1::bigint) AS t11
            WHERE t11.subject_id = t3.id
            ORDER BY t11.id DESC
            LIMIT 2))
        FROM feed($1::bigint, 'PEOPLE', '{18}', 21, NULL, NULL) AS e2
          JOIN visible_post($1::bigint) AS t3 ON t3.id = e2.id
        ORDER BY e2.created_at DESC, e2.id DESC
        LIMIT 21))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
