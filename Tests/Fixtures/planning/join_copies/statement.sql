SELECT ROW((SELECT count(*)
    FROM (SELECT
      FROM book AS t2
      WHERE (t2.shelf = $3::int4 AND t2.shelf_mark IS NOT NULL)
        AND (t2.price < 10)
      LIMIT 10001) AS c3), ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
      JOIN book_rank AS t1_rank ON t1_rank.book_id = t1.id
    WHERE (t1_rank.shelf = $3::int4 AND t1.shelf_mark IS NOT NULL)
      AND (t1.price < 10)
      AND (t1_rank.sold, t1_rank.book_id) < ($1, $2)
    ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
    LIMIT 2), ARRAY(SELECT ROW(t4.title)
    FROM book AS t4
    WHERE (t4.shelf = $3::int4 AND t4.shelf_mark IS NOT NULL)
    ORDER BY t4.title, t4.id
    LIMIT 2))

-- $1 sort key 1 of the cursor in variable $after
-- $2 sort key 2 of the cursor in variable $after
-- $3 int4: 2
