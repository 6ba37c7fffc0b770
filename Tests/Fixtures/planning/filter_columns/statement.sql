SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM album AS t1
    WHERE ((t1.title)::text = ANY ($1::text[]) AND (t1.title)::text LIKE replace(replace(replace($2::text, '\', '\\'), '%', '\%'), '_', '\_') || '%' AND ((t1.size = 'X-L') OR (NOT (t1.size IS NOT NULL))))
    ORDER BY t1.album_id
    LIMIT 2))

-- $1 text[]: variable $filter.title.in
-- $2 text: variable $filter.title.startsWith
