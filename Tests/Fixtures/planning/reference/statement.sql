SELECT ROW((SELECT ROW((SELECT ROW(t2.name)
        FROM author AS t2
        WHERE t2.id = t1.author_id))
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
