SELECT ROW((SELECT ROW(
      t1.id,
      t1.body,
      t1.created_at,
      CASE WHEN $2::bigint > 0 THEN array_remove(ARRAY[
        CASE WHEN t1.visibility = 'PUBLIC' THEN 'TWEET' END,
        CASE WHEN t1.author_id = $2::bigint AND t1.visibility = 'PUBLIC' THEN 'SHARE_FACEBOOK' END,
        CASE WHEN t1.author_id = $2::bigint THEN 'EDIT' END,
        CASE WHEN t1.author_id = $2::bigint
          OR EXISTS (SELECT FROM app_user u WHERE u.id = $2::bigint AND 'STAFF' = ANY (u.roles)) THEN 'DELETE' END,
        CASE WHEN t1.author_id <> $2::bigint
          AND NOT EXISTS (SELECT FROM flag f WHERE f.subject_id = t1.id AND f.user_id = $2::bigint) THEN 'FLAG' END,
        CASE WHEN t1.author_id <> $2::bigint AND t1.kind IN (16, 17) THEN 'SUGGEST_PRODUCT' END,
        'REACT',
        'COMMENT',
        CASE WHEN t1.author_id <> $2::bigint AND t1.kind IN (16, 17)
          AND (SELECT v.voting_enabled FROM votable_post v WHERE v.post_id = t1.id)
          AND (SELECT v.choice FROM vote v WHERE v.post_id = t1.id AND v.user_id = $2::bigint) IS NULL THEN 'VOTE' END,
        CASE WHEN t1.author_id <> $2::bigint AND t1.kind = 19
          AND (SELECT c.is_open FROM card_post c WHERE c.post_id = t1.id)
          AND NOT EXISTS (SELECT FROM follow_up u WHERE u.post_id = t1.id
            AND u.sender_id = t1.author_id AND u.recipient_id = $2::bigint)
          AND (SELECT u.home_id IS NULL OR sends_to(t1.id, u.home_id) FROM app_user u WHERE u.id = $2::bigint) THEN 'RESPOND' END,
        CASE WHEN t1.author_id <> $2::bigint AND t1.kind = 20
          AND (SELECT c.is_open FROM card_post c WHERE c.post_id = t1.id)
          AND NOT EXISTS (SELECT FROM info_request r
            WHERE r.post_id = t1.id AND r.requester_id = $2::bigint AND r.status <> 'WITHDRAWN') THEN 'REQUEST_ADDRESS' END,
        CASE WHEN t1.author_id = $2::bigint AND t1.kind IN (19, 20)
          AND (SELECT c.is_open FROM card_post c WHERE c.post_id = t1.id) THEN 'CLOSE' END,
        CASE WHEN t1.author_id = $2::bigint AND t1.kind IN (19, 20)
          AND (SELECT NOT c.is_open AND c.response_count < coalesce(c.response_limit, 2147483647)
            FROM card_post c WHERE c.post_id = t1.id) THEN 'REOPEN' END,
        CASE WHEN t1.author_id <> $2::bigint AND (t1.kind = 19 AND EXISTS (
              SELECT FROM follow_up u WHERE u.post_id = t1.id AND u.sender_id = t1.author_id
                AND u.recipient_id = $2::bigint AND u.state = 'OPEN')
            OR t1.kind = 20 AND EXISTS (
              SELECT FROM info_request r
              WHERE r.post_id = t1.id AND r.requester_id = $2::bigint AND r.status = 'PENDING')) THEN 'WITHDRAW' END,
        CASE WHEN t1.author_id = $2::bigint AND t1.kind = 23
          AND (SELECT e.cancelled_at IS NULL FROM event e WHERE e.post_id = t1.id) THEN 'CANCEL' END,
        CASE WHEN t1.author_id = $2::bigint AND t1.kind = 23
          AND (SELECT e.cancelled_at IS NOT NULL AND coalesce(e.ends_at, e.starts_at + interval '1 day') > now()
            FROM event e WHERE e.post_id = t1.id) THEN 'RESTORE' END,
        CASE WHEN t1.kind = 23
          AND (SELECT e.cancelled_at IS NULL AND coalesce(e.ends_at, e.starts_at) > now()
            FROM event e WHERE e.post_id = t1.id) THEN 'ATTEND' END,
        CASE WHEN t1.kind = 23
          AND (SELECT e.cancelled_at IS NULL AND coalesce(e.ends_at, e.starts_at) > now()
            FROM event e WHERE e.post_id = t1.id)
          AND (t1.author_id = $2::bigint OR t1.visibility <> 'INVITED' AND EXISTS (
            SELECT FROM attendance a
            WHERE a.event_id = t1.id AND a.user_id = $2::bigint AND a.status = 'GOING')) THEN 'INVITE' END], NULL) ELSE '{}'::text[] END,
      (SELECT ROW(t2.id, t2.display_name, (SELECT ROW(photo_url(form_url(t3.url, t3.width, t3.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($2::bigint) AS t3
            WHERE t3.id = t2.avatar_id))
        FROM named_user($2::bigint) AS t2
        WHERE t2.id = t1.author_id),
      (SELECT ROW(t4.name, (SELECT ROW(t5.name)
            FROM exact_location() AS t5
            WHERE t5.id = t4.parent_id))
        FROM exact_location() AS t4
        WHERE t4.id = t1.location_id),
      ARRAY(SELECT ROW(photo_url(form_url(t7.url, t7.width, t7.height, 'ORIGINAL', NULL::int4)), t7.width, t7.height)
        FROM post_photo AS e6
          JOIN shown_photo($2::bigint) AS t7 ON t7.id = e6.photo_id
        WHERE e6.post_id = t1.id
        ORDER BY e6.position),
      t1.comment_count - CASE WHEN t1.comment_count > 0 AND EXISTS (SELECT FROM hidden_user($2::bigint))
        THEN hidden_comments($2::bigint, t1.id) ELSE 0 END,
      CASE 'HEART' WHEN 'HEART' THEN t1.heart_count WHEN 'LIKE' THEN t1.like_count WHEN 'TOP' THEN
      t1.top_count WHEN 'AGREE' THEN 0 ELSE t1.score END,
      ARRAY(SELECT r.kind::text FROM reaction r WHERE r.subject_id = t1.id AND r.user_id = $2::bigint
      ORDER BY r.kind),
      ARRAY(SELECT ROW(t9.id, (SELECT ROW(photo_url(form_url(t10.url, t10.width, t10.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($2::bigint) AS t10
            WHERE t10.id = t9.avatar_id))
        FROM post_reaction($2::bigint, t1.id, 'HEART', 'EVERYONE', 5, NULL, NULL, NULL) AS e8
          JOIN visible_user($2::bigint) AS t9 ON t9.id = e8.user_id
        WHERE (e8.kind = 'HEART')
        ORDER BY e8.created_at DESC, e8.user_id DESC, e8.kind DESC
        LIMIT 5),
      t1_votable.voting_enabled,
      (SELECT v.choice FROM vote v WHERE v.post_id = t1.id AND v.user_id = $2::bigint),
      (t1_votable.voting_enabled AND (t1.author_id = $2::bigint OR (SELECT v.choice FROM vote v WHERE
      v.post_id = t1.id AND v.user_id = $2::bigint) IS NOT NULL)),
      verdict_text((SELECT spoken($3::text, $2::bigint)), t1_votable.wear_it_count, t1_votable.change_it_count),
      t1_votable.wear_it_count,
      t1_votable.change_it_count,
      t1_votable.brands)
    FROM visible_post($2::bigint) AS t1
      LEFT JOIN exact_votable_post() AS t1_votable ON t1_votable.post_id = t1.id
    WHERE t1.id = $1::bigint))

-- $1 bigint: variable $id
-- $2 bigint: the viewer's id
-- $3 text: the languages of the request, best first
