WITH chosen AS MATERIALIZED (SELECT t5.album_id FROM album AS t5 WHERE (t5.album_id = $2::int4) LIMIT greatest($3::int4::bigint, 0) + 1 FOR UPDATE OF t5), written AS (DELETE FROM album AS target USING chosen WHERE target.album_id = chosen.album_id AND (SELECT count(*) FROM chosen) <= $3::int4 RETURNING target.album_id) SELECT set_config('sociograph.viewer', ($4::bigint)::text, true), set_config('sociograph.locale', $5::text, true), set_config('sociograph.app', $6::text, true), ROW(((SELECT count(*) FROM written))::int4, ARRAY(SELECT ROW(t2.title, (SELECT ROW(ARRAY(SELECT ROW(t4.title)
            FROM album AS t4
            WHERE t4.artist_id = t3.artist_id
              AND ((t4.title)::text = $1::text)
            ORDER BY t4.album_id
            LIMIT 20))
        FROM artist AS t3
        WHERE t3.artist_id = t2.artist_id))
    FROM jsonb_populate_recordset(NULL::album, (((SELECT jsonb_build_object('count', count(*), 'rows', coalesce(jsonb_agg(jsonb_build_object('album_id', written.album_id)), '[]')) FROM written)::text::jsonb ->> 'rows'))::jsonb) AS e1
      JOIN album AS t2 ON t2.album_id = e1.album_id
    ORDER BY t2.album_id)), CASE WHEN (SELECT count(*) FROM chosen) > $3::int4 THEN (('sociograph.atMost ' || (SELECT count(*) FROM chosen))::int)::text END, CASE WHEN $7::boolean THEN set_config('synchronous_commit', 'off', true) WHEN pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'sociograph', '')::text END

-- $1 text: variable $name
-- $2 int4: 7
-- $3 int4: 1
-- $4 bigint: the viewer's id
-- $5 text: the languages of the request, best first
-- $6 text: the application of the request
-- $7 boolean: whether the commit waits for the disk together with others
