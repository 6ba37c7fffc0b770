SELECT ROW((SELECT ROW((SELECT count(*)
        FROM (SELECT
          FROM book AS t3
          WHERE t3.author_id = t1.id
            AND (t3.title = $2::text)
          LIMIT 10001) AS c4))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 text: variable $title
