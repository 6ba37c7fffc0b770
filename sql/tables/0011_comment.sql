-- Comments and reviews.

CREATE TABLE comment (
  id bigint CONSTRAINT comment_id_primary PRIMARY KEY,
  subject_id bigint NOT NULL,
  author_id bigint NOT NULL CONSTRAINT comment_author_exists REFERENCES app_user ON DELETE CASCADE,
  body text NOT NULL CONSTRAINT comment_body_length CHECK (length(body) BETWEEN 1 AND 2000),
  agree_count int NOT NULL DEFAULT 0,
  is_hot boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE comment IS
  'One comment in the flat thread of a post, a location, or a circle. On outfits, products, and locations it is called '
  'a review.';
COMMENT ON COLUMN comment.subject_id IS
  'The post, location, or circle, with which the comment is deleted (functions/node.sql).';
COMMENT ON COLUMN comment.agree_count IS 'The number of AGREE reactions, kept by trigger.';
COMMENT ON COLUMN comment.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON COLUMN comment.updated_at IS
  'The date and time of the author''s last edit. Equal to created_at if the comment was never edited.';
COMMENT ON CONSTRAINT comment_body_length ON comment IS 'body: TOO_LONG';
-- Commentable.comments, from either end
CREATE INDEX ON comment (subject_id, id);
-- deleting an account; what comment_count has too much
CREATE INDEX ON comment (author_id, subject_id);
