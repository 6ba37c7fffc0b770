SELECT ROW((SELECT ROW(t1.name, (SELECT count(*) FROM loan l WHERE l.reader_id = $1::bigint))
    FROM visible_reader($1::bigint) AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
