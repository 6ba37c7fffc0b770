-- What people say about nodes without words: reactions, votes, flags.

CREATE TYPE reaction_kind AS ENUM ('HEART', 'LIKE', 'TOP', 'AGREE');

-- A row: the user hearts, likes, tops or agrees with the subject.
CREATE TABLE reaction (
  subject_id bigint NOT NULL REFERENCES node ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  kind reaction_kind NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (subject_id, user_id, kind),    -- viewerReactions; one of each kind
  CHECK (CASE kind
    WHEN 'AGREE' THEN subject_id & 255 = 32
    WHEN 'TOP' THEN subject_id & 240 = 16 OR subject_id & 255 = 3
    WHEN 'HEART' THEN subject_id & 240 = 16 OR subject_id & 255 = 4
    ELSE subject_id & 240 = 16 END));
-- Reactable.reactions, newest first
CREATE INDEX ON reaction (subject_id, kind, created_at DESC, user_id DESC);
-- viewer.reactedFeed; locations(filter: {toppedBy})
CREATE INDEX ON reaction (user_id, kind, created_at DESC, subject_id DESC);

-- A row: the user's final verdict on an outfit or a product.
CREATE TABLE vote (
  post_id bigint REFERENCES votable_post ON DELETE CASCADE,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  choice text NOT NULL CHECK (choice IN ('WEAR_IT', 'CHANGE_IT')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (post_id, user_id));            -- castVote, Votable.viewerVote
CREATE INDEX ON vote (user_id);               -- deleting an account

-- A row: the user tells the staff that something is wrong with the subject.
CREATE TABLE flag (
  subject_id bigint REFERENCES node ON DELETE CASCADE,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  reason text NOT NULL,
  note text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (subject_id, user_id));         -- flag, Comment.viewerHasFlagged
CREATE INDEX ON flag (user_id);               -- deleting an account
