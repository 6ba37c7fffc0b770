SELECT ROW((SELECT ROW(t1.id, ARRAY(SELECT ROW(photo_url(form_url(t3.url, t3.width, t3.height, 'SQUARE', NULL::int4)))
        FROM post_photo AS e2
          JOIN shown_photo($2::bigint) AS t3 ON t3.id = e2.photo_id
        WHERE e2.post_id = t1.id
        ORDER BY e2.position), (t1.comment_count - CASE WHEN t1.comment_count > 0 AND EXISTS (SELECT FROM hidden_user($2::bigint))
        THEN hidden_comments($2::bigint, t1.id) ELSE 0 END), ARRAY(SELECT ROW(
          t4.id,
          t4.body,
          t4.created_at,
          (SELECT ROW(t5.id, t5.display_name, (SELECT ROW(photo_url(form_url(t6.url, t6.width, t6.height, 'SQUARE', NULL::int4)))
                FROM shown_photo($2::bigint) AS t6
                WHERE t6.id = t5.avatar_id))
            FROM named_user($2::bigint) AS t5
            WHERE t5.id = t4.author_id),
          CASE coalesce('AGREE', 'AGREE') WHEN 'AGREE' THEN t4.agree_count ELSE 0 END,
          ARRAY(SELECT r.kind::text FROM reaction r WHERE r.subject_id = t4.id AND r.user_id = $2::bigint
          ORDER BY r.kind),
          EXISTS (SELECT FROM flag f WHERE f.subject_id = t4.id AND f.user_id = $2::bigint),
          $2::bigint > 0 AND (t4.author_id = $2::bigint
            OR $2::bigint = coalesce((SELECT s.author_id FROM post s WHERE s.id = t4.subject_id),
              (SELECT s.owner_id FROM circle s WHERE s.id = t4.subject_id), 0)
            OR EXISTS (SELECT FROM app_user u WHERE u.id = $2::bigint AND 'STAFF' = ANY (u.roles))))
        FROM shown_comment($2::bigint) AS t4
        WHERE t4.subject_id = t1.id
        ORDER BY t4.id DESC
        LIMIT 21))
    FROM visible_post($2::bigint) AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
