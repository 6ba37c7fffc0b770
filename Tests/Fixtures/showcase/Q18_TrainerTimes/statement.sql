SELECT ROW(ARRAY(SELECT ROW(t1.id, t1.title, (SELECT ROW(t2.name)
        FROM exact_location() AS t2
        WHERE t2.id = t1.location_id), t1.duration_minutes, ARRAY(SELECT ROW(t4.id, t4.display_name, t4.bio, (SELECT ROW(photo_url(form_url(t5.url, t5.width, t5.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($1::bigint) AS t5
            WHERE t5.id = t4.avatar_id))
        FROM program_trainer AS e3
          JOIN visible_user($1::bigint) AS t4 ON t4.id = e3.trainer_id
        WHERE e3.program_id = t1.id
        ORDER BY t4.name_key, t4.id), ARRAY(SELECT ROW(t6.id, t6.starts_at, t6.ends_at, t6.capacity - t6.booked_count, (SELECT ROW(t7.id)
            FROM named_user($1::bigint) AS t7
            WHERE t7.id = t6.trainer_id), (SELECT ROW(t8.id)
            FROM visible_booking($1::bigint) AS t8
            WHERE t8.session_id = t6.id AND t8.user_id = $1::bigint AND t8.cancelled_at IS NULL))
        FROM class_session AS t6
        WHERE t6.program_id = t1.id AND t6.starts_at >= $2::timestamptz AND t6.starts_at < $3::timestamptz
          AND (EXISTS (SELECT FROM bookable(t6.*)))
        ORDER BY t6.starts_at, t6.id
        LIMIT 50))
    FROM program AS t1
    WHERE NOT t1.is_archived
      AND (t1.training = 'PERSONAL')
    ORDER BY t1.title, t1.id
    LIMIT 20))

-- $1 bigint: the viewer's id
-- $2 timestamptz: variable $from
-- $3 timestamptz: variable $to
