SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM book AS t1
    WHERE (t1.printed BETWEEN $1::int4 AND $2::int4)
      AND (t1.language = $3::text)
    ORDER BY t1.title, t1.id
    LIMIT 2))

-- $1 int4: variable $filter.printed.from
-- $2 int4: variable $filter.printed.to
-- $3 text: variable $filter.language
