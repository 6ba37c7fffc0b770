CREATE TYPE moderation_state AS ENUM ('PENDING', 'APPROVED', 'REJECTED');

-- A row: one uploaded picture. Its owner attaches it to posts or shows it as an avatar.
CREATE TABLE photo (
  id bigint PRIMARY KEY DEFAULT new_node(2) REFERENCES node ON DELETE CASCADE CHECK (id & 255 = 2),
  owner_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  url text NOT NULL,
  square_url text,                            -- null: it is square already, or nobody has cut it
  width int CHECK (width > 0),
  height int CHECK (height > 0),
  moderation moderation_state NOT NULL DEFAULT 'PENDING',
  created_at timestamptz NOT NULL DEFAULT now());
-- deleting an account
CREATE INDEX ON photo (owner_id);
-- moderatePhoto: what waits
CREATE INDEX ON photo (id) WHERE moderation = 'PENDING';

ALTER TABLE app_user ADD FOREIGN KEY (avatar_id) REFERENCES photo ON DELETE SET NULL;

CREATE TRIGGER drop_nodes AFTER DELETE ON photo REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
