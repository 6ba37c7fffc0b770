SELECT ROW(ARRAY(SELECT ROW(t2.title)
    FROM books_of('{HARDBACK,SOFT}') AS e1
      JOIN book AS t2 ON t2.id = e1.id
    ORDER BY e1.id))

