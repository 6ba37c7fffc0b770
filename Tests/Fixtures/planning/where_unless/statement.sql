SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    ORDER BY t1.title, t1.id
    LIMIT 2))

