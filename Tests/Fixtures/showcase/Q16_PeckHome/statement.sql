SELECT ROW((SELECT ROW((SELECT count(*)::int FROM visible_notification($1::bigint) n WHERE n.read_at IS NULL), (SELECT count(*)
        FROM agenda($1::bigint, $2::timestamptz, $3::timestamptz) AS e3), ARRAY(SELECT ROW(CASE
            WHEN e2.id & 255 = 41 THEN (SELECT ROW(
                t4.id,
                t4_program.title,
                t4.starts_at,
                t4.ends_at,
                (SELECT ROW(t5.name)
                  FROM location AS t5
                  WHERE t5.id = (SELECT p.location_id FROM program p WHERE p.id = t4.program_id)),
                (SELECT ROW(t6.display_name)
                  FROM named_user($1::bigint) AS t6
                  WHERE t6.id = t4.trainer_id),
                (SELECT ROW(t7.id)
                  FROM visible_booking($1::bigint) AS t7
                  WHERE t7.session_id = t4.id AND t7.user_id = $1::bigint AND t7.cancelled_at IS NULL))
              FROM class_session AS t4
                LEFT JOIN program AS t4_program ON t4_program.id = t4.program_id
              WHERE t4.id = e2.id)
            WHEN e2.id & 255 = 23 THEN (SELECT ROW(
                t8.id,
                t8_event.title,
                t8_event.starts_at,
                t8_event.ends_at,
                (SELECT ROW(t9.name)
                  FROM location AS t9
                  WHERE t9.id = t8.location_id),
                t8_event.category,
                (SELECT ROW(t10.id, t10.name)
                  FROM visible_circle($1::bigint) AS t10
                  WHERE t10.id = t8.circle_id),
                (SELECT a.status FROM attendance a WHERE a.event_id = t8.id AND a.user_id = $1::bigint),
                (SELECT ROW(t11.status, (SELECT ROW(t12.display_name)
                      FROM named_user($1::bigint) AS t12
                      WHERE t12.id = t11.inviter_id))
                  FROM visible_invitation($1::bigint) AS t11
                  WHERE t11.event_id = t8.id AND t11.invitee_id = $1::bigint),
                (SELECT count(*)
                  FROM attendance AS e15
                    JOIN visible_user($1::bigint) AS t16 ON t16.id = e15.user_id
                  WHERE e15.event_id = t8.id
                    AND (e15.status = 'GOING')
                    AND (($1::bigint > 0) AND (false OR e15.user_id IN (SELECT n.id FROM network($1::bigint, 'FOLLOWING') n)))),
                ARRAY(SELECT ROW(t14.display_name)
                  FROM attendance AS e13
                    JOIN visible_user($1::bigint) AS t14 ON t14.id = e13.user_id
                  WHERE e13.event_id = t8.id
                    AND (e13.status = 'GOING')
                    AND (($1::bigint > 0) AND (false OR e13.user_id IN (SELECT n.id FROM network($1::bigint, 'FOLLOWING') n)))
                  ORDER BY e13.updated_at DESC, e13.user_id DESC
                  LIMIT 3),
                ARRAY(SELECT ROW(t17.opens_at, t17.closes_at, t17.note, (SELECT ROW(t18.id, t18.name)
                      FROM location AS t18
                      WHERE t18.id = t17.location_id))
                  FROM event_venue AS t17
                  WHERE t17.event_id = t8.id
                  ORDER BY t17.opens_at NULLS LAST, t17.location_id),
                t8.comment_count - CASE WHEN EXISTS (SELECT FROM hidden_user($1::bigint))
                  THEN hidden_comments($1::bigint, t8.id) ELSE 0 END)
              FROM visible_post($1::bigint) AS t8
                LEFT JOIN event AS t8_event ON t8_event.post_id = t8.id
              WHERE t8.id = e2.id)
          END)
        FROM agenda($1::bigint, $2::timestamptz, $3::timestamptz) AS e2
        ORDER BY e2.starts_at, e2.id
        LIMIT 100), ARRAY(SELECT ROW(t20.id, t20.body, t20.created_at, (SELECT ROW(t21.name)
            FROM visible_circle($1::bigint) AS t21
            WHERE t21.id = t20.circle_id), ARRAY(SELECT ROW(CASE 'FULL' WHEN 'SQUARE' THEN coalesce(t23.square_url, t23.url) ELSE t23.url END)
            FROM post_photo AS e22
              JOIN shown_photo($1::bigint) AS t23 ON t23.id = e22.photo_id
            WHERE e22.post_id = t20.id
            ORDER BY e22.position))
        FROM feed($1::bigint, 'CIRCLES', '{22}', 10, NULL, NULL) AS e19
          JOIN visible_post($1::bigint) AS t20 ON t20.id = e19.id
        ORDER BY e19.created_at DESC, e19.id DESC
        LIMIT 10), ARRAY(SELECT ROW(
          t24.id,
          t24.reason,
          t24.text,
          t24.destination,
          t24.read_at,
          t24.created_at,
          (t24.action_kind IS NOT NULL),
          t24.action_kind,
          t24.action_label,
          t24.action_url,
          t24.action_performed_at)
        FROM visible_notification($1::bigint) AS t24
        WHERE t24.recipient_id = $1::bigint
        ORDER BY t24.id DESC
        LIMIT 10))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
-- $2 timestamptz: variable $from
-- $3 timestamptz: variable $to
