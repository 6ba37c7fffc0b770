SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (t1.printed < $1 OR (t1.printed = $1 AND (t1.id > $2)))
    ORDER BY t1.printed DESC, t1.id
    LIMIT 2))

-- $1 sort key 1 of the cursor in variable $after
-- $2 sort key 2 of the cursor in variable $after
