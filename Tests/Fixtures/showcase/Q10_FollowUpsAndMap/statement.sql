SELECT ROW((SELECT ROW(t1.address, ARRAY(SELECT ROW(t2.id, t2.created_at, (SELECT ROW(t3.id, t3.username, t3.bio)
            FROM named_user($1::bigint) AS t3
            WHERE t3.id = t2.requester_id), (SELECT ROW(t4.id, t4.body)
            FROM visible_post($1::bigint) AS t4
            WHERE t4.id = t2.post_id))
        FROM visible_info_request($1::bigint) AS t2
        WHERE t2.owner_id = $1::bigint
          AND (t2.status = 'PENDING')
        ORDER BY t2.id DESC
        LIMIT 20), ARRAY(SELECT ROW(t5.id, t5.created_at, (SELECT ROW(t6.id, t6.username)
            FROM named_user($1::bigint) AS t6
            WHERE t6.id = t5.sender_id), (SELECT ROW(t7.id, t7.username, t7.card_preference)
            FROM named_user($1::bigint) AS t7
            WHERE t7.id = t5.recipient_id), (SELECT ROW(t8.id, t8.body)
            FROM visible_post($1::bigint) AS t8
            WHERE t8.id = t5.post_id), CASE WHEN t5.sender_id = $1::bigint AND t5.state = 'OPEN' THEN (SELECT u.address FROM
          app_user u WHERE u.id = t5.recipient_id) END)
        FROM visible_follow_up($1::bigint) AS t5
        WHERE (CASE 'SENDER' WHEN 'SENDER' THEN t5.sender_id ELSE t5.recipient_id END = $1::bigint)
          AND (t5.state = 'OPEN')
        ORDER BY t5.id DESC
        LIMIT 20), ARRAY(SELECT ROW(t9.id, t9.created_at, (SELECT ROW(t10.id, t10.username)
            FROM named_user($1::bigint) AS t10
            WHERE t10.id = t9.sender_id), (SELECT ROW(t11.id, t11.username, t11.card_preference)
            FROM named_user($1::bigint) AS t11
            WHERE t11.id = t9.recipient_id), (SELECT ROW(t12.id, t12.body)
            FROM visible_post($1::bigint) AS t12
            WHERE t12.id = t9.post_id))
        FROM visible_follow_up($1::bigint) AS t9
        WHERE (CASE 'RECIPIENT' WHEN 'SENDER' THEN t9.sender_id ELSE t9.recipient_id END = $1::bigint)
          AND (t9.state = 'OPEN')
        ORDER BY t9.id DESC
        LIMIT 20), ARRAY(SELECT ROW(t13.id, t13.resolved_at, (SELECT ROW(t14.name, (t14.latitude IS NOT NULL), t14.latitude, t14.longitude)
            FROM exact_location() AS t14
            WHERE t14.id = (SELECT a.id FROM app_user u JOIN location h ON h.id = u.home_id
              JOIN location a ON a.id = ANY (h.ancestor_ids || h.id)
              WHERE u.id = CASE WHEN t13.sender_id = $1::bigint
                  THEN t13.recipient_id ELSE t13.sender_id END
                AND a.level <> 'PLACE'
              ORDER BY a.level DESC LIMIT 1)))
        FROM visible_follow_up($1::bigint) AS t13
        WHERE (CASE 'SENDER' WHEN 'SENDER' THEN t13.sender_id ELSE t13.recipient_id END = $1::bigint)
          AND (t13.state = 'COMPLETED')
        ORDER BY t13.id DESC
        LIMIT 100), ARRAY(SELECT ROW(t15.id, t15.resolved_at, (SELECT ROW(t16.name, (t16.latitude IS NOT NULL), t16.latitude, t16.longitude)
            FROM exact_location() AS t16
            WHERE t16.id = (SELECT a.id FROM app_user u JOIN location h ON h.id = u.home_id
              JOIN location a ON a.id = ANY (h.ancestor_ids || h.id)
              WHERE u.id = CASE WHEN t15.sender_id = $1::bigint
                  THEN t15.recipient_id ELSE t15.sender_id END
                AND a.level <> 'PLACE'
              ORDER BY a.level DESC LIMIT 1)))
        FROM visible_follow_up($1::bigint) AS t15
        WHERE (CASE 'RECIPIENT' WHEN 'SENDER' THEN t15.sender_id ELSE t15.recipient_id END = $1::bigint)
          AND (t15.state = 'COMPLETED')
        ORDER BY t15.id DESC
        LIMIT 100))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
