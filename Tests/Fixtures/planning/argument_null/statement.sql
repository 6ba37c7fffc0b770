SELECT ROW((SELECT ROW(substr(t1.body, $2::int4, NULL::int4))
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 int4: 1
