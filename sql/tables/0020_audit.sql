-- What happened to accounts and what staff did, for looking into after an incident.

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_log_id_primary PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor_id bigint,
  act text NOT NULL,
  about_id bigint,
  detail text);
COMMENT ON TABLE audit_log IS
  'A row: somebody did something that matters for security. Only added to.';
COMMENT ON COLUMN audit_log.at IS 'When it was done.';
COMMENT ON COLUMN audit_log.actor_id IS 'Who did it. No reference: the row outlives the account.';
COMMENT ON COLUMN audit_log.act IS 'SIGN_IN, CHANGE_PASSWORD, DELETE_POST, ...';
COMMENT ON COLUMN audit_log.about_id IS 'What it was done to.';
COMMENT ON COLUMN audit_log.detail IS 'What else is to be known; never secrets or words of people.';
-- what somebody did, or was done to something
CREATE INDEX ON audit_log (actor_id, id);
CREATE INDEX ON audit_log (about_id, id) WHERE about_id IS NOT NULL;
