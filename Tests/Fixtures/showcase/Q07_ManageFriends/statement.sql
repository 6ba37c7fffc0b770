SELECT ROW((SELECT ROW(ARRAY(SELECT ROW((SELECT ROW(photo_url(form_url(t4.url, t4.width, t4.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($1::bigint) AS t4
            WHERE t4.id = t3.avatar_id))
        FROM suggested_user($1::bigint, $2::int4, 3) AS e2
          JOIN visible_user($1::bigint) AS t3 ON t3.id = e2.id
        ORDER BY e2.position
        LIMIT 3), phrase(spoken($4::text, $1::bigint), 'following' || '.title'), follow_summary(spoken($4::text, $1::bigint), 'following', greatest(0, (t1.following_count - CASE WHEN t1.following_count > 0 AND EXISTS (SELECT FROM hidden_user($1::bigint))
        THEN hidden_followees($1::bigint, t1.id) ELSE 0 END)), t1.display_name, t1.id = $1::bigint), (SELECT count(*)
        FROM (SELECT
          FROM followee(t1.id) AS e7
            JOIN visible_user($1::bigint) AS t8 ON t8.id = e7.id
          WHERE (strpos(' ' || spaced(e7.name_key), ' ' || (SELECT btrim(spaced(folded($3::text))))) > 0)
          LIMIT 10001) AS c9), ARRAY(SELECT ROW(e5.name_key, e5.id, t6.id, t6.display_name, (SELECT ROW(photo_url(form_url(t10.url, t10.width, t10.height, 'SQUARE', NULL::int4)))
            FROM shown_photo($1::bigint) AS t10
            WHERE t10.id = t6.avatar_id), EXISTS (SELECT FROM follow f WHERE f.follower_id = $1::bigint AND f.followee_id = t6.id))
        FROM followee(t1.id) AS e5
          JOIN visible_user($1::bigint) AS t6 ON t6.id = e5.id
        WHERE (strpos(' ' || spaced(e5.name_key), ' ' || (SELECT btrim(spaced(folded($3::text))))) > 0)
        ORDER BY e5.name_key, e5.id
        LIMIT 51))
    FROM app_user AS t1
    WHERE t1.id = $1::bigint))

-- $1 bigint: the viewer's id
-- $2 int4: 0
-- $3 text: variable $search
-- $4 text: the languages of the request, best first
