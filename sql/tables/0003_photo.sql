-- Pictures.

CREATE TYPE moderation_state AS ENUM ('PENDING', 'APPROVED', 'REJECTED');
COMMENT ON TYPE moderation_state IS 'What became of a picture: waits, shown with what shows it, staff only.';

CREATE TABLE photo (
  id bigint DEFAULT new_node(2) CONSTRAINT photo_id_primary PRIMARY KEY
    CONSTRAINT photo_id_tag CHECK (id & 255 = 2),
  owner_id bigint NOT NULL CONSTRAINT photo_owner_exists REFERENCES app_user ON DELETE CASCADE,
  url text NOT NULL,
  square_url text,
  width int CONSTRAINT photo_width_positive CHECK (width > 0),
  height int CONSTRAINT photo_height_positive CHECK (height > 0),
  moderation moderation_state NOT NULL DEFAULT 'PENDING',
  created_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE photo IS
  'A row: one uploaded picture. Its owner attaches it to posts or shows it as an avatar.';
COMMENT ON COLUMN photo.square_url IS 'Null: it is square already, or nobody has cut it.';
COMMENT ON COLUMN photo.width IS 'In pixels.';
COMMENT ON COLUMN photo.height IS 'In pixels.';
-- deleting an account
CREATE INDEX ON photo (owner_id);
-- moderatePhoto: what waits
CREATE INDEX ON photo (id) WHERE moderation = 'PENDING';

ALTER TABLE app_user ADD CONSTRAINT app_user_avatar_exists
  FOREIGN KEY (avatar_id) REFERENCES photo ON DELETE SET NULL;
