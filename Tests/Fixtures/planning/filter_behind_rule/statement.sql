SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t1
    WHERE ((t1.title)::text <> $2::text AND t1.album_id > $6::int4 AND CASE WHEN (t1.owner = $1::text) THEN (t1.title)::text LIKE $3::text AND EXISTS (SELECT
      FROM artist AS t2
      WHERE t2.artist_id = t1.artist_id
        AND (NOT EXISTS (SELECT
        FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t3
        WHERE t3.artist_id = t2.artist_id
          AND CASE WHEN (t3.owner = $1::text) THEN (t3.title)::text LIKE '%' || replace(replace(replace($4::text, '\', '\\'), '%', '\%'), '_', '\_') || '%' ELSE false END))) AND EXISTS (SELECT
      FROM draft AS t4
      WHERE t4.album_id = t1.album_id AND NOT t4.is_secret
        AND CASE WHEN (t4.album_id = t1.album_id AND NOT t4.is_secret) THEN (t4.text)::text ILIKE $5::text ELSE false END) AND t1.price = $7::numeric ELSE false END)
      AND CASE WHEN (t1.owner = $1::text) THEN (t1.title ILIKE $8::text) ELSE false END
    ORDER BY t1.album_id
    LIMIT 2))

-- $1 text: the token's claim sub
-- $2 text: variable $filter.title.ne
-- $3 text: variable $filter.title.like
-- $4 text: variable $filter.artist.albums.none.title.contains
-- $5 text: variable $filter.drafts.some.text.ilike
-- $6 int4: variable $filter.and[0].albumId.gt
-- $7 numeric: variable $filter.and[1].price.eq
-- $8 text: variable $search
