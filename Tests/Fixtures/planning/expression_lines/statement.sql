SELECT ROW((SELECT ROW(concat(t1.title, '
by ',
        t1.author))
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
