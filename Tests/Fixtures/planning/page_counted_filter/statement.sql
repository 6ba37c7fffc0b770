SELECT ROW((SELECT ROW((CASE WHEN true THEN t1.lent_count ELSE t1.book_count END))
    FROM author AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
