-- What changed, for clients that keep a copy: changes(since:). In partitions by the day of logging:
-- forgetting the oldest is dropping one of them (functions/maintenance.sql).
--
-- Readers take the rows of their scopes in the order (xid, seq), up to the oldest transaction still
-- running: a transaction that commits late is still to come for them, so nothing is missed.

CREATE SEQUENCE change_seq;
COMMENT ON SEQUENCE change_seq IS 'Orders the changes of one transaction.';
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
  'A row: the node is new, different or gone, which matters in a scope. What it tells of is subject '
  'to the node''s own rule of visibility.';
COMMENT ON COLUMN change.seq IS 'Order within the transaction.';
COMMENT ON COLUMN change.xid IS 'The transaction that made the change.';
COMMENT ON COLUMN change.node_id IS 'The node, which may be gone.';
COMMENT ON COLUMN change.scope_id IS
  'To whom it matters: the user with this id, or everyone in the circle with this id.';
COMMENT ON COLUMN change.people IS
  'Who wrote the node and what it is on: nobody who is hidden from one of them is told.';
COMMENT ON COLUMN change.logged_at IS 'By the clock, not by the start of the transaction.';
-- changes
CREATE INDEX ON change (scope_id, xid, seq);

CREATE TABLE change_other PARTITION OF change DEFAULT;
COMMENT ON TABLE change_other IS 'Changes of days for which nobody made a partition in time.';

CREATE TABLE change_day (
  day date CONSTRAINT change_day_primary PRIMARY KEY,
  last_xid xid8);
COMMENT ON TABLE change_day IS 'A row: a day, in UTC, whose changes are in a partition of their own.';
COMMENT ON COLUMN change_day.last_xid IS
  'No change of the day has a later transaction; null until the day is over.';

CREATE TABLE change_horizon (
  xid xid8 NOT NULL,
  is_only boolean DEFAULT true CONSTRAINT change_horizon_primary PRIMARY KEY
    CONSTRAINT change_horizon_only CHECK (is_only));
COMMENT ON TABLE change_horizon IS
  'The one row: changes up to and including this transaction are no longer kept. A token whose '
  'transaction is before it has expired.';
COMMENT ON COLUMN change_horizon.xid IS 'The last transaction that was forgotten.';
COMMENT ON COLUMN change_horizon.is_only IS 'Always true.';
INSERT INTO change_horizon VALUES ('0');

CREATE TABLE token_secret (
  inner_key bytea NOT NULL,
  outer_key bytea NOT NULL,
  is_only boolean DEFAULT true CONSTRAINT token_secret_primary PRIMARY KEY
    CONSTRAINT token_secret_only CHECK (is_only));
COMMENT ON TABLE token_secret IS
  'The one row: random bytes by which tokens of changes are known to be given out by this database. With another row '
  'all of them are refused, and clients start anew.';
COMMENT ON COLUMN token_secret.inner_key IS 'What is hashed before a token.';
COMMENT ON COLUMN token_secret.outer_key IS 'What is hashed before that hash.';
COMMENT ON COLUMN token_secret.is_only IS 'Always true.';
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
  'A row: the user was hidden from the viewer when their account was deleted. What was deleted with the account is not '
  'told to the viewer. Kept for as long as the log of changes.';
COMMENT ON COLUMN hidden_past.viewer_id IS 'Who did not see the other.';
COMMENT ON COLUMN hidden_past.user_id IS 'Whose account is gone.';
COMMENT ON COLUMN hidden_past.gone_at IS 'When it was deleted.';
-- forget_changes
CREATE INDEX ON hidden_past (gone_at);
