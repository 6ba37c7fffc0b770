WITH written AS (INSERT INTO album AS target ("title", "artist_id") VALUES ($2::text, $3::int4) ON CONFLICT ("title") DO UPDATE SET "artist_id" = excluded."artist_id" WHERE target.owner = $1::text RETURNING target.*) SELECT set_config('sociograph.viewer', ($4::bigint)::text, true), set_config('sociograph.locale', $5::text, true), set_config('sociograph.app', $6::text, true), ROW(((SELECT count(*) FROM written))::int4), CASE WHEN (SELECT count(*) FROM written WHERE (written.owner = $1::text) IS NOT TRUE) > 0 THEN (('sociograph.rule ' || (SELECT count(*) FROM written WHERE (written.owner = $1::text) IS NOT TRUE))::int)::text END, CASE WHEN $7::boolean THEN set_config('synchronous_commit', 'off', true) WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END

-- $1 text: the token's claim sub
-- $2 text: variable $title
-- $3 int4: 3
-- $4 bigint: the viewer's id
-- $5 text: the languages of the request, best first
-- $6 text: the application of the request
-- $7 boolean: whether the commit waits for the disk together with others
