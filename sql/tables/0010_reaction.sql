-- What people say about nodes without words: reactions and votes.

CREATE TYPE reaction_kind AS ENUM ('HEART', 'LIKE', 'TOP', 'AGREE');
COMMENT ON TYPE reaction_kind IS 'The kinds of reaction, each counted separately.';

CREATE TABLE reaction (
  subject_id bigint NOT NULL,
  user_id bigint NOT NULL CONSTRAINT reaction_user_exists REFERENCES app_user ON DELETE CASCADE,
  kind reaction_kind NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- viewerReactions; one of each kind. The subject does not come first: where it did, this index was taken
  -- for Reactable.reactions, with a sort of all, as soon as few pages were known to be visible.
  CONSTRAINT reaction_kind_once PRIMARY KEY (user_id, subject_id, kind));
COMMENT ON TABLE reaction IS 'One reaction of a user to a node.';
COMMENT ON COLUMN reaction.subject_id IS
  'The post, location, product, or comment, with which the reaction is deleted (functions/node.sql).';
-- Reactable.reactions, newest first
CREATE INDEX ON reaction (subject_id, kind, created_at DESC, user_id DESC);
-- viewer.reactedFeed; locations(filter: {toppedBy})
CREATE INDEX ON reaction (user_id, kind, created_at DESC, subject_id DESC);

CREATE TABLE vote (
  post_id bigint CONSTRAINT vote_post_exists REFERENCES votable_post ON DELETE CASCADE,
  user_id bigint CONSTRAINT vote_user_exists REFERENCES app_user ON DELETE CASCADE,
  choice text NOT NULL CONSTRAINT vote_choice_known CHECK (choice IN ('WEAR_IT', 'CHANGE_IT')),
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT vote_user_once PRIMARY KEY (post_id, user_id));   -- castVote, Votable.viewerVote
COMMENT ON TABLE vote IS 'One final vote of a user on an outfit or a product.';
COMMENT ON CONSTRAINT vote_choice_known ON vote IS 'unreachable';
CREATE INDEX ON vote (user_id);               -- deleting an account
