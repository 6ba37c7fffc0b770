SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(t3.id, t3.display_name, (SELECT ROW(photo_url(form_url(t4.url, t4.width, t4.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($1::bigint) AS t4
            WHERE t4.id = t3.avatar_id), EXISTS (SELECT FROM follow f WHERE f.follower_id = $1::bigint AND f.followee_id = t3.id), (SELECT count(*)
            FROM (SELECT
              FROM known_follower($1::bigint, t3.id) AS e7
                JOIN visible_user($1::bigint) AS t8 ON t8.id = e7.id
              LIMIT 10001) AS c9), ARRAY(SELECT ROW(t6.display_name)
            FROM known_follower($1::bigint, t3.id) AS e5
              JOIN visible_user($1::bigint) AS t6 ON t6.id = e5.id
            ORDER BY e5.followed_at DESC, e5.id DESC
            LIMIT 2))
        FROM suggested_user($1::bigint, $2::int4, 20) AS e2
          JOIN visible_user($1::bigint) AS t3 ON t3.id = e2.id
        ORDER BY e2.position
        LIMIT 20))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
-- $2 int4: variable $seed
