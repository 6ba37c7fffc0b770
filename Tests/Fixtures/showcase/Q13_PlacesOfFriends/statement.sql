SELECT ROW(ARRAY(SELECT ROW(
      great_circle(t1.latitude, t1.longitude, $1::float8,
      $2::float8),
      t1.id,
      t1.name,
      (t1.latitude IS NOT NULL),
      t1.latitude,
      t1.longitude,
      t1.popularity,
      (SELECT count(*)
        FROM (SELECT
          FROM visitor($5::bigint, t1.id, 'FOLLOWING', 10001, NULL, NULL) AS e4
            JOIN visible_user($5::bigint) AS t5 ON t5.id = e4.id
          LIMIT 10001) AS c6),
      ARRAY(SELECT ROW(t3.id, (SELECT ROW(photo_url(form_url(t7.url, t7.width, t7.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($5::bigint) AS t7
            WHERE t7.id = t3.avatar_id))
        FROM visitor($5::bigint, t1.id, 'FOLLOWING', 3, NULL, NULL) AS e2
          JOIN visible_user($5::bigint) AS t3 ON t3.id = e2.id
        ORDER BY e2.visited_at DESC, e2.id DESC
        LIMIT 3))
    FROM exact_location() AS t1
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
      AND (t1.place_type IN ('NATURE', 'MUSEUM'))
      AND ($4::int4 <= t1.comment_count - CASE WHEN EXISTS (SELECT FROM hidden_user($5::bigint))
      THEN hidden_comments($5::bigint, t1.id) ELSE 0 END)
      AND ($5::bigint > 0 AND CASE WHEN coalesce($3::float8, 500000) > 10000 AND 'FOLLOWING' = 'FOLLOWING'
      THEN t1.id IN (SELECT v.id FROM visited_place($5::bigint, 'FOLLOWING') v)
      ELSE (SELECT true FROM visible_post($5::bigint) p WHERE p.location_id = t1.id
        AND (false OR p.author_id IN (SELECT n.id FROM network($5::bigint, 'FOLLOWING') n)) LIMIT 1) END)
    ORDER BY great_circle(t1.latitude, t1.longitude, $1::float8,
    $2::float8) NULLS LAST, t1.id
    LIMIT 50))

-- $1 float8: variable $here.center.latitude
-- $2 float8: variable $here.center.longitude
-- $3 float8: variable $here.radiusMeters
-- $4 int4: variable $minReviews
-- $5 bigint: the viewer's id
