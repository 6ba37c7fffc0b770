SELECT ROW((SELECT ROW(t1.title, t1.first_printed)
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
