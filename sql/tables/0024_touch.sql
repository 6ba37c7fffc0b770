-- What was touched within the last minute or so, for those who watch: subscriptions. Each server reads what was
-- committed since its last look, as the difference of two snapshots, so that what commits late is not missed.

CREATE TABLE touch (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  topic text NOT NULL,
  key bigint NOT NULL,
  node bigint NOT NULL)
  -- It is always a minute long, and all of it goes.
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
    autovacuum_analyze_threshold = 100000, autovacuum_vacuum_insert_threshold = -1);
COMMENT ON TABLE touch IS
  'A row: something happened to a node that those want to know who watch this topic under this key. '
  'Whether they may is the node''s own rule of visibility to say.';
COMMENT ON COLUMN touch.xid IS 'The transaction in which it did.';
COMMENT ON COLUMN touch.topic IS 'What happened: a word of Schema/subscription.graphql.';
COMMENT ON COLUMN touch.key IS 'Whom it concerns, or what: a user, a subject, a scope, the node itself.';
COMMENT ON COLUMN touch.node IS 'The node, which may be gone.';
-- what was committed since a snapshot
CREATE INDEX ON touch (xid);

CREATE TABLE touch_mark (
  snapshot pg_snapshot NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  is_past boolean NOT NULL DEFAULT false);
COMMENT ON TABLE touch_mark IS
  'A row: what was committed at a time. Touches are forgotten by these, as the time of a commit is '
  'not known otherwise.';
COMMENT ON COLUMN touch_mark.snapshot IS 'What was committed.';
COMMENT ON COLUMN touch_mark.at IS 'When.';
COMMENT ON COLUMN touch_mark.is_past IS 'Whether touches that were committed by then are forgotten.';
