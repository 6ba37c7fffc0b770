SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(t3.title)
        FROM unnest(t1.book_ids) WITH ORDINALITY AS e2(id, position)
          JOIN book AS t3 ON t3.id = e2.id
        ORDER BY e2.position))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
