SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (EXISTS (SELECT FROM loan l WHERE l.book_id = t1.id AND (false OR l.reader_id IN (SELECT f.id FROM friend($1::bigint) f))))
    ORDER BY t1.title, t1.id
    LIMIT 2))

-- $1 bigint: the viewer's id
