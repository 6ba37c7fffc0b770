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
  text text NOT NULL,
  destination text NOT NULL,
  action_kind text CONSTRAINT notification_action_kind_known CHECK (action_kind IN ('OPEN_URL',
    'FOLLOW_BACK', 'ATTEND', 'APPROVE_INFO_REQUEST')),
  action_label text,
  action_url text,
  action_performed_at timestamptz,
  read_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT notification_action_label_given
    CHECK ((action_kind IS NULL) = (action_label IS NULL))
) PARTITION BY RANGE (id);
COMMENT ON TABLE notification IS 'One notification for its recipient, perhaps with a button.';
COMMENT ON COLUMN notification.reason IS 'The reason for the notification, such as FOLLOWED.';
COMMENT ON COLUMN notification.actor_id IS 'The user whose action caused the notification.';
COMMENT ON COLUMN notification.about_id IS
  'The node of any type that the notification is about, with which it is deleted (functions/node.sql).';
COMMENT ON COLUMN notification.text IS 'The text, in which <b> and </b> are the only markup.';
COMMENT ON COLUMN notification.destination IS 'The address that the notification links to.';
COMMENT ON COLUMN notification.action_kind IS 'The action of the button. Null if there is no button.';
COMMENT ON COLUMN notification.action_label IS 'The label of the button.';
COMMENT ON COLUMN notification.action_url IS 'The address that the button links to.';
COMMENT ON COLUMN notification.action_performed_at IS 'The date and time when the action was performed.';
COMMENT ON CONSTRAINT notification_reason_known ON notification IS 'unreachable';
COMMENT ON CONSTRAINT notification_action_kind_known ON notification IS 'unreachable';
COMMENT ON CONSTRAINT notification_action_label_given ON notification IS 'unreachable';
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
