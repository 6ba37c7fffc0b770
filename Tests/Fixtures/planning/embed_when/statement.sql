SELECT ROW((SELECT ROW((t1.street IS NOT NULL), t1.town)
    FROM branch AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
