-- What applications show without anyone having posted it, and what leaves the server.

CREATE TABLE app_config (
  app text CONSTRAINT app_config_app_primary PRIMARY KEY
    CONSTRAINT app_config_app_form CHECK (app ~ '^[a-z0-9-]{1,50}$'),
  intro_images text[] NOT NULL DEFAULT '{}'
    CONSTRAINT app_config_intro_images_length CHECK (cardinality(intro_images) <= 5),
  voting_enabled_by_default boolean NOT NULL DEFAULT true,
  support_email text,
  quick_add_user_ids bigint[] NOT NULL DEFAULT '{}',
  link_template text,
  web_template text,
  notification_reasons text[] NOT NULL DEFAULT '{}',
  apns_topic text CONSTRAINT app_config_apns_topic_length CHECK (length(apns_topic) BETWEEN 1 AND 200));
COMMENT ON TABLE app_config IS 'The settings of one application.';
COMMENT ON COLUMN app_config.app IS 'The name of the application, in lower case.';
COMMENT ON CONSTRAINT app_config_app_form ON app_config IS 'app: INVALID';
COMMENT ON COLUMN app_config.intro_images IS 'The addresses of the images of the introduction for new users.';
COMMENT ON COLUMN app_config.support_email IS 'The email address for support. Null if there is none.';
COMMENT ON COLUMN app_config.quick_add_user_ids IS 'The users that staff suggest to everyone, in order.';
COMMENT ON COLUMN app_config.link_template IS
  'The addresses that notifications link to, with {path} in it once, such as gtio://{path}. Null for public ones.';
COMMENT ON COLUMN app_config.web_template IS
  'The https addresses in mails and texts for others, with {path} in it once. Null for public ones.';
COMMENT ON COLUMN app_config.notification_reasons IS
  'The reasons of the notifications that the application lists and pushes. Empty for all.';
COMMENT ON COLUMN app_config.apns_topic IS 'The bundle ID that APNs delivers to. Null if there is none.';
COMMENT ON CONSTRAINT app_config_apns_topic_length ON app_config IS 'apnsTopic: TOO_LONG';
COMMENT ON CONSTRAINT app_config_intro_images_length ON app_config IS 'introImages: INVALID';

CREATE TABLE daily_item (
  list text CONSTRAINT daily_item_list_known CHECK (list IN ('VIDEO', 'MOTIVATION')),
  position int CONSTRAINT daily_item_position_range CHECK (position >= 0),
  value text NOT NULL,
  CONSTRAINT daily_item_position_once PRIMARY KEY (list, position));
COMMENT ON TABLE daily_item IS 'One item of a rotating list of daily content.';
COMMENT ON COLUMN daily_item.value IS 'The address of a video, or a motivational text.';
COMMENT ON CONSTRAINT daily_item_list_known ON daily_item IS 'unreachable';
COMMENT ON CONSTRAINT daily_item_position_range ON daily_item IS 'unreachable';

CREATE TABLE device (
  id bigint CONSTRAINT device_id_primary PRIMARY KEY,
  user_id bigint NOT NULL CONSTRAINT device_user_exists REFERENCES app_user ON DELETE CASCADE,
  session_id bigint NOT NULL CONSTRAINT device_session_exists REFERENCES session (id) ON DELETE CASCADE,
  app text NOT NULL CONSTRAINT device_app_exists REFERENCES app_config ON DELETE CASCADE,
  platform text NOT NULL CONSTRAINT device_platform_known CHECK (platform IN ('APNS', 'FCM', 'WEB_PUSH')),
  token_hash bytea NOT NULL,
  token bytea NOT NULL,
  is_sandbox boolean NOT NULL,
  device_name text CONSTRAINT device_name_length CHECK (length(device_name) <= 80),
  locale text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT device_token_once UNIQUE (platform, token_hash));
COMMENT ON TABLE device IS 'One phone or browser that gets push messages for its user, as long as its session lasts.';
COMMENT ON COLUMN device.session_id IS 'The session that registered it last, with which it is deleted.';
COMMENT ON COLUMN device.app IS 'The application on it.';
COMMENT ON COLUMN device.platform IS 'The push service that reaches it.';
COMMENT ON COLUMN device.token_hash IS 'The SHA-256 hash of the token of the push service, to know it again.';
COMMENT ON COLUMN device.token IS 'The encrypted token of the push service. The key is not in the database.';
COMMENT ON COLUMN device.is_sandbox IS 'Whether the token is of APNs'' sandbox.';
COMMENT ON COLUMN device.device_name IS 'The name that its user knows it by.';
COMMENT ON COLUMN device.locale IS 'The language tag of its push messages. Empty to go by the account.';
COMMENT ON COLUMN device.last_seen_at IS 'The date and time when the application registered it last.';
COMMENT ON CONSTRAINT device_platform_known ON device IS 'unreachable';
COMMENT ON CONSTRAINT device_name_length ON device IS 'deviceName: TOO_LONG';
COMMENT ON CONSTRAINT device_token_once ON device IS 'unreachable';
-- Viewer.devices; who gets a push message
CREATE INDEX ON device (user_id, last_seen_at DESC);
-- signing out
CREATE INDEX ON device (session_id);

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
  -- no foreign key: an announcement adds thousands, and those of a device that is gone are passed over
  device_id bigint,
  notification_id bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  attempts int NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz,
  failed_at timestamptz);
COMMENT ON TABLE outbox IS 'One email, text message, wall post, or push message to deliver.';
COMMENT ON COLUMN outbox.token IS 'The encrypted access token of the linked account, for a wall post.';
COMMENT ON COLUMN outbox.device_id IS 'The device of a push message.';
COMMENT ON COLUMN outbox.notification_id IS
  'The notification that is worded when the entry is taken. Null for other entries, and for a push message that only '
  'changes the number on an icon.';
COMMENT ON COLUMN outbox.attempts IS 'The number of failed deliveries.';
COMMENT ON COLUMN outbox.due_at IS 'The date and time of the next delivery.';
COMMENT ON COLUMN outbox.failed_at IS 'The date and time when delivery was abandoned.';
COMMENT ON COLUMN outbox.channel IS 'EMAIL, SMS, PUSH, or the provider with the wall.';
COMMENT ON COLUMN outbox.user_id IS
  'The user on whose behalf the entry is delivered. Null for a push message, which is for the user of its device.';
COMMENT ON COLUMN outbox.recipient IS
  'The address or number of the recipient. Null for a post on the user''s own wall.';
COMMENT ON CONSTRAINT outbox_recipient_form ON outbox IS 'unreachable';
COMMENT ON CONSTRAINT outbox_subject_form ON outbox IS 'unreachable';
-- what waits
CREATE INDEX ON outbox (due_at, id) WHERE delivered_at IS NULL AND failed_at IS NULL;
-- deleting an account; what a person was mailed about
CREATE INDEX ON outbox (user_id);
-- the one message that waits with a number; a device that changes hands
CREATE INDEX ON outbox (device_id) WHERE device_id IS NOT NULL;

CREATE TABLE tracking (
  id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT tracking_id_primary PRIMARY KEY,
  event text NOT NULL,
  user_id bigint,
  subject_id bigint,
  created_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE tracking IS 'One screen seen or action taken, as reported by an application.';
COMMENT ON COLUMN tracking.event IS 'The name of the screen or action, as the application reported it.';
COMMENT ON COLUMN tracking.user_id IS 'The user, whose account may have been deleted.';
COMMENT ON COLUMN tracking.subject_id IS 'The node that it was about, which may have been deleted.';
