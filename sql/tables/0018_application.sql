-- What applications show without anyone having posted it, and what leaves the server.

CREATE TABLE app_config (
  app text CONSTRAINT app_config_app_primary PRIMARY KEY,
  intro_images text[] NOT NULL DEFAULT '{}'
    CONSTRAINT app_config_intro_images_length CHECK (cardinality(intro_images) <= 5),
  voting_enabled_by_default boolean NOT NULL DEFAULT true,
  support_email text,
  quick_add_user_ids bigint[] NOT NULL DEFAULT '{}');
COMMENT ON TABLE app_config IS 'A row: the settings of one application.';
COMMENT ON COLUMN app_config.app IS 'Its name, as clients say it.';
COMMENT ON COLUMN app_config.intro_images IS 'Addresses of the pictures shown at the first start.';
COMMENT ON COLUMN app_config.support_email IS 'Whom to mail when something does not work; null for nobody.';
COMMENT ON COLUMN app_config.quick_add_user_ids IS 'Whom staff suggest to everyone, in this order.';
COMMENT ON CONSTRAINT app_config_intro_images_length ON app_config IS 'introImages: INVALID';

CREATE TABLE daily_item (
  list text CONSTRAINT daily_item_list_known CHECK (list IN ('VIDEO', 'MOTIVATION')),
  position int CONSTRAINT daily_item_position_range CHECK (position >= 0),
  value text NOT NULL,
  CONSTRAINT daily_item_position_once PRIMARY KEY (list, position));
COMMENT ON TABLE daily_item IS
  'A row: one of the things shown in turn, a different one each day.';
COMMENT ON COLUMN daily_item.value IS 'An address of a video, or a sentence.';
COMMENT ON CONSTRAINT daily_item_list_known ON daily_item IS 'unreachable';
COMMENT ON CONSTRAINT daily_item_position_range ON daily_item IS 'unreachable';

CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_id_primary PRIMARY KEY,
  channel text NOT NULL,
  user_id bigint CONSTRAINT outbox_user_exists REFERENCES app_user ON DELETE CASCADE,
  -- Line breaks there would be more headers of a mail.
  recipient text CONSTRAINT outbox_recipient_form
    CHECK (recipient !~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]'),
  subject text CONSTRAINT outbox_subject_form
    CHECK (subject !~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]'),
  body text NOT NULL,
  token bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz,
  failed_at timestamptz);
COMMENT ON TABLE outbox IS
  'A row: a mail, SMS or wall post to be handed to whoever delivers it.';
COMMENT ON COLUMN outbox.token IS 'Of a wall post: the linked account''s, sealed.';
COMMENT ON COLUMN outbox.attempts IS 'How often it was handed over in vain.';
COMMENT ON COLUMN outbox.due_at IS 'When it is tried next.';
COMMENT ON COLUMN outbox.failed_at IS 'When it was given up.';
COMMENT ON COLUMN outbox.channel IS 'EMAIL, SMS, or the provider with the wall.';
COMMENT ON COLUMN outbox.user_id IS 'On whose behalf.';
COMMENT ON COLUMN outbox.recipient IS 'Address or number; null for a wall of one''s own.';
COMMENT ON CONSTRAINT outbox_recipient_form ON outbox IS 'unreachable';
COMMENT ON CONSTRAINT outbox_subject_form ON outbox IS 'unreachable';
-- what waits
CREATE INDEX ON outbox (due_at, id) WHERE delivered_at IS NULL AND failed_at IS NULL;
-- deleting an account
CREATE INDEX ON outbox (user_id);

CREATE TABLE tracking (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT tracking_id_primary PRIMARY KEY,
  event text NOT NULL,
  user_id bigint,
  subject_id bigint,
  created_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE tracking IS
  'A row: a screen seen or an action taken, as an application told us.';
COMMENT ON COLUMN tracking.event IS 'Its name, as the application has it.';
COMMENT ON COLUMN tracking.user_id IS 'Who it was, who may be gone.';
COMMENT ON COLUMN tracking.subject_id IS 'The node it was about, which may be gone.';
