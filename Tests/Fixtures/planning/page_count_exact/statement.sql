SELECT ROW((SELECT count(*)
    FROM (SELECT
      FROM book AS t2
      LIMIT 10001) AS c3), ((SELECT s.book_count FROM shelf s)))

