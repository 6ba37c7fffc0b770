-- What was touched within the last minute or so, for those who watch: subscriptions. Each server reads what was
-- committed since its last look, as the difference of two snapshots, so that what commits late is not missed.
-- A transaction leaves one row, at its end: a row and its entry in an index for each node were a quarter of what a
-- reaction wrote to the log.

CREATE TABLE touch (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  news text NOT NULL)
  -- It is always a minute long, and all of it goes.
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
    autovacuum_analyze_threshold = 100000, autovacuum_vacuum_insert_threshold = -1);
COMMENT ON TABLE touch IS
  'The nodes that one transaction changed, for the subscribers of topics under keys. Readers apply the nodes'' own '
  'rules of visibility. Use the view touched to read it.';
COMMENT ON COLUMN touch.xid IS 'The transaction that changed the nodes.';
COMMENT ON COLUMN touch.news IS 'Words of the form topic:key:node, or topic:node if the key is the node.';
-- what was committed since a snapshot
CREATE INDEX ON touch (xid);

CREATE VIEW touched AS
  SELECT t.xid, split_part(w.word, ':', 1) AS topic, split_part(w.word, ':', 2)::bigint AS key,
    coalesce(nullif(split_part(w.word, ':', 3), ''), split_part(w.word, ':', 2))::bigint AS node
  FROM touch t, string_to_table(t.news, ' ') AS w(word);
COMMENT ON VIEW touched IS
  'One node that a transaction changed, for the subscribers of a topic under a key. The topics are those of @event in '
  'Schema. The key is a user, a subject, a scope, or the node. The node may have been deleted.';

-- Has what the transaction touched written down at its end. Nothing reads it, so nothing is lost with it.
CREATE UNLOGGED TABLE touching (xid xid8 NOT NULL)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
    autovacuum_analyze_threshold = 100000, autovacuum_vacuum_insert_threshold = -1);
COMMENT ON TABLE touching IS 'One transaction that touches nodes, for its trigger.';
COMMENT ON COLUMN touching.xid IS 'The transaction that touches nodes.';
CREATE FUNCTION write_touches() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE words text := current_setting('sociograph.touched', true);
BEGIN
  IF words <> '' THEN
    INSERT INTO touch (news) VALUES (words);
    PERFORM set_config('sociograph.touched', '', true);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION write_touches IS 'Writes what the transaction touched to the table touch.';
CREATE CONSTRAINT TRIGGER write_touches AFTER INSERT ON touching DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION write_touches();

CREATE TABLE touch_mark (
  snapshot pg_snapshot NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  is_past boolean NOT NULL DEFAULT false);
COMMENT ON TABLE touch_mark IS
  'One snapshot with its time. Touches are deleted by these, because commits have no time otherwise.';
COMMENT ON COLUMN touch_mark.snapshot IS 'The snapshot of committed transactions.';
COMMENT ON COLUMN touch_mark.at IS 'The date and time of the snapshot.';
COMMENT ON COLUMN touch_mark.is_past IS 'Whether the touches committed by then are deleted.';
