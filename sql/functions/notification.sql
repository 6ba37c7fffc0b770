-- Notifications ("pecks"): who is told of what, in which words.

CALL node('notification', 50, owner => 'recipient_id', topic => 'notification',
  leaving => 'SELECT n.id FROM notification_that_goes($1, $2) n', lock_place => 80);
CALL told('notification', 'change', '{recipient_id}', only_columns => true);
CALL exported('notifications', $$
  SELECT jsonb_build_object('id', wire_id(n.id),
    'reason', n.reason, 'text', plain(notification_text(spoken('', $1), n.phrase, n.args, n.number)),
    'readAt', wire_time(n.read_at), 'createdAt', wire_time(n.created_at))
  FROM visible_notification($1) n
  ORDER BY n.id$$);

CREATE OR REPLACE FUNCTION visible_notification(viewer bigint) RETURNS SETOF notification
LANGUAGE sql STABLE AS $$
  SELECT n.* FROM notification n
  WHERE n.recipient_id = viewer
    AND (n.actor_id IS NULL OR n.actor_id NOT IN (SELECT h.id FROM hidden_user(viewer) h))
$$;
COMMENT ON FUNCTION visible_notification IS
  'Returns the notifications of the viewer, except those caused by users hidden by a block.';

CREATE OR REPLACE FUNCTION notification_that_goes(person bigint, going bigint[]) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT n.id FROM notification n
  WHERE n.recipient_id = person OR n.actor_id = person OR n.about_id = person
    OR n.about_id = ANY (ARRAY(SELECT g.id FROM unnest(going) g(id) WHERE NOT is_conversation(g.id)))
    OR n.about_id IN (
      SELECT b.id FROM booking b WHERE b.session_id = ANY (going)
      UNION SELECT f.id FROM follow_up f WHERE f.post_id = ANY (going)
      UNION SELECT r.id FROM info_request r WHERE r.post_id = ANY (going)
      UNION SELECT i.id FROM invitation i WHERE person IN (i.invitee_id, i.inviter_id))
$$;
COMMENT ON FUNCTION notification_that_goes IS
  'Returns the notifications that are deleted with an account and its nodes. Conversations remain for the other '
  'participants.';

