SELECT ROW((SELECT ROW(t1.opens_at, t1.closes_at)
    FROM opening_of($1::text) AS t1))

-- $1 text: variable $day
