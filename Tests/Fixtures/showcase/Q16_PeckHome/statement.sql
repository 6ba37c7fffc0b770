SELECT ROW((SELECT ROW((SELECT count(*)::int FROM visible_notification($1::bigint) n WHERE n.read_at IS NULL
        AND (n.reason = ANY ((SELECT listed_reasons(app_named($2::text, $1::bigint)))::text[])) IS NOT FALSE), (SELECT count(*)
        FROM (SELECT
          FROM agenda($1::bigint, $3::timestamptz, $4::timestamptz, NULL::text[], 10001, NULL, NULL) AS e3
          LIMIT 10001) AS c4), ARRAY(SELECT ROW(CASE
            WHEN e2.id & 255 = 41 THEN (SELECT ROW(
                t5.id,
                t5_program.title,
                t5.starts_at,
                t5.ends_at,
                (SELECT ROW(t6.name)
                  FROM exact_location() AS t6
                  WHERE t6.id = (SELECT p.location_id FROM program p WHERE p.id = t5.program_id)),
                (SELECT ROW(t7.display_name)
                  FROM named_user($1::bigint) AS t7
                  WHERE t7.id = t5.trainer_id),
                (SELECT ROW(t8.id)
                  FROM visible_booking($1::bigint) AS t8
                  WHERE t8.session_id = t5.id AND t8.user_id = $1::bigint AND t8.cancelled_at IS NULL))
              FROM class_session AS t5
                LEFT JOIN program AS t5_program ON t5_program.id = t5.program_id
              WHERE t5.id = e2.id)
            WHEN e2.id & 255 = 23 THEN (SELECT ROW(
                t9.id,
                t9_event.title,
                t9_event.starts_at,
                t9_event.ends_at,
                (SELECT ROW(t10.name)
                  FROM exact_location() AS t10
                  WHERE t10.id = t9.location_id),
                t9_event.category,
                (SELECT ROW(t11.id, t11.name)
                  FROM visible_circle($1::bigint) AS t11
                  WHERE t11.id = t9.circle_id),
                (SELECT a.status FROM attendance a WHERE a.event_id = t9.id AND a.user_id = $1::bigint),
                (SELECT ROW(t12.status, (SELECT ROW(t13.display_name)
                      FROM named_user($1::bigint) AS t13
                      WHERE t13.id = t12.inviter_id))
                  FROM visible_invitation($1::bigint) AS t12
                  WHERE t12.event_id = t9.id AND t12.invitee_id = $1::bigint),
                (SELECT count(*)
                  FROM (SELECT
                    FROM attendance AS e16
                      JOIN visible_user($1::bigint) AS t17 ON t17.id = e16.user_id
                    WHERE e16.event_id = t9.id
                      AND (e16.status = 'GOING')
                      AND (($1::bigint > 0) AND EXISTS (SELECT n.id FROM network($1::bigint, 'FOLLOWING') n) AND (false OR e16.user_id IN (SELECT n.id FROM network($1::bigint, 'FOLLOWING') n)))
                    LIMIT 10001) AS c18),
                ARRAY(SELECT ROW(t15.display_name)
                  FROM attendance AS e14
                    JOIN visible_user($1::bigint) AS t15 ON t15.id = e14.user_id
                  WHERE e14.event_id = t9.id
                    AND (e14.status = 'GOING')
                    AND (($1::bigint > 0) AND EXISTS (SELECT n.id FROM network($1::bigint, 'FOLLOWING') n) AND (false OR e14.user_id IN (SELECT n.id FROM network($1::bigint, 'FOLLOWING') n)))
                  ORDER BY e14.updated_at DESC, e14.user_id DESC
                  LIMIT 3),
                ARRAY(SELECT ROW(t19.opens_at, t19.closes_at, t19.note, (SELECT ROW(t20.id, t20.name)
                      FROM exact_location() AS t20
                      WHERE t20.id = t19.location_id))
                  FROM event_venue AS t19
                  WHERE t19.event_id = t9.id
                  ORDER BY t19.opens_at NULLS LAST, t19.location_id),
                t9.comment_count - CASE WHEN t9.comment_count > 0 AND EXISTS (SELECT FROM hidden_user($1::bigint))
                  THEN hidden_comments($1::bigint, t9.id) ELSE 0 END)
              FROM visible_post($1::bigint) AS t9
                LEFT JOIN event AS t9_event ON t9_event.post_id = t9.id
              WHERE t9.id = e2.id)
          END)
        FROM agenda($1::bigint, $3::timestamptz, $4::timestamptz, NULL::text[], 100, NULL, NULL) AS e2
        ORDER BY e2.starts_at, e2.id
        LIMIT 100), ARRAY(SELECT ROW(t22.id, t22.body, t22.created_at, (SELECT ROW(t23.name)
            FROM visible_circle($1::bigint) AS t23
            WHERE t23.id = t22.circle_id), ARRAY(SELECT ROW(photo_url(form_url(t25.url, t25.width, t25.height, 'ORIGINAL', NULL::int4)))
            FROM post_photo AS e24
              JOIN shown_photo($1::bigint) AS t25 ON t25.id = e24.photo_id
            WHERE e24.post_id = t22.id
            ORDER BY e24.position))
        FROM feed($1::bigint, 'CIRCLES', '{22}', 10, NULL, NULL) AS e21
          JOIN visible_post($1::bigint) AS t22 ON t22.id = e21.id
        ORDER BY e21.created_at DESC, e21.id DESC
        LIMIT 10), ARRAY(SELECT ROW(
          t26.id,
          t26.reason,
          coalesce((
            SELECT format(p.template, VARIADIC t26.args) FROM phrase p
            WHERE p.locale = (SELECT spoken($5::text, $1::bigint)) AND p.key = t26.phrase
              AND p.form = CASE WHEN t26.number IS NULL THEN 'other' ELSE plural_form(p.locale, t26.number) END
              AND (t26.number < 1000) IS NOT FALSE
            ORDER BY p.is_shipped LIMIT 1),
            notification_text((SELECT spoken($5::text, $1::bigint)), t26.phrase, t26.args, t26.number)),
          replace((SELECT link_template(app_named($2::text, $1::bigint))), '{path}', t26.destination),
          t26.read_at,
          t26.created_at,
          (t26.action_kind IS NOT NULL),
          t26.action_kind,
          coalesce((
            SELECT p.words FROM phrase p
            WHERE p.locale = (SELECT spoken($5::text, $1::bigint)) AND p.key = 'action.' || t26.action_kind
              AND p.form = 'other'
            ORDER BY p.is_shipped LIMIT 1), phrase((SELECT spoken($5::text, $1::bigint)), 'action.' || t26.action_kind)),
          t26.action_url,
          t26.action_performed_at)
        FROM visible_notification($1::bigint) AS t26
        WHERE t26.recipient_id = $1::bigint
          AND (t26.reason = ANY ((SELECT listed_reasons(app_named($2::text, $1::bigint)))::text[])) IS NOT FALSE
        ORDER BY t26.id DESC
        LIMIT 10))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
-- $2 text: the application of the request
-- $3 timestamptz: variable $from
-- $4 timestamptz: variable $to
-- $5 text: the languages of the request, best first
