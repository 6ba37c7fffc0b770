SELECT ROW(ARRAY(SELECT ROW(t1.title)
    FROM album AS t1
    ORDER BY (SELECT o1.name FROM artist AS o1 WHERE o1.artist_id = t1.artist_id LIMIT 1) DESC NULLS LAST, t1.title, t1.album_id
    LIMIT 2))

