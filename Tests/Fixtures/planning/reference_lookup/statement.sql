SELECT ROW((SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (t1.isbn = $1::text)))

-- $1 text: variable $isbn
