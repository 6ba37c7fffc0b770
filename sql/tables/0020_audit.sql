-- What happened to accounts and what staff did, for looking into after an incident.

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_log_id_primary PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor_id bigint,
  act text NOT NULL,
  about_id bigint,
  detail text);
COMMENT ON TABLE audit_log IS 'One act that matters for security. Rows are only added.';
COMMENT ON COLUMN audit_log.at IS 'The date and time of the act.';
COMMENT ON COLUMN audit_log.actor_id IS 'The user who acted. Not a foreign key, because the row outlives the account.';
COMMENT ON COLUMN audit_log.act IS 'The act: SIGN_IN, CHANGE_PASSWORD, DELETE_POST, and so on.';
COMMENT ON COLUMN audit_log.about_id IS 'The node or session that was acted on.';
COMMENT ON COLUMN audit_log.detail IS 'Further details. Never secrets or texts by users.';
-- what somebody did, or was done to something
CREATE INDEX ON audit_log (actor_id, id);
CREATE INDEX ON audit_log (about_id, id) WHERE about_id IS NOT NULL;
