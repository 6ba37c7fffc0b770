-- What changed, for clients that keep a copy: changes(since:). In partitions by the day of logging:
-- forgetting the oldest is dropping one of them (functions/maintenance.sql).
--
-- Readers take the rows of their scopes in the order (xid, seq), up to the oldest transaction still
-- running: a transaction that commits late is still to come for them, so nothing is missed.

CREATE SEQUENCE change_seq;
COMMENT ON SEQUENCE change_seq IS 'The numbers that order the changes of one transaction.';
CREATE TABLE change (
  seq bigint NOT NULL DEFAULT nextval('change_seq'),
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  node_id bigint NOT NULL,
  deleted boolean NOT NULL DEFAULT false,
  scope_id bigint NOT NULL,
  -- Deletions are told by their rows alone, as what is gone has no rule of visibility any more.
  people bigint[],
  -- after xid, so that whoever sees a day's end knows of every xid in it
  logged_at timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (logged_at);
COMMENT ON TABLE change IS
  'One new, changed, or deleted node, for one scope. Readers apply the node''s own rule of visibility.';
COMMENT ON COLUMN change.seq IS 'The order within the transaction.';
COMMENT ON COLUMN change.xid IS 'The transaction that made the change.';
COMMENT ON COLUMN change.node_id IS 'The node, which may have been deleted.';
COMMENT ON COLUMN change.scope_id IS 'The user, or the circle with its members, that the change is for.';
COMMENT ON COLUMN change.people IS
  'The authors of the node and of its subject. Users hidden from one of them do not see the change.';
COMMENT ON COLUMN change.logged_at IS
  'The date and time of the log entry by the clock, not the start of the transaction.';
-- changes
CREATE INDEX ON change (scope_id, xid, seq);

CREATE TABLE change_other PARTITION OF change DEFAULT;
COMMENT ON TABLE change_other IS 'The changes of days for which no partition was created in time.';

CREATE TABLE change_day (
  day date CONSTRAINT change_day_primary PRIMARY KEY,
  last_xid xid8);
COMMENT ON TABLE change_day IS 'One day, in UTC, with its own partition of changes.';
COMMENT ON COLUMN change_day.last_xid IS 'An upper bound of the transactions of the day. Null until the day is over.';

CREATE TABLE change_horizon (
  xid xid8 NOT NULL,
  is_only boolean DEFAULT true CONSTRAINT change_horizon_primary PRIMARY KEY
    CONSTRAINT change_horizon_only CHECK (is_only));
COMMENT ON TABLE change_horizon IS
  'The only row: the last transaction whose changes are deleted. Tokens of earlier transactions have expired.';
COMMENT ON COLUMN change_horizon.xid IS 'The last transaction whose changes are deleted.';
COMMENT ON COLUMN change_horizon.is_only IS 'Always true, so that there is one row.';
INSERT INTO change_horizon VALUES ('0');

CREATE TABLE token_secret (
  inner_key bytea NOT NULL,
  outer_key bytea NOT NULL,
  is_only boolean DEFAULT true CONSTRAINT token_secret_primary PRIMARY KEY
    CONSTRAINT token_secret_only CHECK (is_only));
COMMENT ON TABLE token_secret IS
  'The only row: random bytes that authenticate tokens of changes as issued by this database. Replacing it invalidates '
  'all tokens, so that clients start again without one.';
COMMENT ON COLUMN token_secret.inner_key IS 'The key that is hashed before a token.';
COMMENT ON COLUMN token_secret.outer_key IS 'The key that is hashed before the inner hash.';
COMMENT ON COLUMN token_secret.is_only IS 'Always true, so that there is one row.';
COMMENT ON CONSTRAINT token_secret_only ON token_secret IS 'unreachable';
-- 244 random bits each
INSERT INTO token_secret (inner_key, outer_key) VALUES (
  uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
  uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

CREATE TABLE hidden_past (
  viewer_id bigint NOT NULL,
  user_id bigint NOT NULL,
  gone_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT hidden_past_user_once PRIMARY KEY (viewer_id, user_id));
COMMENT ON TABLE hidden_past IS
  'One user who was hidden from the viewer when the account was deleted. The deletion is not reported to the viewer. '
  'Kept for as long as the log of changes.';
COMMENT ON COLUMN hidden_past.viewer_id IS 'The user who did not see the other.';
COMMENT ON COLUMN hidden_past.user_id IS 'The user whose account was deleted.';
COMMENT ON COLUMN hidden_past.gone_at IS 'The date and time of the deletion.';
-- forget_changes
CREATE INDEX ON hidden_past (gone_at);
