SELECT ROW((SELECT ROW(EXISTS (SELECT /* the reader's own */ FROM loan l 
        WHERE l.book_id = t1.id AND l.note <> E'reader\'s :viewer' AND l.reader_id = $2::bigint))
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
