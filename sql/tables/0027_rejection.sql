-- What staff refused is refused whoever sends it, also after the account that sent it first is gone.

CREATE TABLE rejected_picture (
  path text CONSTRAINT rejected_picture_path_primary PRIMARY KEY
    CONSTRAINT rejected_picture_path_form CHECK (path ~ '^/photos/[0-9a-f]{64}\.[a-z]{3,4}$'));
COMMENT ON TABLE rejected_picture IS 'A row: bytes that were rejected. The server gives them to staff only.';
COMMENT ON COLUMN rejected_picture.path IS 'Where the server has them, named by the hash of the bytes.';
INSERT INTO rejected_picture (path)
SELECT DISTINCT u.path FROM upload u LEFT JOIN photo f ON f.id = u.photo_id
WHERE u.moderation = 'REJECTED' OR f.moderation = 'REJECTED';
