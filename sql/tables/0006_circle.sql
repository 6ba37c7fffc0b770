-- Circles: private groups of friends, and public channels anyone subscribes to.

CREATE TABLE circle (
  id bigint CONSTRAINT circle_id_primary PRIMARY KEY,
  name text NOT NULL CONSTRAINT circle_name_length CHECK (length(name) BETWEEN 1 AND 80),
  description text NOT NULL DEFAULT '',
  kind text NOT NULL CONSTRAINT circle_kind_known CHECK (kind IN ('GROUP', 'CHANNEL')),
  is_default boolean NOT NULL DEFAULT false,
  owner_id bigint NOT NULL CONSTRAINT circle_owner_exists REFERENCES app_user ON DELETE CASCADE,
  member_count int NOT NULL DEFAULT 0,
  comment_count int NOT NULL DEFAULT 0,
  is_hot boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT circle_is_default_fits CHECK (kind = 'CHANNEL' OR NOT is_default)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE circle IS 'One circle: a group or a channel.';
COMMENT ON COLUMN circle.kind IS 'GROUP, visible to its members only, or CHANNEL, open to everyone.';
COMMENT ON COLUMN circle.is_default IS 'Whether new accounts are subscribed to the channel.';
COMMENT ON COLUMN circle.member_count IS 'The number of rows of circle_member, kept by trigger.';
COMMENT ON COLUMN circle.comment_count IS 'The number of comments on the circle, kept by trigger.';
COMMENT ON COLUMN circle.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON CONSTRAINT circle_name_length ON circle IS 'name: TOO_LONG';
COMMENT ON CONSTRAINT circle_kind_known ON circle IS 'unreachable';
COMMENT ON CONSTRAINT circle_is_default_fits ON circle IS 'isDefault: INVALID';
-- circles: channels by name
CREATE INDEX ON circle (lower(name), id) WHERE kind = 'CHANNEL';
-- circles(search:), search
CREATE INDEX ON circle USING gin (name_vector(folded(name)));
-- signUp; schedule(defaultChannels:) and changes for those without an account
CREATE INDEX ON circle (id) WHERE is_default;
-- deleting an account
CREATE INDEX ON circle (owner_id);

CREATE TABLE circle_member (
  circle_id bigint CONSTRAINT circle_member_circle_exists REFERENCES circle ON DELETE CASCADE,
  user_id bigint CONSTRAINT circle_member_user_exists REFERENCES app_user ON DELETE CASCADE,
  role text NOT NULL DEFAULT 'MEMBER'
    CONSTRAINT circle_member_role_known CHECK (role IN ('OWNER', 'MEMBER')),
  name_key text COLLATE "C" NOT NULL,
  joined_at timestamptz NOT NULL DEFAULT now(),
  -- visibility, Circle.viewerRole, Circle.members
  CONSTRAINT circle_member_user_once PRIMARY KEY (circle_id, user_id));
COMMENT ON TABLE circle_member IS 'One member of a circle. A member of a channel is a subscriber.';
COMMENT ON COLUMN circle_member.name_key IS 'The name_key of the user, for lists by name, kept by trigger.';
COMMENT ON CONSTRAINT circle_member_role_known ON circle_member IS 'unreachable';
-- Circle.members by name, and among them
CREATE INDEX ON circle_member (circle_id, name_key, user_id) INCLUDE (role, joined_at);
-- viewer.circles, agenda, the feed of circles
CREATE INDEX ON circle_member (user_id, circle_id);
-- one owner
CREATE UNIQUE INDEX circle_member_owner_once ON circle_member (circle_id) WHERE role = 'OWNER';
COMMENT ON INDEX circle_member_owner_once IS 'unreachable';
