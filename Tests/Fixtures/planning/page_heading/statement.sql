SELECT ROW((SELECT ROW(heading('books', (t1.book_count), t1.name))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
