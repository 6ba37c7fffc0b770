-- Notifications, in partitions by id: forgetting the oldest is dropping one of them
-- (functions/maintenance.sql). One for each 2^24 nodes of whatever type.

CREATE TABLE notification (
  id bigint CONSTRAINT notification_id_primary PRIMARY KEY,
  recipient_id bigint NOT NULL
    CONSTRAINT notification_recipient_exists REFERENCES app_user ON DELETE CASCADE,
  reason text NOT NULL CONSTRAINT notification_reason_known CHECK (reason IN ('FOLLOWED', 'REACTED',
    'VOTED', 'COMMENTED', 'PRODUCT_SUGGESTED', 'TAGGED', 'ANNOUNCED', 'EVENT_INVITED',
    'EVENT_CHANGED', 'EVENT_CANCELLED', 'CIRCLE_ADDED', 'INFO_REQUESTED', 'INFO_ANSWERED',
    'OFFER_ANSWERED', 'FOLLOW_UP_UNABLE', 'BOOKING_CHANGED', 'MESSAGED', 'CIRCLE_TRANSFERRED')),
  actor_id bigint CONSTRAINT notification_actor_exists REFERENCES app_user ON DELETE CASCADE,
  about_id bigint,
  phrase text COLLATE "C" NOT NULL,
  args text[] NOT NULL DEFAULT '{}',
  number int,
  destination text NOT NULL,
  action_kind text CONSTRAINT notification_action_kind_known CHECK (action_kind IN ('OPEN_URL',
    'FOLLOW_BACK', 'ATTEND', 'APPROVE_INFO_REQUEST')),
  action_url text,
  action_performed_at timestamptz,
  read_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (id);
COMMENT ON TABLE notification IS 'One notification for its recipient, perhaps with a button.';
COMMENT ON COLUMN notification.reason IS 'The reason for the notification, such as FOLLOWED.';
COMMENT ON COLUMN notification.actor_id IS 'The user whose action caused the notification.';
COMMENT ON COLUMN notification.about_id IS
  'The node of any type that the notification is about, with which it is deleted (functions/node.sql).';
COMMENT ON COLUMN notification.phrase IS 'The key of the phrase that words the notification when it is read.';
COMMENT ON COLUMN notification.args IS
  'The values in the phrase, as format_of numbers them: the name of the actor at the time, and others. They are '
  'escaped for a text in which <b> is markup, and the actor is in bold.';
COMMENT ON COLUMN notification.number IS 'The number that decides about the plural. Null if the phrase has none.';
COMMENT ON COLUMN notification.destination IS 'The path that the notification links to, such as posts/ID?comment=ID.';
COMMENT ON COLUMN notification.action_kind IS 'The action of the button. Null if there is no button.';
COMMENT ON COLUMN notification.action_url IS 'The address that the button links to.';
COMMENT ON COLUMN notification.action_performed_at IS 'The date and time when the action was performed.';
COMMENT ON CONSTRAINT notification_reason_known ON notification IS 'unreachable';
COMMENT ON CONSTRAINT notification_action_kind_known ON notification IS 'unreachable';
CREATE TABLE notification_0 PARTITION OF notification FOR VALUES FROM (MINVALUE) TO (4294967296);
CREATE TABLE notification_other PARTITION OF notification DEFAULT;
COMMENT ON TABLE notification_0 IS 'The notifications among the first 2^24 nodes.';
COMMENT ON TABLE notification_other IS 'The notifications with IDs for which no partition was created in time.';
-- viewer.notifications, newest first
CREATE INDEX ON notification (recipient_id, id DESC);
-- viewer.unreadNotificationCount, notifications(isRead: false)
CREATE INDEX ON notification (recipient_id, id DESC) INCLUDE (actor_id) WHERE read_at IS NULL;
-- telling once what somebody did, and taking it back; deleting what it is about, or who caused it
CREATE INDEX ON notification (about_id, actor_id);
CREATE INDEX ON notification (actor_id);

CREATE TABLE notification_rule (
  user_id bigint CONSTRAINT notification_rule_user_exists REFERENCES app_user ON DELETE CASCADE,
  reason text,
  channels text[] NOT NULL CONSTRAINT notification_rule_channels_known CHECK (channels <@ '{PUSH,EMAIL}'),
  CONSTRAINT notification_rule_reason_once PRIMARY KEY (user_id, reason));
COMMENT ON TABLE notification_rule IS
  'The ways by which one user is told of notifications of one reason, if these are not the usual ones.';
COMMENT ON COLUMN notification_rule.channels IS 'The ways besides the list in the application. Empty for none.';
COMMENT ON CONSTRAINT notification_rule_channels_known ON notification_rule IS 'unreachable';
