SELECT ROW((SELECT ROW((t1.price)::text)
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
