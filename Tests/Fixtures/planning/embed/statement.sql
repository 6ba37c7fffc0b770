SELECT ROW((SELECT ROW(t1.name, t1.street, t1.town)
    FROM branch AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
