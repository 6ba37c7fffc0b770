SELECT ROW((SELECT ROW(t1.title)
    FROM book AS t1
    WHERE t1.id = $1::bigint), (SELECT ROW(t2.name)
    FROM reader AS t2
    WHERE t2.id = $2::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