CREATE OR REPLACE FUNCTION escaped(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(replace(value, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')
$$;
COMMENT ON FUNCTION escaped IS 'Returns a text by a user, escaped for a text in which <b> is markup.';

CREATE OR REPLACE FUNCTION plain(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(replace(replace(replace(value, '<b>', ''), '</b>', ''), '&lt;', '<'), '&gt;', '>'),
    '&amp;', '&')
$$;
COMMENT ON FUNCTION plain IS 'Returns a text in which <b> is markup as one without markup.';

CREATE OR REPLACE FUNCTION notification_args(actor bigint, args jsonb) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY[
    (SELECT '<b>' || escaped(u.display_name) || '</b>' FROM app_user u WHERE u.id = actor),
    (SELECT escaped(a.value) FROM jsonb_each_text(args) a WHERE a.key NOT IN ('brand', 'note') LIMIT 1),
    escaped(coalesce(args ->> 'brand', args ->> 'note'))];
END $$;
COMMENT ON FUNCTION notification_args IS
  'Returns the values of a phrase as format_of numbers them. There may be one besides a brand or a note.';

CREATE OR REPLACE FUNCTION notification_text(language text, phrase text, args text[], number int) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN format(format_of(coalesce(phrase_words(language, phrase, number), phrase)), VARIADIC
    CASE WHEN number IS NULL THEN args ELSE ARRAY[args[1], grouped(language, number), args[3]] END);
END $$;
COMMENT ON FUNCTION notification_text IS
  'Returns the text of a notification in a language, in which <b> and </b> are the only markup. Notification.text '
  'looks for the phrase itself first.';

CREATE OR REPLACE FUNCTION notify_people(recipients bigint[], reason text, actor bigint, about bigint,
  phrase text DEFAULT NULL, args jsonb DEFAULT '{}', action_kind text DEFAULT NULL, action_url text DEFAULT NULL,
  destination text DEFAULT NULL, is_once boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  given text[] := notification_args(actor, args);
  path text := coalesce(destination, node_link(about));
BEGIN
  INSERT INTO notification (recipient_id, reason, actor_id, about_id, phrase, args, number, destination, action_kind,
    action_url)
  SELECT r.id, notify_people.reason, actor, about, coalesce(notify_people.phrase, notify_people.reason), given,
    (notify_people.args ->> 'count')::int, path, notify_people.action_kind, notify_people.action_url
  FROM (SELECT DISTINCT e.id FROM unnest(recipients) AS e(id) WHERE e.id <> actor OR actor IS NULL) r
    JOIN app_user u ON u.id = r.id
  WHERE NOT EXISTS (SELECT FROM hidden_user(r.id) h WHERE h.id = actor)
    AND (about IS NULL OR sees(r.id, about))
    AND (NOT is_once OR NOT EXISTS (
      SELECT FROM notification n
      WHERE n.recipient_id = r.id AND n.reason = notify_people.reason AND n.actor_id = actor
        AND n.about_id = about AND n.created_at > now() - interval '24 hours'))
  ORDER BY r.id;
END $$;
COMMENT ON FUNCTION notify_people IS
  'Notifies users by a phrase, that of the reason unless given, whose values are the actor''s name and those in args. '
  'The link leads to the page of the node, unless it has a path of its own. Skips the actor, users hidden from the '
  'actor, and users who may not see the node. With is_once, for acts that can be undone and repeated, skips users '
  'notified of the same within a day.';

CREATE OR REPLACE FUNCTION unnotify(recipients bigint[], reason text, actor bigint, about bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM notification n
  WHERE n.recipient_id = ANY (recipients) AND n.reason = unnotify.reason
    AND (n.actor_id = actor OR actor IS NULL) AND n.about_id = about AND n.read_at IS NULL;
END $$;
COMMENT ON FUNCTION unnotify IS
  'Deletes unread notifications about an act that was undone. Without an actor, those of all actors.';

CREATE OR REPLACE FUNCTION notify_number(recipient bigint, reason text, actor bigint, about bigint,
  phrase text DEFAULT NULL, args jsonb DEFAULT '{}')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- two at once: the second waits for the first, and replaces what that told
  PERFORM pg_advisory_xact_lock(hashtextextended(reason || ' ' || recipient, about));
  DELETE FROM notification n
  WHERE n.recipient_id = recipient AND n.reason = notify_number.reason AND n.about_id = about
    AND n.read_at IS NULL;
  INSERT INTO notification (recipient_id, reason, actor_id, about_id, phrase, args, number, destination)
  VALUES (recipient, notify_number.reason, actor, about, coalesce(notify_number.phrase, notify_number.reason),
    notification_args(actor, args), (args ->> 'count')::int, node_link(about));
END $$;
COMMENT ON FUNCTION notify_number IS
  'Notifies a user of an increased number, with one unread notification for each node, which replaces the last one and '
  'becomes the newest. The phrase is as in notify_people.';

CREATE OR REPLACE FUNCTION mark_notifications_read(viewer bigint, session_hash bytea, ids bigint[])
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(ids, false, 1000, 'notificationIds'));
  PERFORM FROM notification n
  WHERE n.recipient_id = viewer AND n.read_at IS NULL AND (ids IS NULL OR n.id = ANY (ids))
  ORDER BY n.id FOR NO KEY UPDATE;
  UPDATE notification n SET read_at = now()
  WHERE n.recipient_id = viewer AND n.read_at IS NULL AND (ids IS NULL OR n.id = ANY (ids));
  IF FOUND THEN PERFORM push_badge(viewer, session_hash); END IF;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION mark_notifications_read IS
  'Implements Mutation.markNotificationsRead. Ignores the IDs of deleted notifications and of notifications of other '
  'users.';

CREATE OR REPLACE FUNCTION perform_notification_action(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  chosen notification;
  reasons text;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT n.* INTO chosen FROM visible_notification(viewer) n WHERE n.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'notificationId'); END IF;
  IF chosen.action_performed_at IS NOT NULL THEN RETURN target; END IF;
  BEGIN
    CASE chosen.action_kind
    WHEN 'FOLLOW_BACK' THEN PERFORM follow_users(viewer, ARRAY[chosen.actor_id]);
    WHEN 'ATTEND' THEN PERFORM set_attendance(viewer, chosen.about_id, 'GOING');
    WHEN 'APPROVE_INFO_REQUEST' THEN PERFORM answer_info_request(viewer, chosen.about_id, true);
    ELSE PERFORM refuse_as(worded(refusal('INVALID', 'notificationId'), 'NO_ACTION'));
    END CASE;
  EXCEPTION WHEN SQLSTATE 'SG100' THEN
    -- refused for what those functions are given: here it is all behind one id
    GET STACKED DIAGNOSTICS reasons = PG_EXCEPTION_DETAIL;
    PERFORM refuse_all((SELECT jsonb_agg(r.reason || '{"path": ["notificationId"]}')
      FROM jsonb_array_elements(reasons::jsonb) AS r(reason)));
  END;
  -- Concurrent calls wait here for the first one, and keep its time.
  UPDATE notification n SET action_performed_at = coalesce(n.action_performed_at, now()),
    read_at = coalesce(n.read_at, now())
  WHERE n.id = target;
  RETURN target;
END $$;
COMMENT ON FUNCTION perform_notification_action IS
  'Implements Mutation.performNotificationAction. A repeated call has no effect.';

CREATE OR REPLACE FUNCTION delete_notifications(viewer bigint, ids bigint[])
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(ids, true, 100, 'notificationIds'));
  PERFORM FROM notification n WHERE n.recipient_id = viewer AND n.id = ANY (ids) ORDER BY n.id FOR UPDATE;
  PERFORM refuse_all((
    SELECT coalesce(jsonb_agg(refusal('NOT_FOUND', 'notificationIds', (e.place - 1)::text) ORDER BY e.place), '[]')
    FROM unnest(ids) WITH ORDINALITY AS e(id, place)
    WHERE NOT EXISTS (SELECT FROM visible_notification(viewer) n WHERE n.id = e.id)));
  DELETE FROM notification n WHERE n.recipient_id = viewer AND n.id = ANY (ids);
  RETURN viewer;
END $$;
COMMENT ON FUNCTION delete_notifications IS 'Implements Mutation.deleteNotifications, for the viewer''s own.';
