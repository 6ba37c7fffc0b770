SELECT ROW((SELECT ROW(t1.id, t1.minutes)
    FROM film AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
