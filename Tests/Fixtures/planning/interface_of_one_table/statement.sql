SELECT ROW(ARRAY(SELECT ROW(t1.title, CASE WHEN t1.id & 255 IN (1) THEN loan_count(t1.id) END, t1.minutes, t1.id)
    FROM item AS t1
    ORDER BY t1.id))

