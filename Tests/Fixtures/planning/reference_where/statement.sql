SELECT ROW((SELECT ROW((SELECT ROW(t2.due_on)
        FROM loan AS t2
        WHERE t2.book_id = t1.id AND t2.reader_id = $2::bigint))
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
