SELECT ROW((SELECT ROW(CASE WHEN $2::bigint > 0 THEN array_remove(ARRAY[
        CASE WHEN t1.lent_to IS NULL THEN 'LEND' END,
        CASE WHEN t1.lent_to = $2::bigint THEN 'RETURN' END,
        'RECOMMEND'], NULL) ELSE '{}'::text[] END)
    FROM book AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
