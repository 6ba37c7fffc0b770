SELECT ROW((SELECT ROW(CASE 'LARGE' WHEN 'LARGE' THEN cover_url(t1.id, 1200, false) ELSE t1.cover END)
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
