SELECT ROW((SELECT ROW(extract(year FROM now())::int - t1.first_printed)
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
