SELECT ROW(ARRAY(WITH page AS MATERIALIZED (SELECT ROW(t1.title) AS item
    FROM book AS t1
    ORDER BY t1.title, t1.id
    LIMIT 10)
  SELECT page.item FROM page LIMIT $1::bigint))

-- $1 bigint: 7 rows of a page
