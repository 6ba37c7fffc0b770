-- People: accounts, how they sign in, whom they follow and block.

-- A row: one account. What only its owner may see (email, address) lives here too; the schema
-- offers those columns on Viewer alone.
CREATE TABLE app_user (
  id bigint PRIMARY KEY DEFAULT new_node(1) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 1),
  username text COLLATE "C" NOT NULL CHECK (username ~ '^[A-Za-z0-9_.]{2,40}$'),
  display_name text NOT NULL CHECK (length(display_name) BETWEEN 1 AND 80),
  name_key text COLLATE "C" NOT NULL,  -- display_name without case and accents, by the server
  password_hash text,
  email text,
  email_verified boolean NOT NULL DEFAULT false,
  bio text NOT NULL DEFAULT '',
  website text,
  avatar_id bigint,
  home_id bigint,
  address text,
  card_preference text CHECK (card_preference IN ('CARDS', 'POSTCARDS', 'EITHER')),
  roles text[] NOT NULL DEFAULT '{MEMBER}' CHECK (roles <@ '{MEMBER,TRAINER,STAFF,SERVICE}'),
  follower_count int NOT NULL DEFAULT 0,
  following_count int NOT NULL DEFAULT 0,
  thank_you_score int NOT NULL DEFAULT 0,
  joined_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 90);
-- user(by: {username}), signIn; users(search:) by the beginning of a username
CREATE UNIQUE INDEX ON app_user (lower(username));
-- signUp, updateProfile: one account for an address
CREATE UNIQUE INDEX ON app_user (lower(email)) WHERE email IS NOT NULL;
-- users: alphabetical, and by the beginning of a name; followers and following in that order
CREATE INDEX ON app_user (name_key, id);
-- users(role:)
CREATE INDEX ON app_user USING gin (roles) WHERE roles <> '{MEMBER}';
-- deleting a photo, merging a location: who shows it
CREATE INDEX ON app_user (avatar_id) WHERE avatar_id IS NOT NULL;
CREATE INDEX ON app_user (home_id) WHERE home_id IS NOT NULL;

-- A row: an account at an identity provider that signs in to one of ours.
CREATE TABLE identity (
  provider text NOT NULL,
  external_id text NOT NULL,
  user_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  PRIMARY KEY (provider, external_id),   -- signInWithProvider
  UNIQUE (user_id, provider));           -- Viewer.identities

CREATE SEQUENCE session_seq;
-- A row: one signed-in session, known by the SHA-256 of its token. Its id, under which its owner
-- sees and ends it, is not a node's; no node has its tag.
CREATE TABLE session (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),   -- every request with a token
  id bigint NOT NULL UNIQUE DEFAULT (nextval('session_seq') << 8 | 60) CHECK (id & 255 = 60),
  user_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  device text,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL);
ALTER SEQUENCE session_seq OWNED BY session.id;
-- the sessions of an account, and ending them all
CREATE INDEX ON session (user_id, id);

-- A row: a token that works once, for example to verify an e-mail address.
CREATE TABLE one_time_token (
  token_hash bytea PRIMARY KEY,
  purpose text NOT NULL,
  user_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  expires_at timestamptz NOT NULL);
-- deleting an account; voiding its older tokens
CREATE INDEX ON one_time_token (user_id, purpose);

-- A row: follower_id follows followee_id.
CREATE TABLE follow (
  follower_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  followee_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  followed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (follower_id, followee_id),   -- feed, following, viewerIsFollowing, by: FOLLOWING
  CHECK (follower_id <> followee_id));
-- User.followers, newest first
CREATE INDEX ON follow (followee_id, followed_at DESC, follower_id DESC);

-- A row: blocker_id wants nothing to do with blocked_id. Both become invisible to each other.
CREATE TABLE block (
  blocker_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  blocked_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  PRIMARY KEY (blocker_id, blocked_id),     -- visibility, viewer.blockedUsers
  CHECK (blocker_id <> blocked_id));
-- visibility, the other way round
CREATE INDEX ON block (blocked_id, blocker_id);

-- Blocking ends follows in both directions.
CREATE FUNCTION end_follows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE pair block;
BEGIN
  FOR pair IN SELECT * FROM added ORDER BY least(blocker_id, blocked_id),
      greatest(blocker_id, blocked_id) LOOP
    DELETE FROM follow WHERE follower_id = pair.blocker_id AND followee_id = pair.blocked_id
      OR follower_id = pair.blocked_id AND followee_id = pair.blocker_id;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER end_follows AFTER INSERT ON block REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION end_follows();

CREATE TRIGGER drop_nodes AFTER DELETE ON app_user REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
