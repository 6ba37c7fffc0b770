SELECT ROW(ARRAY(SELECT CASE
      WHEN e1.id & 255 = 1 THEN (SELECT ROW(t2.id, t2.title)
        FROM book AS t2
        WHERE t2.id = e1.id)
      WHEN e1.id & 255 = 7 THEN (SELECT ROW(t3.id, t3.minutes)
        FROM film AS t3
        WHERE t3.id = e1.id)
    END
    FROM unnest($1::bigint[]) WITH ORDINALITY AS e1(id, position)
    ORDER BY e1.position))

-- $1 bigint[]: variable $ids
