-- What keeps hidden things out of the log of changes.

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
