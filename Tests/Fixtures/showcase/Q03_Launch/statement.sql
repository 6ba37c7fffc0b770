SELECT ROW((SELECT ROW(ARRAY(SELECT photo_url(i) FROM unnest(t1.intro_images) WITH ORDINALITY AS u(i, n) ORDER BY n), t1.voting_enabled_by_default, t1.support_email)
    FROM app_config AS t1
    WHERE t1.app = lower($1::text)), (SELECT ROW(t2.id, t2.display_name, (SELECT ROW(photo_url(form_url(t3.url, t3.width, t3.height, 'SQUARE', NULL::int4)))
        FROM shown_photo($2::bigint) AS t3
        WHERE t3.id = t2.avatar_id), array_remove(ARRAY[
        CASE WHEN t2.display_name = t2.username THEN 'DISPLAY_NAME' END,
        CASE WHEN t2.avatar_id IS NULL THEN 'AVATAR' END,
        CASE WHEN t2.bio = '' THEN 'BIO' END,
        CASE WHEN t2.website IS NULL THEN 'WEBSITE' END,
        CASE WHEN t2.home_id IS NULL THEN 'HOME' END,
        CASE WHEN t2.address IS NULL THEN 'ADDRESS' END,
        CASE WHEN t2.email IS NULL THEN 'EMAIL' END], NULL), (SELECT count(*)::int FROM visible_notification($2::bigint) n WHERE n.read_at IS NULL
        AND (n.reason = ANY ((SELECT listed_reasons(app_named($3::text, $2::bigint)))::text[])) IS NOT FALSE))
    FROM app_user AS t2
    WHERE t2.id = $2::bigint))

-- $1 text: variable $app
-- $2 bigint: the viewer's id
-- $3 text: the application of the request
