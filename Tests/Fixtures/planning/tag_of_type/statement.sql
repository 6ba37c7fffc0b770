SELECT ROW(ARRAY(SELECT ROW(t1.id)
    FROM item AS t1
    WHERE t1.kind = 7
    ORDER BY t1.id))

