-- What people tell staff, with a place for who settled it and how.

CREATE SEQUENCE flag_seq;
COMMENT ON SEQUENCE flag_seq IS 'The numbers of flags.';
CREATE TABLE flag (
  subject_id bigint,
  user_id bigint CONSTRAINT flag_user_exists REFERENCES app_user ON DELETE CASCADE,
  reason text NOT NULL,
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  id bigint NOT NULL CONSTRAINT flag_id_once UNIQUE,
  resolved_at timestamptz,
  resolved_by_id bigint CONSTRAINT flag_resolved_by_exists REFERENCES app_user ON DELETE SET NULL,
  resolution text,
  is_open int NOT NULL GENERATED ALWAYS AS (CASE WHEN resolved_at IS NULL THEN 1 ELSE 0 END) STORED,
  -- flag, Comment.viewerHasFlagged
  CONSTRAINT flag_user_once PRIMARY KEY (subject_id, user_id),
  CONSTRAINT flag_resolved_at_given CHECK (
    resolved_at IS NOT NULL OR resolved_by_id IS NULL AND resolution IS NULL));
ALTER SEQUENCE flag_seq OWNED BY flag.id;
COMMENT ON TABLE flag IS 'One report by a user to staff that a node is inappropriate.';
COMMENT ON COLUMN flag.subject_id IS 'The node of any type, with which the flag is deleted (functions/node.sql).';
COMMENT ON COLUMN flag.id IS 'The order in which flags were raised. No node has its tag.';
COMMENT ON COLUMN flag.resolved_at IS 'The date and time when staff resolved the flag. Null until then.';
COMMENT ON COLUMN flag.resolved_by_id IS
  'The staff member who resolved the flag. Null until then, and if that account was deleted.';
COMMENT ON COLUMN flag.resolution IS 'The note by the staff member who resolved the flag.';
COMMENT ON COLUMN flag.is_open IS '1 until the flag is resolved, then 0. A sort key.';
COMMENT ON CONSTRAINT flag_id_once ON flag IS 'unreachable';
COMMENT ON CONSTRAINT flag_resolved_at_given ON flag IS 'unreachable';
-- viewer.moderation.flags: open ones first
CREATE INDEX ON flag (is_open DESC, id DESC);
-- viewer.moderation.flagged
CREATE INDEX ON flag (subject_id) INCLUDE (created_at) WHERE is_open = 1;
-- deleting an account
CREATE INDEX ON flag (user_id);
CREATE INDEX ON flag (resolved_by_id) WHERE resolved_by_id IS NOT NULL;
