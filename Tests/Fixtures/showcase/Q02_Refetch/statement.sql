SELECT ROW(ARRAY(SELECT CASE
      WHEN e1.id & 255 = 5 THEN (SELECT ROW(t2.id, t2.name, t2.kind)
        FROM visible_circle($2::bigint) AS t2
        WHERE t2.id = e1.id)
      WHEN e1.id & 255 = 3 THEN (SELECT ROW(t3.id, t3.name, (t3.latitude IS NOT NULL), t3.latitude, t3.longitude)
        FROM exact_location() AS t3
        WHERE t3.id = e1.id)
      WHEN e1.id & 255 = 16 THEN (SELECT ROW(t4.id, t4.body, t4.created_at, (SELECT ROW(t5.display_name)
            FROM named_user($2::bigint) AS t5
            WHERE t5.id = t4.author_id))
        FROM visible_post($2::bigint) AS t4
        WHERE t4.id = e1.id)
      WHEN e1.id & 255 = 4 THEN (SELECT ROW(t6.id, t6.name, (t6.price IS NOT NULL), (t6.price)::text, t6.currency::text)
        FROM exact_product() AS t6
        WHERE t6.id = e1.id)
      WHEN e1.id & 255 = 1 THEN (SELECT ROW(t7.id, t7.display_name)
        FROM visible_user($2::bigint) AS t7
        WHERE t7.id = e1.id)
    END
    FROM unnest($1::bigint[]) WITH ORDINALITY AS e1(id, position)
    ORDER BY e1.position))

-- $1 bigint[]: variable $ids
-- $2 bigint: the viewer's id
