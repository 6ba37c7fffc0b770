SELECT ROW(ARRAY(WITH page AS MATERIALIZED (SELECT ROW(count(*), t2.country, date_trunc('month', t2.paid_at, 'UTC'), (sum(t2.total))::text) AS item
    FROM (SELECT own_row.* FROM invoice AS own_row WHERE own_row.owner = $1::text) AS t2
    GROUP BY t2.country, date_trunc('month', t2.paid_at, 'UTC')
    HAVING (count(*) > $2::int4 AND sum(t2.total) >= $3::numeric)
    ORDER BY sum(t2.total) DESC NULLS LAST, t2.country, date_trunc('month', t2.paid_at, 'UTC')
    LIMIT 10)
  SELECT page.item FROM page LIMIT $4::bigint))

-- $1 text: the token's claim sub
-- $2 int4: 3
-- $3 numeric: "10"
-- $4 bigint: 7 rows of a page
