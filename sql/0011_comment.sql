-- A row: one remark in the flat thread of a post, a location or a circle. On outfits, products
-- and locations it is called a review.
CREATE TABLE comment (
  id bigint PRIMARY KEY DEFAULT new_node(32) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 32),
  subject_id bigint NOT NULL REFERENCES node ON DELETE CASCADE
    CHECK (subject_id & 240 = 16 OR subject_id & 255 IN (3, 5)),
  author_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  body text NOT NULL CHECK (length(body) BETWEEN 1 AND 2000),
  agree_count int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 95);
-- Commentable.comments, from either end
CREATE INDEX ON comment (subject_id, id);
-- deleting an account
CREATE INDEX ON comment (author_id);

CREATE TRIGGER drop_nodes AFTER DELETE ON comment REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
