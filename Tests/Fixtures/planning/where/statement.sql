SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (t1.title = $1::text)
    ORDER BY t1.title, t1.id
    LIMIT 2))

-- $1 text: variable $title
