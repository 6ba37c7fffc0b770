SELECT ROW(ARRAY(SELECT ROW(
      t1.created_at,
      t1.id,
      t1.body,
      (SELECT ROW(t2.id, t2.username, (SELECT ROW(photo_url(form_url(t3.url, t3.width, t3.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($1::bigint) AS t3
            WHERE t3.id = t2.avatar_id), t2.thank_you_score, (SELECT ROW(t4.name)
            FROM exact_location() AS t4
            WHERE t4.id = t2.home_id))
        FROM named_user($1::bigint) AS t2
        WHERE t2.id = t1.author_id),
      ARRAY(SELECT ROW(photo_url(form_url(t6.url, t6.width, t6.height, 'ORIGINAL', NULL::int4)))
        FROM post_photo AS e5
          JOIN shown_photo($1::bigint) AS t6 ON t6.id = e5.photo_id
        WHERE e5.post_id = t1.id
        ORDER BY e5.position),
      CASE 'LIKE' WHEN 'HEART' THEN t1.heart_count WHEN 'LIKE' THEN t1.like_count WHEN 'TOP' THEN
      t1.top_count WHEN 'AGREE' THEN 0 ELSE t1.score END,
      CASE WHEN $1::bigint > 0 THEN array_remove(ARRAY[
        CASE WHEN t1.visibility = 'PUBLIC' THEN 'TWEET' END,
        CASE WHEN t1.author_id = $1::bigint AND t1.visibility = 'PUBLIC' THEN 'SHARE_FACEBOOK' END,
        CASE WHEN t1.author_id = $1::bigint THEN 'EDIT' END,
        CASE WHEN t1.author_id = $1::bigint
          OR EXISTS (SELECT FROM app_user u WHERE u.id = $1::bigint AND 'STAFF' = ANY (u.roles)) THEN 'DELETE' END,
        CASE WHEN t1.author_id <> $1::bigint
          AND NOT EXISTS (SELECT FROM flag f WHERE f.subject_id = t1.id AND f.user_id = $1::bigint) THEN 'FLAG' END,
        CASE WHEN t1.author_id <> $1::bigint AND t1.kind IN (16, 17) THEN 'SUGGEST_PRODUCT' END,
        'REACT',
        'COMMENT',
        CASE WHEN t1.author_id <> $1::bigint AND t1.kind IN (16, 17)
          AND (SELECT v.voting_enabled FROM votable_post v WHERE v.post_id = t1.id)
          AND (SELECT v.choice FROM vote v WHERE v.post_id = t1.id AND v.user_id = $1::bigint) IS NULL THEN 'VOTE' END,
        CASE WHEN t1.author_id <> $1::bigint AND t1.kind = 19
          AND (SELECT c.is_open FROM card_post c WHERE c.post_id = t1.id)
          AND NOT EXISTS (SELECT FROM follow_up u WHERE u.post_id = t1.id
            AND u.sender_id = t1.author_id AND u.recipient_id = $1::bigint)
          AND (SELECT u.home_id IS NULL OR sends_to(t1.id, u.home_id) FROM app_user u WHERE u.id = $1::bigint) THEN 'RESPOND' END,
        CASE WHEN t1.author_id <> $1::bigint AND t1.kind = 20
          AND (SELECT c.is_open FROM card_post c WHERE c.post_id = t1.id)
          AND NOT EXISTS (SELECT FROM info_request r
            WHERE r.post_id = t1.id AND r.requester_id = $1::bigint AND r.status <> 'WITHDRAWN') THEN 'REQUEST_ADDRESS' END,
        CASE WHEN t1.author_id = $1::bigint AND t1.kind IN (19, 20)
          AND (SELECT c.is_open FROM card_post c WHERE c.post_id = t1.id) THEN 'CLOSE' END,
        CASE WHEN t1.author_id = $1::bigint AND t1.kind IN (19, 20)
          AND (SELECT NOT c.is_open AND c.response_count < coalesce(c.response_limit, 2147483647)
            FROM card_post c WHERE c.post_id = t1.id) THEN 'REOPEN' END,
        CASE WHEN t1.author_id <> $1::bigint AND (t1.kind = 19 AND EXISTS (
              SELECT FROM follow_up u WHERE u.post_id = t1.id AND u.sender_id = t1.author_id
                AND u.recipient_id = $1::bigint AND u.state = 'OPEN')
            OR t1.kind = 20 AND EXISTS (
              SELECT FROM info_request r
              WHERE r.post_id = t1.id AND r.requester_id = $1::bigint AND r.status = 'PENDING')) THEN 'WITHDRAW' END,
        CASE WHEN t1.author_id = $1::bigint AND t1.kind = 23
          AND (SELECT e.cancelled_at IS NULL FROM event e WHERE e.post_id = t1.id) THEN 'CANCEL' END,
        CASE WHEN t1.author_id = $1::bigint AND t1.kind = 23
          AND (SELECT e.cancelled_at IS NOT NULL AND coalesce(e.ends_at, e.starts_at + interval '1 day') > now()
            FROM event e WHERE e.post_id = t1.id) THEN 'RESTORE' END,
        CASE WHEN t1.kind = 23
          AND (SELECT e.cancelled_at IS NULL AND coalesce(e.ends_at, e.starts_at) > now()
            FROM event e WHERE e.post_id = t1.id) THEN 'ATTEND' END,
        CASE WHEN t1.kind = 23
          AND (SELECT e.cancelled_at IS NULL AND coalesce(e.ends_at, e.starts_at) > now()
            FROM event e WHERE e.post_id = t1.id)
          AND (t1.author_id = $1::bigint OR t1.visibility <> 'INVITED' AND EXISTS (
            SELECT FROM attendance a
            WHERE a.event_id = t1.id AND a.user_id = $1::bigint AND a.status = 'GOING')) THEN 'INVITE' END], NULL) ELSE '{}'::text[] END,
      t1_card.is_open,
      t1_card.response_limit,
      t1_card.response_count,
      CASE WHEN t1.id & 255 IN (19) THEN ARRAY(SELECT ROW(t8.id, t8.name)
        FROM card_offer_region AS e7
          JOIN exact_location() AS t8 ON t8.id = e7.location_id
        WHERE e7.post_id = t1.id
        ORDER BY t8.name_key, t8.id) END,
      CASE WHEN t1.id & 255 IN (20) THEN (SELECT ROW(t9.status)
        FROM visible_info_request($1::bigint) AS t9
        WHERE t9.post_id = t1.id AND t9.requester_id = $1::bigint) END)
    FROM (WITH f10 AS MATERIALIZED (SELECT t1.*
        FROM (SELECT t1.*
          FROM visible_post($1::bigint) AS t1
            LEFT JOIN card_post AS t1_card ON t1_card.post_id = t1.id
          WHERE t1.visibility = 'PUBLIC'
            AND (t1.kind IN (19, 20))
          ORDER BY t1.created_at DESC, t1.id DESC
          LIMIT 5000) AS t1
        WHERE ((19 IN (19, 20)) IS NOT FALSE
        AND CASE WHEN t1.kind = 19 THEN true ELSE false END
        AND (NOT EXISTS (SELECT FROM card_offer_region r WHERE r.post_id = t1.id)
          OR EXISTS (SELECT FROM card_offer_region r JOIN location l ON l.id = $2::bigint
            WHERE r.post_id = t1.id
              AND (r.location_id = l.id OR r.location_id = ANY (l.ancestor_ids)))))
          AND ((19 IN (19, 20) OR 20 IN (19, 20)) IS NOT FALSE
        AND CASE WHEN t1.kind IN (19, 20) THEN true ELSE false END
        AND EXISTS (SELECT FROM card_post c WHERE c.post_id = t1.id AND c.is_open = true))
          AND (t1.search @@ (SELECT word_query($3::text)))
        ORDER BY t1.created_at DESC, t1.id DESC
        LIMIT 21)
      (SELECT *
        FROM f10
        WHERE (SELECT count(*) FROM f10) >= 21)
      UNION ALL (SELECT t1.*
        FROM visible_post($1::bigint) AS t1
          LEFT JOIN card_post AS t1_card ON t1_card.post_id = t1.id
        WHERE t1.visibility = 'PUBLIC'
          AND (t1.kind IN (19, 20))
          AND ((19 IN (19, 20)) IS NOT FALSE
        AND CASE WHEN t1.kind = 19 THEN true ELSE false END
        AND (NOT EXISTS (SELECT FROM card_offer_region r WHERE r.post_id = t1.id)
          OR EXISTS (SELECT FROM card_offer_region r JOIN location l ON l.id = $2::bigint
            WHERE r.post_id = t1.id
              AND (r.location_id = l.id OR r.location_id = ANY (l.ancestor_ids)))))
          AND ((19 IN (19, 20) OR 20 IN (19, 20)) IS NOT FALSE
        AND CASE WHEN t1.kind IN (19, 20) THEN true ELSE false END
        AND EXISTS (SELECT FROM card_post c WHERE c.post_id = t1.id AND c.is_open = true))
          AND (t1.search @@ (SELECT word_query($3::text)))
          AND (SELECT count(*) FROM f10) < 21
        ORDER BY t1.created_at DESC, t1.id DESC
        LIMIT 21)) AS t1
      LEFT JOIN card_post AS t1_card ON t1_card.post_id = t1.id
    ORDER BY t1.created_at DESC, t1.id DESC
    LIMIT 21))

-- $1 bigint: the viewer's id
-- $2 bigint: variable $filter.sendsToId
-- $3 text: variable $filter.search
