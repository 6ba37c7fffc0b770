SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(t3.title)
        FROM authorship AS e2
          JOIN book AS t3 ON t3.id = e2.book_id
        WHERE e2.author_id = t1.id
        ORDER BY e2.position))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
