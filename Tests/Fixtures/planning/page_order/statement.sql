SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    ORDER BY t1.printed DESC, t1.id DESC
    LIMIT 2))

