SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (($1::bigint > 0) AND EXISTS (SELECT f.id FROM friend($1::bigint) f) AND (false OR t1.owner_id IN (SELECT f.id FROM friend($1::bigint) f)))
    ORDER BY t1.title, t1.id
    LIMIT 2))

-- $1 bigint: the viewer's id
