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
        FROM (SELECT
          FROM reaction AS e4
            JOIN visible_user($4::bigint) AS t5 ON t5.id = e4.user_id
          WHERE e4.subject_id = t1.id AND e4.kind = 'TOP'
            AND (e4.kind = 'TOP')
            AND (($4::bigint > 0) AND EXISTS (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n) AND (false OR e4.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)))
          LIMIT 10001) AS c6),
      ARRAY(SELECT ROW(e2.created_at, t3.id, t3.display_name, (SELECT count(*)
            FROM (SELECT
              FROM known_follower($4::bigint, t3.id) AS e9
                JOIN visible_user($4::bigint) AS t10 ON t10.id = e9.id
              LIMIT 10001) AS c11), ARRAY(SELECT ROW(t8.id, t8.display_name)
            FROM known_follower($4::bigint, t3.id) AS e7
              JOIN visible_user($4::bigint) AS t8 ON t8.id = e7.id
            ORDER BY e7.followed_at DESC, e7.id DESC
            LIMIT 2))
        FROM reaction AS e2
          JOIN visible_user($4::bigint) AS t3 ON t3.id = e2.user_id
        WHERE e2.subject_id = t1.id AND e2.kind = 'TOP'
          AND (e2.kind = 'TOP')
          AND (($4::bigint > 0) AND EXISTS (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n) AND (false OR e2.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)))
        ORDER BY e2.created_at DESC, e2.user_id DESC, e2.kind DESC
        LIMIT 5),
      ARRAY(SELECT ROW(t12.id, ARRAY(SELECT ROW(photo_url(form_url(t14.url, t14.width, t14.height, 'SQUARE', NULL::int4)))
            FROM post_photo AS e13
              JOIN shown_photo($4::bigint) AS t14 ON t14.id = e13.photo_id
            WHERE e13.post_id = t12.id
            ORDER BY e13.position), (SELECT ROW(t15.id, t15.display_name, EXISTS (SELECT FROM follow f WHERE f.follower_id = $4::bigint AND f.followee_id = t15.id))
            FROM named_user($4::bigint) AS t15
            WHERE t15.id = t12.author_id), CASE 'TOP' WHEN 'HEART' THEN t12.heart_count WHEN 'LIKE' THEN t12.like_count WHEN 'TOP' THEN
          t12.top_count WHEN 'AGREE' THEN 0 ELSE t12.score END, ARRAY(SELECT ROW(t16.body, (SELECT ROW(t17.display_name)
                FROM named_user($4::bigint) AS t17
                WHERE t17.id = t16.author_id))
            FROM shown_comment($4::bigint) AS t16
            WHERE t16.subject_id = t12.id
            ORDER BY t16.id DESC
            LIMIT 2))
        FROM visible_post($4::bigint) AS t12
          JOIN post_rank AS t12_rank ON t12_rank.post_id = t12.id
        WHERE (t12_rank.location_id = t1.id)
          AND (t12_rank.kind IN (18))
          AND (($4::bigint > 0) AND EXISTS (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n) AND (false OR t12_rank.author_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)))
        ORDER BY t12_rank.score DESC, t12_rank.post_id DESC
        LIMIT 3))
    FROM (WITH f18 AS MATERIALIZED (SELECT t1.*
        FROM (SELECT *
          FROM location_rank AS t1_rank
          WHERE (t1_rank.level IN ('PLACE'))
          ORDER BY t1_rank.popularity DESC, t1_rank.location_id DESC
          LIMIT 5000) AS t1_rank
          CROSS JOIN LATERAL (SELECT t1.*
          FROM exact_location() AS t1
          WHERE t1_rank.location_id = t1.id
          OFFSET 0) AS t1
        WHERE (t1_rank.latitude IS NOT NULL
        AND (point(t1_rank.longitude, t1_rank.latitude) <@ near_box(
            $1::float8, $2::float8,
            $3::float8)
          OR point(t1_rank.longitude, t1_rank.latitude) <@ date_line_box(
            $1::float8, $2::float8,
            $3::float8))
        AND great_circle(t1_rank.latitude, t1_rank.longitude,
          $1::float8, $2::float8)
          <= circle_radius($1::float8, $3::float8))
          AND ($4::bigint > 0 AND CASE WHEN coalesce($3::float8, 500000) > 10000 AND 'FRIENDS_OF_FRIENDS' = 'FOLLOWING'
          THEN t1_rank.location_id IN (SELECT t.id FROM topped_place($4::bigint, 'FRIENDS_OF_FRIENDS') t)
          ELSE (SELECT true FROM reaction r WHERE r.subject_id = t1_rank.location_id AND r.kind = 'TOP'
            AND (false OR r.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)) LIMIT 1) END)
        ORDER BY t1_rank.popularity DESC, t1_rank.location_id DESC
        LIMIT 20)
      (SELECT *
        FROM f18
        WHERE (SELECT count(*) FROM f18) >= 20)
      UNION ALL (SELECT t1.*
        FROM exact_location() AS t1
          JOIN location_rank AS t1_rank ON t1_rank.location_id = t1.id
        WHERE (t1_rank.latitude IS NOT NULL
        AND (point(t1_rank.longitude, t1_rank.latitude) <@ near_box(
            $1::float8, $2::float8,
            $3::float8)
          OR point(t1_rank.longitude, t1_rank.latitude) <@ date_line_box(
            $1::float8, $2::float8,
            $3::float8))
        AND great_circle(t1_rank.latitude, t1_rank.longitude,
          $1::float8, $2::float8)
          <= circle_radius($1::float8, $3::float8))
          AND (t1_rank.level IN ('PLACE'))
          AND ($4::bigint > 0 AND CASE WHEN coalesce($3::float8, 500000) > 10000 AND 'FRIENDS_OF_FRIENDS' = 'FOLLOWING'
          THEN t1_rank.location_id IN (SELECT t.id FROM topped_place($4::bigint, 'FRIENDS_OF_FRIENDS') t)
          ELSE (SELECT true FROM reaction r WHERE r.subject_id = t1_rank.location_id AND r.kind = 'TOP'
            AND (false OR r.user_id IN (SELECT n.id FROM network($4::bigint, 'FRIENDS_OF_FRIENDS') n)) LIMIT 1) END)
          AND (t1.latitude IS NOT NULL
        AND (point(t1.longitude, t1.latitude) <@ near_box(
            $1::float8, $2::float8,
            $3::float8)
          OR point(t1.longitude, t1.latitude) <@ date_line_box(
            $1::float8, $2::float8,
            $3::float8))
        AND great_circle(t1.latitude, t1.longitude,
          $1::float8, $2::float8)
          <= circle_radius($1::float8, $3::float8))
          AND (SELECT count(*) FROM f18) < 20
        ORDER BY t1_rank.popularity DESC, t1_rank.location_id DESC
        LIMIT 20)) AS t1
      JOIN location_rank AS t1_rank ON t1_rank.location_id = t1.id
    ORDER BY t1_rank.popularity DESC, t1_rank.location_id DESC
    LIMIT 20))

-- $1 float8: variable $here.center.latitude
-- $2 float8: variable $here.center.longitude
-- $3 float8: variable $here.radiusMeters
-- $4 bigint: the viewer's id
