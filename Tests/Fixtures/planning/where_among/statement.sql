SELECT ROW(ARRAY(SELECT ROW(t1.title, (SELECT ROW(t2.name)
        FROM person AS t2
        WHERE t2.id = t1.author_id))
    FROM (WITH f3 AS MATERIALIZED (SELECT t1.*
        FROM (SELECT t1.*
          FROM book AS t1
          WHERE t1.is_public
            AND (t1.is_kept = true)
          ORDER BY t1.title, t1.id
          LIMIT 500) AS t1
        WHERE (t1.words @@ to_tsquery($1::text))
        ORDER BY t1.title, t1.id
        LIMIT 3)
      (SELECT *
        FROM f3
        WHERE (SELECT count(*) FROM f3) >= 3)
      UNION ALL (SELECT t1.*
        FROM book AS t1
        WHERE t1.is_public
          AND (t1.words @@ to_tsquery($1::text))
          AND (t1.is_kept = true)
          AND (SELECT count(*) FROM f3) < 3
        ORDER BY t1.title, t1.id
        LIMIT 3)) AS t1
    ORDER BY t1.title, t1.id
    LIMIT 3))

-- $1 text: variable $word
