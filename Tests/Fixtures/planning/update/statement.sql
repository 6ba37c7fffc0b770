WITH chosen AS MATERIALIZED (SELECT t1.album_id FROM (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t1 WHERE ((t1.title)::text = $2::text AND EXISTS (SELECT
  FROM artist AS t2
  WHERE t2.artist_id = t1.artist_id
    AND ((t2.name)::text = $3::text))) LIMIT greatest($4::int4::bigint, 0) + 1 FOR UPDATE OF t1), written AS (UPDATE album AS target SET "title" = $5::text FROM chosen WHERE target.album_id = chosen.album_id AND (SELECT count(*) FROM chosen) <= $4::int4 RETURNING target.*) SELECT set_config('sociograph.viewer', ($6::bigint)::text, true), set_config('sociograph.locale', $7::text, true), set_config('sociograph.app', $8::text, true), set_config('sociograph.result', CASE WHEN (SELECT count(*) FROM chosen) > $4::int4 THEN (('sociograph.atMost ' || (SELECT count(*) FROM chosen))::int)::text WHEN (SELECT count(*) FROM written WHERE (written.owner = $1::text) IS NOT TRUE) > 0 THEN (('sociograph.rule ' || (SELECT count(*) FROM written WHERE (written.owner = $1::text) IS NOT TRUE))::int)::text ELSE (SELECT jsonb_build_object('count', count(*), 'rows', coalesce(jsonb_agg(jsonb_build_object('album_id', written.album_id)), '[]')) FROM written)::text END, true), CASE WHEN $9::boolean THEN set_config('synchronous_commit', 'off', true) WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END

-- $1 text: the token's claim sub
-- $2 text: variable $filter.title.eq
-- $3 text: variable $filter.artist.name.eq
-- $4 int4: 3
-- $5 text: "Two"
-- $6 bigint: the viewer's id
-- $7 text: the languages of the request, best first
-- $8 text: the application of the request
-- $9 boolean: whether the commit waits for the disk together with others
SELECT ROW(((nullif(current_setting('sociograph.result', true), '')::jsonb ->> 'count'))::int4, ARRAY(SELECT ROW(t2.title)
    FROM jsonb_populate_recordset(NULL::album, ((nullif(current_setting('sociograph.result', true), '')::jsonb ->> 'rows'))::jsonb) AS e1
      JOIN (SELECT own_row.* FROM album AS own_row WHERE own_row.owner = $1::text) AS t2 ON t2.album_id = e1.album_id
    ORDER BY t2.album_id))

-- $1 text: the token's claim sub
