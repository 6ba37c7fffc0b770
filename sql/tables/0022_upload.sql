-- What people sent to /photos: the server keeps the bytes, and a row says whose they are.

CREATE TABLE upload (
  owner_id bigint NOT NULL CONSTRAINT upload_owner_exists REFERENCES app_user ON DELETE CASCADE,
  path text NOT NULL CONSTRAINT upload_path_form CHECK (path ~ '^/photos/[0-9a-f]{64}\.[a-z]{3,4}$'),
  square_path text
    CONSTRAINT upload_square_path_form CHECK (square_path ~ '^/photos/[0-9a-f]{64}\.[a-z]{3,4}$'),
  width int NOT NULL CONSTRAINT upload_width_positive CHECK (width > 0),
  height int NOT NULL CONSTRAINT upload_height_positive CHECK (height > 0),
  moderation moderation_state NOT NULL,
  photo_id bigint CONSTRAINT upload_photo_once UNIQUE
    CONSTRAINT upload_photo_exists REFERENCES photo ON DELETE CASCADE,
  uploaded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT upload_primary PRIMARY KEY (owner_id, path));
COMMENT ON TABLE upload IS
  'A row: somebody sent this picture. It becomes a photo by createPhoto, or is forgotten after a day.';
COMMENT ON COLUMN upload.path IS 'Where the server has it, named by the hash of its bytes.';
COMMENT ON COLUMN upload.square_path IS 'Null: it is a small square already.';
COMMENT ON COLUMN upload.width IS 'In pixels.';
COMMENT ON COLUMN upload.height IS 'In pixels.';
COMMENT ON COLUMN upload.moderation IS 'What the operator''s command said; APPROVED without one.';
COMMENT ON COLUMN upload.photo_id IS 'The photo made of it; null until there is one.';
COMMENT ON COLUMN upload.uploaded_at IS 'When it was last sent.';
-- forgetting those that nobody used
CREATE INDEX ON upload (uploaded_at) WHERE photo_id IS NULL;
-- whether a file is anybody's
CREATE INDEX ON upload (path);
CREATE INDEX ON upload (square_path) WHERE square_path IS NOT NULL;
