SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (t1.printed < $1 OR (t1.printed IS NULL AND NOT $3::bool) OR ((t1.printed = $1 OR (t1.printed IS NULL AND $3::bool)) AND (t1.id < $2)))
    ORDER BY t1.printed DESC NULLS LAST, t1.id DESC
    LIMIT 2))

-- $1 sort key 1 of the cursor in variable $after
-- $2 sort key 2 of the cursor in variable $after
-- $3 bool: whether sort key 1 of the cursor in variable $after is null
