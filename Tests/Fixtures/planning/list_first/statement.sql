SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(t2.title)
        FROM book AS t2
        WHERE t2.author_id = t1.id
        ORDER BY t2.title, t2.id
        LIMIT 3))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
