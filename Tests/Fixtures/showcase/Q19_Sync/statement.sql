SELECT ROW((SELECT ROW(t1.token, t1.has_more, ARRAY(SELECT ROW(t2.id, t2.operation, CASE
            WHEN t2.id & 255 = 43 THEN (SELECT ROW(t3.id)
              FROM visible_activity_track($1::bigint) AS t3
              WHERE t3.id = t2.id)
            WHEN t2.id & 255 IN (22, 19, 20, 21, 23, 16, 18, 17, 24) THEN (SELECT ROW(
                t4.id,
                t4.body,
                t4.created_at,
                CASE WHEN t4.id & 255 IN (22) THEN (SELECT ROW(t5.id)
                  FROM visible_circle($1::bigint) AS t5
                  WHERE t5.id = t4.circle_id) END,
                t4_event.title,
                t4_event.starts_at,
                t4_event.ends_at,
                t4.visibility::text,
                CASE WHEN t4.id & 255 IN (23) THEN (SELECT ROW(t6.id)
                  FROM visible_circle($1::bigint) AS t6
                  WHERE t6.id = t4.circle_id) END,
                CASE WHEN t4.id & 255 IN (23) THEN (SELECT a.status FROM attendance a WHERE a.event_id = t4.id AND a.user_id = $1::bigint) END)
              FROM visible_post($1::bigint) AS t4
                LEFT JOIN event AS t4_event ON t4_event.post_id = t4.id
              WHERE t4.id = t2.id)
            WHEN t2.id & 255 = 34 THEN (SELECT ROW(t7.id)
              FROM visible_info_request($1::bigint) AS t7
              WHERE t7.id = t2.id)
            WHEN t2.id & 255 = 35 THEN (SELECT ROW(t8.id)
              FROM visible_follow_up($1::bigint) AS t8
              WHERE t8.id = t2.id)
            WHEN t2.id & 255 = 5 THEN (SELECT ROW(t9.id, t9.name, (SELECT m.role FROM circle_member m WHERE m.circle_id = t9.id AND m.user_id = $1::bigint), ARRAY(SELECT ROW(t11.id, t11.display_name)
                  FROM circle_member AS e10
                    JOIN visible_user($1::bigint) AS t11 ON t11.id = e10.user_id
                  WHERE e10.circle_id = t9.id
                  ORDER BY e10.name_key, e10.user_id
                  LIMIT 100))
              FROM visible_circle($1::bigint) AS t9
              WHERE t9.id = t2.id)
            WHEN t2.id & 255 = 40 THEN (SELECT ROW(t12.id)
              FROM program AS t12
              WHERE t12.id = t2.id)
            WHEN t2.id & 255 = 41 THEN (SELECT ROW(t13.id)
              FROM class_session AS t13
              WHERE t13.id = t2.id)
            WHEN t2.id & 255 = 42 THEN (SELECT ROW(t14.id, t14.cancelled_at, (SELECT ROW(t15.id, t15.starts_at)
                  FROM class_session AS t15
                  WHERE t15.id = t14.session_id))
              FROM visible_booking($1::bigint) AS t14
              WHERE t14.id = t2.id)
            WHEN t2.id & 255 = 32 THEN (SELECT ROW(t16.id, t16.body, t16.created_at, CASE
                  WHEN t16.subject_id & 255 IN (22, 19, 20, 21, 23, 16, 18, 17, 24) THEN (SELECT ROW(t17.id)
                    FROM visible_post($1::bigint) AS t17
                    WHERE t17.id = t16.subject_id)
                  WHEN t16.subject_id & 255 = 5 THEN (SELECT ROW(t18.id)
                    FROM visible_circle($1::bigint) AS t18
                    WHERE t18.id = t16.subject_id)
                  WHEN t16.subject_id & 255 = 3 THEN (SELECT ROW(t19.id)
                    FROM exact_location() AS t19
                    WHERE t19.id = t16.subject_id)
                END, (SELECT ROW(t20.id, t20.display_name)
                  FROM named_user($1::bigint) AS t20
                  WHERE t20.id = t16.author_id))
              FROM visible_comment($1::bigint) AS t16
              WHERE t16.id = t2.id)
            WHEN t2.id & 255 = 51 THEN (SELECT ROW(t21.id)
              FROM visible_external_contact($1::bigint) AS t21
              WHERE t21.id = t2.id)
            WHEN t2.id & 255 = 33 THEN (SELECT ROW(t22.id, t22.status, (SELECT ROW(t23.id)
                  FROM visible_post($1::bigint) AS t23
                  WHERE t23.id = t22.event_id))
              FROM visible_invitation($1::bigint) AS t22
              WHERE t22.id = t2.id)
            WHEN t2.id & 255 = 3 THEN (SELECT ROW(t24.id)
              FROM exact_location() AS t24
              WHERE t24.id = t2.id)
            WHEN t2.id & 255 = 48 THEN (SELECT ROW(t25.id)
              FROM visible_conversation($1::bigint) AS t25
              WHERE t25.id = t2.id)
            WHEN t2.id & 255 = 49 THEN (SELECT ROW(t26.id)
              FROM visible_message($1::bigint) AS t26
              WHERE t26.id = t2.id)
            WHEN t2.id & 255 = 50 THEN (SELECT ROW(t27.id, t27.reason, t27.text, t27.destination, t27.read_at)
              FROM visible_notification($1::bigint) AS t27
              WHERE t27.id = t2.id)
            WHEN t2.id & 255 = 2 THEN (SELECT ROW(t28.id)
              FROM visible_photo($1::bigint) AS t28
              WHERE t28.id = t2.id)
            WHEN t2.id & 255 = 4 THEN (SELECT ROW(t29.id)
              FROM exact_product() AS t29
              WHERE t29.id = t2.id)
            WHEN t2.id & 255 = 1 THEN (SELECT ROW(t30.id)
              FROM visible_user($1::bigint) AS t30
              WHERE t30.id = t2.id)
          END)
        FROM unnest(t1.node_ids, t1.operations) WITH ORDINALITY AS t2(id, operation, position)
        ORDER BY t2.position))
    FROM change_page($1::bigint, $2::text, $3::int4) AS t1))

-- $1 bigint: the viewer's id
-- $2 text: variable $since
-- $3 int4: 100
