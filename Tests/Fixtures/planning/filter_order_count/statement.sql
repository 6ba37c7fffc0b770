SELECT ROW(ARRAY(SELECT ROW(t1.invoice_id)
    FROM (SELECT own_row.* FROM invoice AS own_row WHERE own_row.owner = $1::text) AS t1
    WHERE (EXISTS (SELECT
      FROM customer AS t2
      WHERE t2.customer_id = t1.customer_id
        AND ((SELECT count(*)
        FROM (SELECT own_row.* FROM invoice AS own_row WHERE own_row.owner = $1::text) AS t3
        WHERE t3.customer_id = t2.customer_id) >= $2::int4)))
    ORDER BY (SELECT (SELECT count(*) FROM (SELECT own_row.* FROM invoice AS own_row WHERE own_row.owner = $1::text) AS n1 WHERE n1.customer_id = o1.customer_id) FROM customer AS o1 WHERE o1.customer_id = t1.customer_id LIMIT 1) DESC NULLS FIRST, t1.invoice_id DESC
    LIMIT 2))

-- $1 text: the token's claim sub
-- $2 int4: 2
