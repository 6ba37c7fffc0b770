-- Pictures.

CREATE TYPE moderation_state AS ENUM ('PENDING', 'APPROVED', 'REJECTED');
COMMENT ON TYPE moderation_state IS
  'The states of a photo: awaiting moderation, visible with what shows it, or visible only to staff.';

CREATE TABLE photo (
  id bigint CONSTRAINT photo_id_primary PRIMARY KEY,
  owner_id bigint NOT NULL CONSTRAINT photo_owner_exists REFERENCES app_user ON DELETE CASCADE,
  url text NOT NULL,
  width int CONSTRAINT photo_width_positive CHECK (width > 0),
  height int CONSTRAINT photo_height_positive CHECK (height > 0),
  alt_text text CONSTRAINT photo_alt_text_length CHECK (length(alt_text) BETWEEN 1 AND 500),
  moderation moderation_state NOT NULL DEFAULT 'PENDING',
  created_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE photo IS 'One photo. Its owner attaches it to posts or shows it as a profile picture.';
COMMENT ON COLUMN photo.width IS 'The width in pixels.';
COMMENT ON COLUMN photo.height IS 'The height in pixels.';
COMMENT ON COLUMN photo.alt_text IS 'What the photo shows, for people who do not see it.';
COMMENT ON CONSTRAINT photo_width_positive ON photo IS 'unreachable';
COMMENT ON CONSTRAINT photo_height_positive ON photo IS 'unreachable';
COMMENT ON CONSTRAINT photo_alt_text_length ON photo IS 'altText: TOO_LONG';
-- viewer.photos; deleting an account
CREATE INDEX ON photo (owner_id, id DESC);
-- moderatePhoto: what waits
CREATE INDEX ON photo (id) WHERE moderation = 'PENDING';

ALTER TABLE app_user ADD CONSTRAINT app_user_avatar_exists
  FOREIGN KEY (avatar_id) REFERENCES photo ON DELETE SET NULL;

-- What people sent to /photos: the server keeps the bytes, and a row says whose they are.
CREATE TABLE upload (
  owner_id bigint NOT NULL CONSTRAINT upload_owner_exists REFERENCES app_user ON DELETE CASCADE,
  path text NOT NULL CONSTRAINT upload_path_form CHECK (path ~ '^/photos/[0-9a-f]{64}\.[a-z]{3,4}$'),
  width int NOT NULL CONSTRAINT upload_width_positive CHECK (width > 0),
  height int NOT NULL CONSTRAINT upload_height_positive CHECK (height > 0),
  moderation moderation_state NOT NULL,
  photo_id bigint CONSTRAINT upload_photo_once UNIQUE
    CONSTRAINT upload_photo_exists REFERENCES photo ON DELETE CASCADE,
  uploaded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT upload_primary PRIMARY KEY (owner_id, path));
COMMENT ON TABLE upload IS
  'One image that a user uploaded. It becomes a photo with createPhoto, or is deleted after a day.';
COMMENT ON COLUMN upload.path IS 'The path at the server, named by the hash of the image.';
COMMENT ON COLUMN upload.width IS 'The width in pixels.';
COMMENT ON COLUMN upload.height IS 'The height in pixels.';
COMMENT ON COLUMN upload.moderation IS 'The decision of the operator''s moderation command, or APPROVED without one.';
COMMENT ON COLUMN upload.photo_id IS 'The photo made of the upload. Null until it is registered.';
COMMENT ON COLUMN upload.uploaded_at IS 'The date and time of the last upload.';
COMMENT ON CONSTRAINT upload_path_form ON upload IS 'unreachable';
COMMENT ON CONSTRAINT upload_width_positive ON upload IS 'unreachable';
COMMENT ON CONSTRAINT upload_height_positive ON upload IS 'unreachable';
COMMENT ON CONSTRAINT upload_photo_once ON upload IS 'unreachable';
-- forgetting those that nobody used
CREATE INDEX ON upload (uploaded_at) WHERE photo_id IS NULL;
-- whether a file is anybody's
CREATE INDEX ON upload (path);

-- What staff refused is refused whoever sends it, also after the account that sent it first is gone.
CREATE TABLE rejected_picture (
  path text CONSTRAINT rejected_picture_path_primary PRIMARY KEY
    CONSTRAINT rejected_picture_path_form CHECK (path ~ '^/photos/[0-9a-f]{64}\.[a-z]{3,4}$'));
COMMENT ON TABLE rejected_picture IS 'One rejected image, which the server gives only to staff.';
COMMENT ON COLUMN rejected_picture.path IS 'The path at the server, named by the hash of the image.';
COMMENT ON CONSTRAINT rejected_picture_path_form ON rejected_picture IS 'unreachable';
