-- What applications show without anyone having posted it, and what leaves the server.

-- A row: the settings of one application.
CREATE TABLE app_config (
  app text PRIMARY KEY,
  intro_images text[] NOT NULL DEFAULT '{}' CHECK (cardinality(intro_images) <= 5),
  voting_enabled_by_default boolean NOT NULL DEFAULT true,
  support_email text NOT NULL,
  quick_add_user_ids bigint[] NOT NULL DEFAULT '{}');

-- A row: one of the things shown in turn, a different one each day.
CREATE TABLE daily_item (
  list text CHECK (list IN ('VIDEO', 'MOTIVATION')),
  position int CHECK (position >= 0),
  value text NOT NULL,
  PRIMARY KEY (list, position));

-- A row: a mail, SMS or wall post to be handed to whoever delivers it.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel text NOT NULL,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  recipient text,
  subject text,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz);
-- what waits
CREATE INDEX ON outbox (id) WHERE delivered_at IS NULL;
-- deleting an account
CREATE INDEX ON outbox (user_id);

-- A row: a screen seen or an action taken, as an application told us.
CREATE TABLE tracking (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event text NOT NULL,
  user_id bigint,
  subject_id bigint,
  created_at timestamptz NOT NULL DEFAULT now());
