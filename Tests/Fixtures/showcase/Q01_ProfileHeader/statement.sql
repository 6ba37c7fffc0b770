SELECT ROW((SELECT ROW(
      t1.id,
      t1.username,
      t1.display_name,
      t1.bio,
      (SELECT ROW(photo_url(form_url(t2.url, t2.width, t2.height, 'SQUARE', NULL::int4)))
        FROM shown_photo($1::bigint) AS t2
        WHERE t2.id = t1.avatar_id),
      (SELECT ROW(t3.name)
        FROM exact_location() AS t3
        WHERE t3.id = t1.home_id),
      t1.thank_you_score,
      EXISTS (SELECT FROM follow f WHERE f.follower_id = $1::bigint AND f.followee_id = t1.id),
      EXISTS (SELECT FROM follow f WHERE f.follower_id = t1.id AND f.followee_id = $1::bigint),
      (t1.follower_count - CASE WHEN t1.follower_count > 0 AND EXISTS (SELECT FROM hidden_user($1::bigint))
        THEN hidden_followers($1::bigint, t1.id) ELSE 0 END),
      (t1.following_count - CASE WHEN t1.following_count > 0 AND EXISTS (SELECT FROM hidden_user($1::bigint))
        THEN hidden_followees($1::bigint, t1.id) ELSE 0 END),
      (SELECT count(*)
        FROM (SELECT
          FROM visible_post($1::bigint) AS t9
          WHERE t9.author_id = t1.id
          LIMIT 10001) AS c10))
    FROM visible_user($1::bigint) AS t1
    WHERE (lower(t1.username) = lower($2::text))))

-- $1 bigint: the viewer's id
-- $2 text: variable $username
