SELECT ROW((SELECT count(*)
    FROM (SELECT
      FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t4
      WHERE (EXISTS (SELECT
        FROM artist AS t5
        WHERE t5.artist_id = t4.artist_id
          AND ((t5.name)::text = $2::text AND NOT EXISTS (SELECT
          FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t6
          WHERE t6.artist_id = t5.artist_id
            AND ((t6.title)::text = $3::text)))))
      LIMIT 10001) AS c7), ARRAY(SELECT ROW(t1.title)
    FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t1
    WHERE (EXISTS (SELECT
      FROM artist AS t2
      WHERE t2.artist_id = t1.artist_id
        AND ((t2.name)::text = $2::text AND NOT EXISTS (SELECT
        FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t3
        WHERE t3.artist_id = t2.artist_id
          AND ((t3.title)::text = $3::text)))))
    ORDER BY t1.album_id
    LIMIT 2))

-- $1 text: the token's claim sub
-- $2 text: variable $filter.artist.name.eq
-- $3 text: variable $filter.artist.albums.none.title.eq
