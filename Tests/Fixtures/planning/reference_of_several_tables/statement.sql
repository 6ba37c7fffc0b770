SELECT ROW((SELECT ROW(CASE
        WHEN t1.item_id & 255 = 1 THEN (SELECT ROW(t2.id)
          FROM book AS t2
          WHERE t2.id = t1.item_id)
        WHEN t1.item_id & 255 = 7 THEN (SELECT ROW(t3.id, t3.minutes)
          FROM film AS t3
          WHERE t3.id = t1.item_id)
      END)
    FROM loan AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
