SELECT ROW(ARRAY(SELECT ROW(t2.title)
    FROM recommended($3::bigint, 3, $1, $2) AS e1
      JOIN book AS t2 ON t2.id = e1.id
    WHERE (e1.score, e1.id) < ($1, $2)
    ORDER BY e1.score DESC, e1.id DESC
    LIMIT 3))

-- $1 sort key 1 of the cursor in variable $after
-- $2 sort key 2 of the cursor in variable $after
-- $3 bigint: the viewer's id
