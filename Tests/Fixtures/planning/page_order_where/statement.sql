SELECT ROW((SELECT ROW((SELECT count(*)
        FROM (SELECT
          FROM book AS t3
          WHERE t3.author_id = t1.id
            AND (t3.price < 10)
          LIMIT 10001) AS c4), ARRAY(SELECT ROW(t2.title)
        FROM book AS t2
          JOIN book_rank AS t2_rank ON t2_rank.book_id = t2.id
        WHERE (t2_rank.author_id = t1.id)
          AND (t2.price < 10)
        ORDER BY t2_rank.sold DESC, t2_rank.book_id DESC
        LIMIT 2), ARRAY(SELECT ROW(t5.title)
        FROM book AS t5
        WHERE t5.author_id = t1.id
        ORDER BY t5.title, t5.id
        LIMIT 2))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
