SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM item AS t1
    WHERE (t1.kind IN (1, 7))
    ORDER BY t1.id))

