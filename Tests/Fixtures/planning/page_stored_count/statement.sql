SELECT ROW((SELECT ROW((t1.book_count))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
