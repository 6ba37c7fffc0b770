SELECT ROW((SELECT ROW(ARRAY(SELECT ROW(
          e2.reacted_at,
          e2.id,
          t3.id,
          ARRAY(SELECT ROW(photo_url(form_url(t5.url, t5.width, t5.height, 'ORIGINAL', NULL::int4)))
            FROM post_photo AS e4
              JOIN shown_photo($1::bigint) AS t5 ON t5.id = e4.photo_id
            WHERE e4.post_id = t3.id
            ORDER BY e4.position),
          (SELECT ROW(t6.id, t6.display_name)
            FROM named_user($1::bigint) AS t6
            WHERE t6.id = t3.author_id),
          (SELECT ROW(t7.id, t7.name)
            FROM exact_location() AS t7
            WHERE t7.id = t3.location_id),
          (SELECT count(*)
            FROM (SELECT
              FROM post_reaction($1::bigint, t3.id, 'TOP', 'FOLLOWING', 10001, NULL, NULL, NULL) AS e10
                JOIN visible_user($1::bigint) AS t11 ON t11.id = e10.user_id
              WHERE (e10.kind = 'TOP')
                AND ($1::bigint > 0)
              LIMIT 10001) AS c12),
          ARRAY(SELECT ROW(e8.created_at, t9.display_name)
            FROM post_reaction($1::bigint, t3.id, 'TOP', 'FOLLOWING', 3, NULL, NULL, NULL) AS e8
              JOIN visible_user($1::bigint) AS t9 ON t9.id = e8.user_id
            WHERE (e8.kind = 'TOP')
              AND ($1::bigint > 0)
            ORDER BY e8.created_at DESC, e8.user_id DESC, e8.kind DESC
            LIMIT 3))
        FROM reacted_feed($1::bigint, 'TOP', 21, NULL, NULL) AS e2
          JOIN visible_post($1::bigint) AS t3 ON t3.id = e2.id
        ORDER BY e2.reacted_at DESC, e2.id DESC
        LIMIT 21))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
