SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (t1.title, t1.id) > ($1, $2)
    ORDER BY t1.title, t1.id
    LIMIT 2))

-- $1 sort key 1 of the cursor in variable $after
-- $2 sort key 2 of the cursor in variable $after
