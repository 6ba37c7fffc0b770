-- People: accounts, how they sign in, whom they follow and block.

CREATE TABLE app_user (
  id bigint CONSTRAINT app_user_id_primary PRIMARY KEY,
  username text COLLATE "C" NOT NULL
    CONSTRAINT app_user_username_form CHECK (username ~ '^[A-Za-z0-9_.]{2,40}$'),
  display_name text NOT NULL
    CONSTRAINT app_user_display_name_length CHECK (length(display_name) BETWEEN 1 AND 80),
  name_key text COLLATE "C" NOT NULL,
  email text,
  email_verified boolean NOT NULL DEFAULT false,
  bio text NOT NULL DEFAULT '',
  website text,
  avatar_id bigint,
  home_id bigint,
  address text,
  card_preference text
    CONSTRAINT app_user_card_preference_known
    CHECK (card_preference IN ('CARDS', 'POSTCARDS', 'EITHER')),
  roles text[] NOT NULL DEFAULT '{MEMBER}'
    CONSTRAINT app_user_roles_known CHECK (roles <@ '{MEMBER,TRAINER,STAFF,SERVICE}'),
  suspended_until timestamptz,
  follower_count int NOT NULL DEFAULT 0,
  following_count int NOT NULL DEFAULT 0,
  thank_you_score int NOT NULL DEFAULT 0,
  is_hot boolean NOT NULL DEFAULT false,
  joined_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 90, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE app_user IS
  'One account. Columns that only its owner may see, such as the email address, are part of Viewer alone.';
COMMENT ON COLUMN app_user.name_key IS 'The folded display_name.';
COMMENT ON COLUMN app_user.home_id IS 'The city, region, or country that the user shows as home.';
COMMENT ON COLUMN app_user.address IS 'The postal address for cards, as one text.';
COMMENT ON COLUMN app_user.suspended_until IS
  'The date and time until which the user cannot sign in: infinity for good. Null, or in the past, if not suspended.';
COMMENT ON COLUMN app_user.follower_count IS 'The number of rows of follow with this followee, kept by trigger.';
COMMENT ON COLUMN app_user.following_count IS 'The number of rows of follow with this follower, kept by trigger.';
COMMENT ON COLUMN app_user.thank_you_score IS 'The number of public thank-yous that tag the user, kept by trigger.';
COMMENT ON COLUMN app_user.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON CONSTRAINT app_user_username_form ON app_user IS 'username: INVALID';
COMMENT ON CONSTRAINT app_user_display_name_length ON app_user IS 'displayName: TOO_LONG';
COMMENT ON CONSTRAINT app_user_card_preference_known ON app_user IS 'unreachable';
COMMENT ON CONSTRAINT app_user_roles_known ON app_user IS 'unreachable';
-- user(by: {username}), signIn; users(search:) by the beginning of a username
CREATE UNIQUE INDEX app_user_username_once ON app_user (lower(username));
COMMENT ON INDEX app_user_username_once IS 'username: TAKEN';
-- verifyEmail: one account for an address that was shown to be its owner's
CREATE UNIQUE INDEX app_user_email_once ON app_user (lower(email)) WHERE email_verified;
COMMENT ON INDEX app_user_email_once IS 'email: TAKEN';
-- write_password_resets: who has an address, verified or not
CREATE INDEX ON app_user (lower(email)) WHERE email IS NOT NULL;
-- users: alphabetical, and by the beginning of a name; followers and following in that order
CREATE INDEX ON app_user (name_key, id);
-- users(search:), search
CREATE INDEX ON app_user USING gin (name_vector(name_key || ' ' || username));
-- users(role:)
CREATE INDEX ON app_user USING gin (roles) WHERE roles <> '{MEMBER}';
-- moderation.suspendedUsers
CREATE INDEX ON app_user (name_key, id) WHERE suspended_until IS NOT NULL;
-- deleting a photo, merging a location: who shows it
CREATE INDEX ON app_user (avatar_id) WHERE avatar_id IS NOT NULL;
CREATE INDEX ON app_user (home_id) WHERE home_id IS NOT NULL;

-- A right to all of a table is looked up once, rights to all its columns but one for each column: a tenth of what a
-- short statement took.
CREATE TABLE password (
  user_id bigint CONSTRAINT password_user_once PRIMARY KEY
    CONSTRAINT password_user_exists REFERENCES app_user ON DELETE CASCADE,
  hash text NOT NULL);
COMMENT ON TABLE password IS 'One user who can sign in with a password, not only with providers.';
COMMENT ON COLUMN password.user_id IS 'The user who signs in with the password.';
COMMENT ON COLUMN password.hash IS 'The hash of the password, with its salt and costs.';

CREATE TABLE identity (
  provider text NOT NULL CONSTRAINT identity_provider_known
    CHECK (provider IN ('FACEBOOK', 'GOOGLE', 'TWITTER', 'YAHOO', 'AOL', 'APPLE')),
  external_id text NOT NULL,
  user_id bigint NOT NULL
    CONSTRAINT identity_user_exists REFERENCES app_user ON DELETE CASCADE,
  access_token bytea,
  CONSTRAINT identity_external_id_once PRIMARY KEY (provider, external_id),  -- signInWithProvider
  CONSTRAINT identity_provider_once UNIQUE (user_id, provider));             -- Viewer.linkedProviders
COMMENT ON TABLE identity IS 'One account at an identity provider that can sign in to an account.';
COMMENT ON COLUMN identity.external_id IS 'The ID of the account at the provider.';
COMMENT ON COLUMN identity.access_token IS
  'The encrypted access token for posting on walls. The key is not in the database.';
COMMENT ON CONSTRAINT identity_provider_known ON identity IS 'unreachable';
COMMENT ON CONSTRAINT identity_provider_once ON identity IS 'provider: TAKEN';

CREATE TABLE session (
  -- every request with a token
  token_hash bytea CONSTRAINT session_token_hash_primary PRIMARY KEY
    CONSTRAINT session_token_hash_length CHECK (length(token_hash) = 32),
  id bigint NOT NULL CONSTRAINT session_id_once UNIQUE,
  user_id bigint NOT NULL CONSTRAINT session_user_exists REFERENCES app_user ON DELETE CASCADE,
  device text,
  app text,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL);
COMMENT ON TABLE session IS 'One session of a signed-in user.';
COMMENT ON COLUMN session.token_hash IS 'The SHA-256 hash of the client''s token.';
COMMENT ON COLUMN session.device IS 'The device or program, as the client described it.';
COMMENT ON COLUMN session.app IS 'The application that signed in. Null if it did not say which.';
COMMENT ON CONSTRAINT session_token_hash_length ON session IS 'unreachable';
COMMENT ON CONSTRAINT session_id_once ON session IS 'unreachable';
-- the sessions of an account, and ending them all
CREATE INDEX ON session (user_id, id);

CREATE TABLE one_time_token (
  token_hash bytea CONSTRAINT one_time_token_hash_primary PRIMARY KEY,
  purpose text NOT NULL,
  user_id bigint NOT NULL
    CONSTRAINT one_time_token_user_exists REFERENCES app_user ON DELETE CASCADE,
  expires_at timestamptz NOT NULL);
COMMENT ON TABLE one_time_token IS 'One token that works once, for example to verify an email address.';
COMMENT ON COLUMN one_time_token.token_hash IS 'The SHA-256 hash of the token that was sent.';
COMMENT ON COLUMN one_time_token.purpose IS 'The purpose of the token, such as VERIFY_EMAIL.';
-- deleting an account; voiding its older tokens
CREATE INDEX ON one_time_token (user_id, purpose);

-- What limits mails, and keeps the time of a request from telling whether an address has an account.

CREATE TABLE mail_time (
  key bytea CONSTRAINT mail_time_key_primary PRIMARY KEY,
  mailed_at timestamptz NOT NULL);
COMMENT ON TABLE mail_time IS 'The last mail of one kind to one account or address. Outlives the account.';
COMMENT ON COLUMN mail_time.key IS
  'The SHA-256 hash of the kind, a space, and the account''s ID or the address in lower case.';
COMMENT ON COLUMN mail_time.mailed_at IS 'The date and time of that mail.';
-- forget_tokens
CREATE INDEX ON mail_time (mailed_at);

CREATE TABLE reset_request (
  address text CONSTRAINT reset_request_address_primary PRIMARY KEY,
  asked_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE reset_request IS
  'One address for which a password reset was requested since the outbox was last emptied.';
COMMENT ON COLUMN reset_request.address IS 'The address in lower case. There may be no such account.';
COMMENT ON COLUMN reset_request.asked_at IS 'The date and time of the first request since then.';
-- write_password_resets
CREATE INDEX ON reset_request (asked_at);

CREATE TABLE follow (
  follower_id bigint NOT NULL
    CONSTRAINT follow_follower_exists REFERENCES app_user ON DELETE CASCADE,
  followee_id bigint NOT NULL
    CONSTRAINT follow_followee_exists REFERENCES app_user ON DELETE CASCADE,
  follower_name text COLLATE "C" NOT NULL,
  followed_at timestamptz NOT NULL DEFAULT now(),
  -- feed, following, viewerIsFollowing, by: FOLLOWING
  CONSTRAINT follow_followee_once PRIMARY KEY (follower_id, followee_id),
  CONSTRAINT follow_followee_other CHECK (follower_id <> followee_id));
COMMENT ON TABLE follow IS 'One follow of a user by another.';
COMMENT ON COLUMN follow.follower_name IS 'The name_key of the follower, for lists by name, kept by trigger.';
COMMENT ON CONSTRAINT follow_followee_other ON follow IS 'userIds: INVALID';
-- User.followers by name, and among them
CREATE INDEX ON follow (followee_id, follower_name, follower_id) INCLUDE (followed_at);
-- User.followers, newest first, and by name among them
CREATE INDEX ON follow (followee_id, followed_at DESC, follower_id DESC) INCLUDE (follower_name);

CREATE TABLE block (
  blocker_id bigint NOT NULL
    CONSTRAINT block_blocker_exists REFERENCES app_user ON DELETE CASCADE,
  blocked_id bigint NOT NULL
    CONSTRAINT block_blocked_exists REFERENCES app_user ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- visibility, viewer.blockedUsers
  CONSTRAINT block_blocked_once PRIMARY KEY (blocker_id, blocked_id),
  CONSTRAINT block_blocked_other CHECK (blocker_id <> blocked_id));
COMMENT ON TABLE block IS 'One block of a user by another. Both are hidden from each other.';
COMMENT ON COLUMN block.created_at IS 'The date and time of the block.';
COMMENT ON CONSTRAINT block_blocked_other ON block IS 'userId: INVALID';
-- visibility, the other way round
CREATE INDEX ON block (blocked_id, blocker_id);

-- Whom the viewer does not see is read once or more by nearly every statement: one look into one index. What two people
-- write in a conversation of more people is hidden from when they are hidden from each other, and what they wrote
-- before stays.
CREATE TABLE hidden (
  viewer_id bigint NOT NULL,
  user_id bigint NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT hidden_user_once PRIMARY KEY (viewer_id, user_id));
COMMENT ON TABLE hidden IS
  'One user hidden from a viewer because one of the two blocks the other, with a row in each direction. Kept by a '
  'trigger of block.';
COMMENT ON COLUMN hidden.viewer_id IS 'The user who does not see the other.';
COMMENT ON COLUMN hidden.user_id IS 'The user who is not seen.';
COMMENT ON COLUMN hidden.since IS 'The date and time of the first of the present blocks between the two users.';
