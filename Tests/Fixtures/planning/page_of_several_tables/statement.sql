SELECT ROW(ARRAY(SELECT ROW(CASE
        WHEN e1.id & 255 = 1 THEN (SELECT ROW(t2.id, t2.title)
          FROM book AS t2
          WHERE t2.id = e1.id)
        WHEN e1.id & 255 = 7 THEN (SELECT ROW(t3.id)
          FROM film AS t3
          WHERE t3.id = e1.id)
      END)
    FROM found_items($1::text) AS e1
    ORDER BY e1.rank DESC, e1.id DESC
    LIMIT 2))

-- $1 text: variable $text
