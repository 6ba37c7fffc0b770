SELECT ROW((SELECT ROW(ARRAY[t1."Actor"::text, t1.film_id::text], (SELECT ROW(t2.film_id::text, t2.title)
        FROM film AS t2
        WHERE t2.film_id = t1.film_id))
    FROM (SELECT own_row.* FROM film_actor AS own_row WHERE own_row.is_shown) AS t1
    WHERE t1."Actor" = $1
      AND t1.film_id = $2))

-- $1 value 1 of the key in variable $id
-- $2 value 2 of the key in variable $id
