WITH chosen AS MATERIALIZED (SELECT t1.album_id FROM album AS t1 WHERE (t1.album_id = $1::int4) LIMIT greatest($2::int4::bigint, 0) + 1 FOR UPDATE OF t1), written AS (DELETE FROM album AS target USING chosen WHERE target.album_id = chosen.album_id AND (SELECT count(*) FROM chosen) <= $2::int4 RETURNING target.album_id) SELECT set_config('sociograph.viewer', ($3::bigint)::text, true), set_config('sociograph.locale', $4::text, true), set_config('sociograph.app', $5::text, true), ROW(((SELECT count(*) FROM written))::int4), CASE WHEN (SELECT count(*) FROM chosen) > $2::int4 THEN (('sociograph.atMost ' || (SELECT count(*) FROM chosen))::int)::text END, CASE WHEN $6::boolean THEN set_config('synchronous_commit', 'off', true) WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END

-- $1 int4: 7
-- $2 int4: 1
-- $3 bigint: the viewer's id
-- $4 text: the languages of the request, best first
-- $5 text: the application of the request
-- $6 boolean: whether the commit waits for the disk together with others
