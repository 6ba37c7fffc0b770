SELECT ROW((SELECT count(*)
    FROM book AS t2))

