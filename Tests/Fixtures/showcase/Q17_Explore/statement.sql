SELECT ROW(ARRAY(SELECT ROW(
      t1.created_at,
      t1.id,
      t1.body,
      (SELECT ROW(t2.display_name)
        FROM named_user($1::bigint) AS t2
        WHERE t2.id = t1.author_id),
      (SELECT ROW(t3.id, t3.name, (SELECT m.role FROM circle_member m WHERE m.circle_id = t3.id AND m.user_id = $1::bigint))
        FROM visible_circle($1::bigint) AS t3
        WHERE t3.id = t1.circle_id),
      t1.comment_count - CASE WHEN t1.comment_count > 0 AND EXISTS (SELECT FROM hidden_user($1::bigint))
        THEN hidden_comments($1::bigint, t1.id) ELSE 0 END,
      t1_event.title,
      t1_event.starts_at,
      CASE WHEN t1.id & 255 IN (23) THEN (SELECT ROW(t4.name)
        FROM exact_location() AS t4
        WHERE t4.id = t1.location_id) END,
      CASE WHEN t1.id & 255 IN (23) THEN (SELECT count(*)
        FROM (SELECT
          FROM attendance AS e7
            JOIN visible_user($1::bigint) AS t8 ON t8.id = e7.user_id
          WHERE e7.event_id = t1.id
            AND (e7.status = 'GOING')
          LIMIT 10001) AS c9) END)
    FROM visible_post($1::bigint) AS t1
      LEFT JOIN event AS t1_event ON t1_event.post_id = t1.id
    WHERE t1.visibility = 'PUBLIC' AND t1.kind IN (22, 23)
    AND t1.author_id <> $1::bigint
    AND (t1.circle_id IS NULL
      OR t1.circle_id <> ALL (ARRAY(
        SELECT m.circle_id FROM circle_member m WHERE m.user_id = $1::bigint)))
    AND t1.id <> ALL (ARRAY(SELECT a.event_id FROM attendance a WHERE a.user_id = $1::bigint))
    AND t1.id <> ALL (ARRAY(
      SELECT i.event_id FROM invitation i
      WHERE i.invitee_id = $1::bigint AND i.event_id IS NOT NULL AND i.status <> 'WITHDRAWN'))
    AND (t1.kind = 22
      OR t1.id IN (SELECT e.post_id FROM event e
        WHERE e.cancelled_at IS NULL AND coalesce(e.ends_at, e.starts_at) > now()))
      AND ((22 IN (23, 22) OR 23 IN (23, 22))
    AND CASE WHEN t1.kind IN (23, 22) THEN true ELSE false END)
    ORDER BY t1.created_at DESC, t1.id DESC
    LIMIT 21))

-- $1 bigint: the viewer's id
