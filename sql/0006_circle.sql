-- Circles: private groups of friends, and public channels anyone subscribes to.

-- A row: one circle.
CREATE TABLE circle (
  id bigint PRIMARY KEY DEFAULT new_node(5) REFERENCES node ON DELETE CASCADE CHECK (id & 255 = 5),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
  description text NOT NULL DEFAULT '',
  kind text NOT NULL CHECK (kind IN ('GROUP', 'CHANNEL')),
  is_default boolean NOT NULL DEFAULT false,
  owner_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  member_count int NOT NULL DEFAULT 0,
  comment_count int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (kind = 'CHANNEL' OR NOT is_default));
-- circles: channels by name
CREATE INDEX ON circle (lower(name), id) WHERE kind = 'CHANNEL';
-- signUp; schedule(defaultChannels:) and changes for those without an account
CREATE INDEX ON circle (id) WHERE is_default;
-- deleting an account
CREATE INDEX ON circle (owner_id);

-- A row: the user belongs to the circle; for a channel, is subscribed to it.
CREATE TABLE circle_member (
  circle_id bigint REFERENCES circle ON DELETE CASCADE,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  role text NOT NULL DEFAULT 'MEMBER' CHECK (role IN ('OWNER', 'MEMBER')),
  joined_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (circle_id, user_id));          -- visibility, Circle.viewerRole, Circle.members
-- viewer.circles, agenda, the feed of circles
CREATE INDEX ON circle_member (user_id, circle_id);
-- one owner
CREATE UNIQUE INDEX ON circle_member (circle_id) WHERE role = 'OWNER';

CREATE TRIGGER drop_nodes AFTER DELETE ON circle REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
