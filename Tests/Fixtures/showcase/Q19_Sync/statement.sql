SELECT ROW((SELECT ROW(t1.token, t1.has_more, ARRAY(SELECT ROW(t2.id, t2.operation, CASE
            WHEN t2.id & 255 = 60 THEN (SELECT ROW(t3.id)
              FROM visible_session($1::bigint) AS t3
              WHERE t3.id = t2.id)
            WHEN t2.id & 255 = 43 THEN (SELECT ROW(t4.id)
              FROM visible_activity_track($1::bigint) AS t4
              WHERE t4.id = t2.id)
            WHEN t2.id & 255 = 44 THEN (SELECT ROW(t5.id)
              FROM visible_test_result($1::bigint) AS t5
              WHERE t5.id = t2.id)
            WHEN t2.id & 255 IN (22, 19, 20, 21, 23, 16, 18, 17, 24) THEN (SELECT ROW(
                t6.id,
                t6.body,
                t6.created_at,
                CASE WHEN t6.id & 255 IN (22) THEN (SELECT ROW(t7.id)
                  FROM visible_circle($1::bigint) AS t7
                  WHERE t7.id = t6.circle_id) END,
                t6_event.title,
                t6_event.starts_at,
                t6_event.ends_at,
                t6.visibility::text,
                CASE WHEN t6.id & 255 IN (23) THEN (SELECT ROW(t8.id)
                  FROM visible_circle($1::bigint) AS t8
                  WHERE t8.id = t6.circle_id) END,
                CASE WHEN t6.id & 255 IN (23) THEN (SELECT a.status FROM attendance a WHERE a.event_id = t6.id AND a.user_id = $1::bigint) END)
              FROM visible_post($1::bigint) AS t6
                LEFT JOIN event AS t6_event ON t6_event.post_id = t6.id
              WHERE t6.id = t2.id)
            WHEN t2.id & 255 = 34 THEN (SELECT ROW(t9.id)
              FROM visible_info_request($1::bigint) AS t9
              WHERE t9.id = t2.id)
            WHEN t2.id & 255 = 35 THEN (SELECT ROW(t10.id)
              FROM visible_follow_up($1::bigint) AS t10
              WHERE t10.id = t2.id)
            WHEN t2.id & 255 = 5 THEN (SELECT ROW(t11.id, t11.name, (SELECT m.role FROM circle_member m WHERE m.circle_id = t11.id AND m.user_id = $1::bigint), ARRAY(SELECT ROW(t13.id, t13.display_name)
                  FROM circle_member AS e12
                    JOIN visible_user($1::bigint) AS t13 ON t13.id = e12.user_id
                  WHERE e12.circle_id = t11.id
                  ORDER BY e12.name_key, e12.user_id
                  LIMIT 100))
              FROM visible_circle($1::bigint) AS t11
              WHERE t11.id = t2.id)
            WHEN t2.id & 255 = 40 THEN (SELECT ROW(t14.id)
              FROM program AS t14
              WHERE t14.id = t2.id)
            WHEN t2.id & 255 = 41 THEN (SELECT ROW(t15.id)
              FROM class_session AS t15
              WHERE t15.id = t2.id)
            WHEN t2.id & 255 = 42 THEN (SELECT ROW(t16.id, t16.cancelled_at, (SELECT ROW(t17.id, t17.starts_at)
                  FROM class_session AS t17
                  WHERE t17.id = t16.session_id))
              FROM visible_booking($1::bigint) AS t16
              WHERE t16.id = t2.id)
            WHEN t2.id & 255 = 32 THEN (SELECT ROW(t18.id, t18.body, t18.created_at, CASE
                  WHEN t18.subject_id & 255 IN (22, 19, 20, 21, 23, 16, 18, 17, 24) THEN (SELECT ROW(t19.id)
                    FROM visible_post($1::bigint) AS t19
                    WHERE t19.id = t18.subject_id)
                  WHEN t18.subject_id & 255 = 5 THEN (SELECT ROW(t20.id)
                    FROM visible_circle($1::bigint) AS t20
                    WHERE t20.id = t18.subject_id)
                  WHEN t18.subject_id & 255 = 3 THEN (SELECT ROW(t21.id)
                    FROM exact_location() AS t21
                    WHERE t21.id = t18.subject_id)
                END, (SELECT ROW(t22.id, t22.display_name)
                  FROM named_user($1::bigint) AS t22
                  WHERE t22.id = t18.author_id))
              FROM visible_comment($1::bigint) AS t18
              WHERE t18.id = t2.id)
            WHEN t2.id & 255 = 51 THEN (SELECT ROW(t23.id)
              FROM visible_external_contact($1::bigint) AS t23
              WHERE t23.id = t2.id)
            WHEN t2.id & 255 = 52 THEN (SELECT ROW(t24.id)
              FROM visible_device($1::bigint) AS t24
              WHERE t24.id = t2.id)
            WHEN t2.id & 255 = 33 THEN (SELECT ROW(t25.id, t25.status, (SELECT ROW(t26.id)
                  FROM visible_post($1::bigint) AS t26
                  WHERE t26.id = t25.event_id))
              FROM visible_invitation($1::bigint) AS t25
              WHERE t25.id = t2.id)
            WHEN t2.id & 255 = 3 THEN (SELECT ROW(t27.id)
              FROM exact_location() AS t27
              WHERE t27.id = t2.id)
            WHEN t2.id & 255 = 48 THEN (SELECT ROW(t28.id)
              FROM visible_conversation($1::bigint) AS t28
              WHERE t28.id = t2.id)
            WHEN t2.id & 255 = 49 THEN (SELECT ROW(t29.id)
              FROM visible_message($1::bigint) AS t29
              WHERE t29.id = t2.id)
            WHEN t2.id & 255 = 50 THEN (SELECT ROW(t30.id, t30.reason, coalesce((
                  SELECT format(p.template, VARIADIC t30.args) FROM phrase p
                  WHERE p.locale = (SELECT spoken($2::text, $1::bigint)) AND p.key = t30.phrase
                    AND p.form = CASE WHEN t30.number IS NULL THEN 'other' ELSE plural_form(p.locale, t30.number) END
                    AND (t30.number < 1000) IS NOT FALSE
                  ORDER BY p.is_shipped LIMIT 1),
                  notification_text((SELECT spoken($2::text, $1::bigint)), t30.phrase, t30.args, t30.number)), replace((SELECT link_template(app_named($3::text, $1::bigint))), '{path}', t30.destination), t30.read_at)
              FROM visible_notification($1::bigint) AS t30
              WHERE t30.id = t2.id)
            WHEN t2.id & 255 = 2 THEN (SELECT ROW(t31.id)
              FROM visible_photo($1::bigint) AS t31
              WHERE t31.id = t2.id)
            WHEN t2.id & 255 = 4 THEN (SELECT ROW(t32.id)
              FROM exact_product() AS t32
              WHERE t32.id = t2.id)
            WHEN t2.id & 255 = 1 THEN (SELECT ROW(t33.id)
              FROM visible_user($1::bigint) AS t33
              WHERE t33.id = t2.id)
          END)
        FROM unnest(t1.node_ids, t1.operations) WITH ORDINALITY AS t2(id, operation, position)
        ORDER BY t2.position))
    FROM change_page($1::bigint, $4::text, $5::int4) AS t1))

-- $1 bigint: the viewer's id
-- $2 text: the languages of the request, best first
-- $3 text: the application of the request
-- $4 text: variable $since
-- $5 int4: 100
