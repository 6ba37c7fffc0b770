WITH inserted1 AS (INSERT INTO album AS target ("title", "artist_id") VALUES ($2::text, $3::int4), ($4::text, DEFAULT) RETURNING target.*), inserted2 AS (INSERT INTO artist AS target ("name") VALUES ($5::text) RETURNING target.artist_id), inserted3 AS (INSERT INTO album AS target ("title", "artist_id") VALUES ($6::text, (SELECT inserted2.artist_id FROM inserted2)) RETURNING target.*), inserted4 AS (INSERT INTO sales."Track" AS target ("name", "price", "Album", "owner") VALUES ($7::text, $8::float8, (SELECT inserted3.album_id FROM inserted3), (SELECT inserted3.owner FROM inserted3)), ($9::text, DEFAULT, (SELECT inserted3.album_id FROM inserted3), (SELECT inserted3.owner FROM inserted3)) RETURNING target.*), written AS (SELECT * FROM inserted1 UNION ALL SELECT * FROM inserted3) SELECT set_config('sociograph.viewer', ($10::bigint)::text, true), set_config('sociograph.locale', $11::text, true), set_config('sociograph.app', $12::text, true), ROW(((SELECT count(*) FROM written))::int4), CASE WHEN (SELECT count(*) FROM written) < 1 THEN (('sociograph.rule ' || (SELECT count(*) FROM written))::int)::text WHEN (SELECT count(*) FROM inserted2) < 1 THEN (('sociograph.rule ' || (SELECT count(*) FROM inserted2))::int)::text WHEN (SELECT count(*) FROM inserted3) < 1 THEN (('sociograph.rule ' || (SELECT count(*) FROM inserted3))::int)::text WHEN (SELECT count(*) FROM written WHERE (written.owner = $1::text) IS NOT TRUE) > 0 THEN (('sociograph.rule ' || (SELECT count(*) FROM written WHERE (written.owner = $1::text) IS NOT TRUE))::int)::text WHEN (SELECT count(*) FROM inserted4 WHERE (inserted4.price > 0) IS NOT TRUE) > 0 THEN (('sociograph.rule ' || (SELECT count(*) FROM inserted4 WHERE (inserted4.price > 0) IS NOT TRUE))::int)::text END, CASE WHEN $13::boolean THEN set_config('synchronous_commit', 'off', true) WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END

-- $1 text: the token's claim sub
-- $2 text: variable $rows[0].title
-- $3 int4: variable $rows[0].artistId
-- $4 text: variable $rows[1].title
-- $5 text: variable $rows[2].artist.name
-- $6 text: variable $rows[2].title
-- $7 text: variable $rows[2].tracks[0].name
-- $8 float8: variable $rows[2].tracks[0].price
-- $9 text: variable $rows[2].tracks[1].name
-- $10 bigint: the viewer's id
-- $11 text: the languages of the request, best first
-- $12 text: the application of the request
-- $13 boolean: whether the commit waits for the disk together with others
