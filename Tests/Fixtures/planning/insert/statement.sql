WITH written AS (INSERT INTO album AS target ("title", "artist_id", "size") VALUES ($1::text, DEFAULT, DEFAULT), ($2::text, NULL, 'X-L') RETURNING target.album_id) SELECT set_config('sociograph.viewer', ($3::bigint)::text, true), set_config('sociograph.locale', $4::text, true), set_config('sociograph.app', $5::text, true), set_config('sociograph.result', (SELECT jsonb_build_object('count', count(*), 'rows', coalesce(jsonb_agg(jsonb_build_object('album_id', written.album_id)), '[]')) FROM written)::text, true), CASE WHEN $6::boolean THEN set_config('synchronous_commit', 'off', true) WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END

-- $1 text: variable $rows[0].title
-- $2 text: variable $rows[1].title
-- $3 bigint: the viewer's id
-- $4 text: the languages of the request, best first
-- $5 text: the application of the request
-- $6 boolean: whether the commit waits for the disk together with others
SELECT ROW(((nullif(current_setting('sociograph.result', true), '')::jsonb ->> 'count'))::int4, ARRAY(SELECT ROW(t2.title)
    FROM jsonb_populate_recordset(NULL::album, ((nullif(current_setting('sociograph.result', true), '')::jsonb ->> 'rows'))::jsonb) AS e1
      JOIN album AS t2 ON t2.album_id = e1.album_id
    ORDER BY t2.album_id))

