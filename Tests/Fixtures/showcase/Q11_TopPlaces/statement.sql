SELECT ROW(ARRAY(SELECT ROW(
      t1.id,
      t1.name,
      t1.gmaps_id,
      t1.place_type,
      t1.popularity,
      (t1.latitude IS NOT NULL),
      t1.latitude,
      t1.longitude,
      ARRAY(SELECT ROW(ARRAY(SELECT ROW(photo_url(form_url(t4.url, t4.width, t4.height, 'SQUARE', NULL::int4)))
            FROM post_photo AS e3
              JOIN shown_photo($1::bigint) AS t4 ON t4.id = e3.photo_id
            WHERE e3.post_id = t2.id
            ORDER BY e3.position))
        FROM visible_post($1::bigint) AS t2
          JOIN post_rank AS t2_rank ON t2_rank.post_id = t2.id
        WHERE (t2_rank.location_id = t1.id)
          AND (t2_rank.kind IN (18))
        ORDER BY t2_rank.score DESC, t2_rank.post_id DESC
        LIMIT 1))
    FROM exact_location() AS t1
      JOIN location_rank AS t1_rank ON t1_rank.location_id = t1.id
    WHERE (t1_rank.level IN ('PLACE'))
    ORDER BY t1_rank.popularity DESC, t1_rank.location_id DESC
    LIMIT 20))

-- $1 bigint: the viewer's id
