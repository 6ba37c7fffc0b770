-- A row: something the recipient should know, worded for them, perhaps with a button.
CREATE TABLE notification (
  id bigint PRIMARY KEY DEFAULT new_node(50) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 50),
  recipient_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  reason text NOT NULL,
  actor_id bigint REFERENCES app_user ON DELETE CASCADE,
  about_id bigint REFERENCES node ON DELETE CASCADE,
  text text NOT NULL,                         -- plain but for <b> and </b>
  destination text NOT NULL,
  action_kind text,
  action_label text,
  action_url text,
  action_performed_at timestamptz,
  read_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((action_kind IS NULL) = (action_label IS NULL)));
-- viewer.notifications, newest first
CREATE INDEX ON notification (recipient_id, id DESC);
-- viewer.unreadNotificationCount, notifications(unreadOnly:)
CREATE INDEX ON notification (recipient_id, id DESC) INCLUDE (actor_id) WHERE read_at IS NULL;
-- deleting what it is about, or who caused it
CREATE INDEX ON notification (about_id);
CREATE INDEX ON notification (actor_id);

CREATE TRIGGER drop_nodes AFTER DELETE ON notification REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
