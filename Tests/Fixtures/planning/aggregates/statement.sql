SELECT ROW((SELECT ROW(count(*), (sum(t2.total))::text, (avg(t2.total))::text, max(t2.paid_at), count(DISTINCT (t2.country)::text))
    FROM (SELECT own_row.* FROM invoice AS own_row WHERE own_row.owner = $1::text) AS t2
    WHERE ((t2.country)::text = $2::text)), ARRAY(SELECT ROW(t1.invoice_id)
    FROM (SELECT own_row.* FROM invoice AS own_row WHERE own_row.owner = $1::text) AS t1
    WHERE ((t1.country)::text = $2::text)
    ORDER BY t1.invoice_id
    LIMIT 5))

-- $1 text: the token's claim sub
-- $2 text: "NL"
