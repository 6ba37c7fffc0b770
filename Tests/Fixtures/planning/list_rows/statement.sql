SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(t2.title)
        FROM book_in_print($2::bigint) AS t2
        WHERE t2.author_id = t1.id
        ORDER BY t2.id))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
