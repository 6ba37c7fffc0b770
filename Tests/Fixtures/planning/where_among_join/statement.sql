SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM (WITH f2 AS MATERIALIZED (SELECT t1.*
        FROM (SELECT *
          FROM book_rank AS t1_rank
          WHERE (t1_rank.is_public)
            AND (t1_rank.shelf = $2::int4)
          ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
          LIMIT 100) AS t1_rank
          CROSS JOIN LATERAL (SELECT t1.*
          FROM book AS t1
          WHERE t1_rank.book_id = t1.id
          OFFSET 0) AS t1
        WHERE (t1.words @@ to_tsquery($1::text))
        ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
        LIMIT 3),
      f3 AS MATERIALIZED (SELECT *
        FROM (SELECT t1.*
          FROM book AS t1
          WHERE (t1.words @@ to_tsquery($1::text))
            AND (SELECT count(*) FROM f2) < 3
          OFFSET 0) AS t1
        LIMIT 100),
      f4 AS MATERIALIZED (SELECT t1.*
        FROM (SELECT *
          FROM book_rank AS t1_rank
          WHERE (t1_rank.is_public)
            AND (t1_rank.shelf = $2::int4)
            AND (SELECT count(*) FROM f2) < 3
            AND (SELECT count(*) FROM f3) = 100
          ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
          LIMIT 500) AS t1_rank
          CROSS JOIN LATERAL (SELECT t1.*
          FROM book AS t1
          WHERE t1_rank.book_id = t1.id
          OFFSET 0) AS t1
        WHERE (t1.words @@ to_tsquery($1::text))
        ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
        LIMIT 3)
      (SELECT *
        FROM f2
        WHERE (SELECT count(*) FROM f2) >= 3)
      UNION ALL (SELECT t1.*
        FROM f3 AS t1
          JOIN book_rank AS t1_rank ON t1_rank.book_id = t1.id
        WHERE (t1_rank.is_public)
          AND (t1_rank.shelf = $2::int4)
          AND (SELECT count(*) FROM f2) < 3
          AND (SELECT count(*) FROM f3) < 100)
      UNION ALL (SELECT *
        FROM f4
        WHERE (SELECT count(*) FROM f2) < 3
          AND (SELECT count(*) FROM f3) = 100
          AND (SELECT count(*) FROM f4) >= 3)
      UNION ALL (SELECT t1.*
        FROM book AS t1
          JOIN book_rank AS t1_rank ON t1_rank.book_id = t1.id
        WHERE (t1_rank.is_public)
          AND (t1.words @@ to_tsquery($1::text))
          AND (t1_rank.shelf = $2::int4)
          AND (SELECT count(*) FROM f2) < 3
          AND (SELECT count(*) FROM f3) = 100
          AND (SELECT count(*) FROM f4) < 3
        ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
        LIMIT 3)) AS t1
      JOIN book_rank AS t1_rank ON t1_rank.book_id = t1.id
    ORDER BY t1_rank.sold DESC, t1_rank.book_id DESC
    LIMIT 3))

-- $1 text: variable $word
-- $2 int4: 2
