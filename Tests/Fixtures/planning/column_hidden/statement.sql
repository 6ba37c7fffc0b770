SELECT ROW((SELECT ROW(t1.book_count - CASE WHEN t1.book_count > 0 AND EXISTS (SELECT FROM hidden_shelf($2::bigint))
        THEN hidden_books($2::bigint, t1.id) ELSE 0 END)
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
