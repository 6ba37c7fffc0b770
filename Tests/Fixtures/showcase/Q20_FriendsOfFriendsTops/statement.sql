SELECT ROW(ARRAY(SELECT ROW(
      great_circle(t1.latitude, t1.longitude, $1::float8,
      $2::float8),
      t1.id,
      t1.name,
      t1.popularity,
      (t1.latitude IS NOT NULL),
      t1.latitude,
      t1.longitude,
      (SELECT count(*)
        FROM reaction AS e4
          JOIN visible_user($4::bigint) AS t5 ON t5.id = e4.user_id
        WHERE e4.subject_id = t1.id
          AND (e4.kind = 'TOP')
          AND (($4::bigint > 0) AND (false OR e4.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)))),
      ARRAY(SELECT ROW(e2.created_at, t3.id, t3.display_name, (SELECT count(*)
            FROM known_follower($4::bigint, t3.id) AS e8
              JOIN visible_user($4::bigint) AS t9 ON t9.id = e8.id), ARRAY(SELECT ROW(t7.id, t7.display_name)
            FROM known_follower($4::bigint, t3.id) AS e6
              JOIN visible_user($4::bigint) AS t7 ON t7.id = e6.id
            ORDER BY e6.followed_at DESC, e6.id DESC
            LIMIT 2))
        FROM reaction AS e2
          JOIN visible_user($4::bigint) AS t3 ON t3.id = e2.user_id
        WHERE e2.subject_id = t1.id
          AND (e2.kind = 'TOP')
          AND (($4::bigint > 0) AND (false OR e2.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)))
        ORDER BY e2.created_at DESC, e2.user_id DESC, e2.kind DESC
        LIMIT 5),
      ARRAY(SELECT ROW(t10.id, ARRAY(SELECT ROW(CASE 'SQUARE' WHEN 'SQUARE' THEN coalesce(t12.square_url, t12.url) ELSE t12.url END)
            FROM post_photo AS e11
              JOIN shown_photo($4::bigint) AS t12 ON t12.id = e11.photo_id
            WHERE e11.post_id = t10.id
            ORDER BY e11.position), (SELECT ROW(t13.id, t13.display_name, EXISTS (SELECT FROM follow f WHERE f.follower_id = $4::bigint AND f.followee_id = t13.id))
            FROM named_user($4::bigint) AS t13
            WHERE t13.id = t10.author_id), CASE 'TOP' WHEN 'HEART' THEN t10.heart_count WHEN 'LIKE' THEN t10.like_count WHEN 'TOP' THEN
          t10.top_count WHEN 'AGREE' THEN 0 ELSE t10.score END, ARRAY(SELECT ROW(t14.body, (SELECT ROW(t15.display_name)
                FROM named_user($4::bigint) AS t15
                WHERE t15.id = t14.author_id))
            FROM shown_comment($4::bigint) AS t14
            WHERE t14.subject_id = t10.id
            ORDER BY t14.id DESC
            LIMIT 2))
        FROM visible_post($4::bigint) AS t10
        WHERE t10.location_id = t1.id
          AND (t10.kind IN (18))
          AND (($4::bigint > 0) AND (false OR t10.author_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)))
        ORDER BY t10.score DESC, t10.id DESC
        LIMIT 3))
    FROM location AS t1
    WHERE (t1.latitude IS NOT NULL
    AND (point(t1.longitude, t1.latitude) <@ near_box(
        $1::float8, $2::float8,
        $3::float8)
      OR point(t1.longitude, t1.latitude) <@ date_line_box(
        $1::float8, $2::float8,
        $3::float8))
    AND great_circle(t1.latitude, t1.longitude,
      $1::float8, $2::float8)
      <= circle_radius($1::float8, $3::float8))
      AND (t1.level IN ('PLACE'))
      AND ($4::bigint > 0 AND CASE WHEN $3::float8 IS NULL
      THEN t1.id IN (SELECT t.id FROM topped_place($4::bigint, 'FRIENDS_OF_FRIENDS') t)
      ELSE (SELECT true FROM reaction r WHERE r.subject_id = t1.id AND r.kind = 'TOP'
        AND (false OR r.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)) LIMIT 1) END)
    ORDER BY t1.popularity DESC, t1.id DESC
    LIMIT 20))

-- $1 float8: variable $here.center.latitude
-- $2 float8: variable $here.center.longitude
-- $3 float8: variable $here.radius
-- $4 bigint: the viewer's id
