SELECT ROW((SELECT ROW((SELECT ROW(t2.name, ARRAY(SELECT ROW(t4.title)
            FROM favourite AS e3
              JOIN book AS t4 ON t4.id = e3.book_id
            WHERE e3.reader_id = t2.id
              AND EXISTS (SELECT FROM visible_reader($2::bigint) AS g5 WHERE g5.id = t2.id)
            ORDER BY e3.position))
        FROM masked_reader($2::bigint) AS t2
        WHERE t2.id = t1.author_id))
    FROM review AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
