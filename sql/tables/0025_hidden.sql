-- What every read asks first, in tables of its own.

-- Whom the viewer does not see is read once or more by nearly every statement: one look into one index.
CREATE TABLE hidden (
  viewer_id bigint NOT NULL,
  user_id bigint NOT NULL,
  CONSTRAINT hidden_user_once PRIMARY KEY (viewer_id, user_id));
COMMENT ON TABLE hidden IS
  'A row: one of the two blocks the other, so the viewer does not see the user; there is one each way. '
  'Kept by a trigger of block.';
COMMENT ON COLUMN hidden.viewer_id IS 'Who does not see the other.';
COMMENT ON COLUMN hidden.user_id IS 'Who is not seen.';
INSERT INTO hidden (viewer_id, user_id)
SELECT b.blocker_id, b.blocked_id FROM block b UNION SELECT b.blocked_id, b.blocker_id FROM block b;

-- A right to all of a table is looked up once, rights to all its columns but one for each column: a tenth of what a
-- short statement took.
CREATE TABLE password (
  user_id bigint CONSTRAINT password_user_once PRIMARY KEY
    CONSTRAINT password_user_exists REFERENCES app_user ON DELETE CASCADE,
  hash text NOT NULL);
COMMENT ON TABLE password IS 'A row: somebody who signs in with a password, not by providers only.';
COMMENT ON COLUMN password.user_id IS 'Whose it is.';
COMMENT ON COLUMN password.hash IS 'What a password is compared with, with its salt and costs.';
INSERT INTO password (user_id, hash)
SELECT u.id, u.password_hash FROM app_user u WHERE u.password_hash IS NOT NULL;
ALTER TABLE app_user DROP COLUMN password_hash;

-- account deletion; what comment_count has too much
DROP INDEX comment_author_id_idx;
CREATE INDEX ON comment (author_id, subject_id);
