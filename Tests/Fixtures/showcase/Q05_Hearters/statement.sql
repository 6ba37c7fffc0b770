SELECT ROW((SELECT ROW((CASE 'HEART' WHEN 'HEART' THEN t1.heart_count WHEN 'LIKE' THEN t1.like_count WHEN 'TOP'
      THEN t1.top_count WHEN 'AGREE' THEN 0 ELSE t1.score END), ARRAY(SELECT ROW(
          e2.created_at,
          e2.user_id,
          e2.kind,
          t3.id,
          t3.display_name,
          (SELECT ROW(photo_url(form_url(t4.url, t4.width, t4.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($2::bigint) AS t4
            WHERE t4.id = t3.avatar_id),
          EXISTS (SELECT FROM follow f WHERE f.follower_id = $2::bigint AND f.followee_id = t3.id))
        FROM post_reaction($2::bigint, t1.id, 'HEART', 'EVERYONE', 51, NULL, NULL, NULL) AS e2
          JOIN visible_user($2::bigint) AS t3 ON t3.id = e2.user_id
        WHERE (e2.kind = 'HEART')
        ORDER BY e2.created_at DESC, e2.user_id DESC, e2.kind DESC
        LIMIT 51))
    FROM visible_post($2::bigint) AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
