-- Messages.

CALL node('conversation', 48, path => '/conversations/',
  leaving => 'SELECT m.conversation_id FROM conversation_member m WHERE m.user_id = $1', lock_place => 70);
CALL tell('conversation_member', 'conversation_member', 'conversation_id', '{user_id}');
CALL told('conversation_member', 'conversation_member', '{conversation_id}', is_node => true, only_columns => true);
CALL node('message', 49, owner => 'author_id', topic => 'message');
CALL watch('message', '{added,removed}', 'tell_changed', 'node id conversation_id');
CALL told('message', 'node', '{conversation_id}', only_columns => true);
CALL exported('messages', $$
  SELECT jsonb_build_object('id', wire_id(m.id),
    'conversation', wire_id(m.conversation_id), 'author', wire_id(m.author_id), 'body', m.body,
    'createdAt', wire_time(m.created_at))
  FROM conversation_member c JOIN visible_message($1) m ON m.conversation_id = c.conversation_id
  WHERE c.user_id = $1
  ORDER BY m.id$$);

-- Two people who are hidden from each other may both take part in a conversation of more people. Neither sees what
-- the other writes meanwhile, nor by updated_at that it was written.
CREATE OR REPLACE FUNCTION shown_message(viewer bigint) RETURNS SETOF message
LANGUAGE sql STABLE AS $$
  SELECT e.* FROM message e
  WHERE e.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    OR e.created_at < (SELECT h.since FROM hidden h WHERE h.viewer_id = viewer AND h.user_id = e.author_id)
$$;
COMMENT ON FUNCTION shown_message IS
  'Returns all messages except those of users who were hidden from the viewer when they wrote them, and still are. '
  'Only for conversations that the viewer is known to take part in.';

CREATE OR REPLACE FUNCTION shown_conversation(viewer bigint) RETURNS SETOF conversation
LANGUAGE sql STABLE AS $$
  SELECT c.id, c.member_key, CASE
    WHEN EXISTS (SELECT FROM hidden_user(viewer))
      AND EXISTS (SELECT FROM conversation_member m WHERE m.conversation_id = c.id
        AND m.user_id IN (SELECT h.id FROM hidden_user(viewer) h))
    THEN coalesce((SELECT e.created_at FROM shown_message(viewer) e WHERE e.conversation_id = c.id
      ORDER BY e.id DESC LIMIT 1), 'epoch')
    ELSE c.updated_at END
  FROM conversation c
$$;
COMMENT ON FUNCTION shown_conversation IS
  'Returns all conversations, with the time of the latest message that the viewer may see. Only for conversations that '
  'the viewer is known to take part in.';

CREATE OR REPLACE FUNCTION visible_conversation(viewer bigint) RETURNS SETOF conversation
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM shown_conversation(viewer) c
  WHERE EXISTS (
    SELECT FROM conversation_member m WHERE m.conversation_id = c.id AND m.user_id = viewer)
$$;
COMMENT ON FUNCTION visible_conversation IS 'Returns the conversations that the viewer takes part in.';

CREATE OR REPLACE FUNCTION visible_message(viewer bigint) RETURNS SETOF message
LANGUAGE sql STABLE AS $$
  SELECT e.* FROM shown_message(viewer) e
  WHERE EXISTS (SELECT FROM conversation_member m
    WHERE m.conversation_id = e.conversation_id AND m.user_id = viewer)
$$;
COMMENT ON FUNCTION visible_message IS
  'Returns the messages in the viewer''s conversations, except those written by users who were already hidden from the '
  'viewer and still are.';

CREATE OR REPLACE FUNCTION send_message(viewer bigint, target jsonb, body text, session_hash bytea DEFAULT NULL)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  talk bigint := (target ->> 'conversationId')::bigint;
  people bigint[] := id_list(target -> 'userIds');
  everyone bigint[];
  others bigint[];
  made bigint;
  fault text;
  told bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(text_refusals(body, true, 5000, 'body'));
  IF talk IS NULL THEN
    PERFORM refuse_all(list_refusals(people, true, 50, 'to', 'userIds'));
    everyone := ARRAY(SELECT DISTINCT e.id FROM unnest(people || viewer) AS e(id) ORDER BY e.id);
    -- An existing conversation of two tells less than the people would: see below.
    IF cardinality(everyone) = 2 THEN
      others := array_remove(everyone, viewer);
      fault := person_fault(viewer, others[1]);
      IF fault = 'NOT_FOUND' AND EXISTS (SELECT FROM conversation c
          WHERE c.member_key = array_to_string(everyone, ',')) THEN
        PERFORM refuse_as(worded(refusal('CLOSED', 'to', 'userIds'), 'NOBODY_READS'));
      END IF;
    END IF;
    PERFORM refuse_all(people_refusals(viewer, people, cardinality(everyone) > 1, 'to', 'userIds'));
    IF cardinality(everyone) < 2 THEN
      PERFORM refuse_as(worded(refusal('INVALID', 'to', 'userIds'), 'SELF'));
    END IF;
    INSERT INTO conversation (member_key) VALUES (array_to_string(everyone, ','))
    ON CONFLICT (member_key) DO UPDATE SET updated_at = now() RETURNING id INTO talk;
    INSERT INTO conversation_member (conversation_id, user_id)
    SELECT talk, e.id FROM unnest(everyone) AS e(id) ORDER BY e.id
    ON CONFLICT (conversation_id, user_id) DO NOTHING;
  ELSE
    IF NOT EXISTS (SELECT FROM visible_conversation(viewer) c WHERE c.id = talk) THEN
      PERFORM refuse('NOT_FOUND', 'to', 'conversationId');
    END IF;
    UPDATE conversation c SET updated_at = now() WHERE c.id = talk;
  END IF;
  others := ARRAY(SELECT m.user_id FROM conversation_member m
    WHERE m.conversation_id = talk AND m.user_id <> viewer ORDER BY m.user_id);
  IF cardinality(others) = 0 THEN
    PERFORM refuse_as(worded(refusal('CLOSED', 'to',
      CASE WHEN people IS NULL THEN 'conversationId' ELSE 'userIds' END), 'NOBODY_READS'));
  ELSIF cardinality(others) = 1 THEN
    IF EXISTS (SELECT FROM block b WHERE b.blocker_id = viewer AND b.blocked_id = others[1]) THEN
      PERFORM refuse('BLOCKED', 'to', CASE WHEN people IS NULL THEN 'conversationId' ELSE 'userIds' END);
    ELSIF EXISTS (SELECT FROM block b WHERE b.blocker_id = others[1] AND b.blocked_id = viewer) THEN
      PERFORM refuse_as(worded(refusal('CLOSED', 'to',
        CASE WHEN people IS NULL THEN 'conversationId' ELSE 'userIds' END), 'NOBODY_READS'));
    END IF;
  END IF;
  INSERT INTO message (conversation_id, author_id, body) VALUES (talk, viewer, words(body))
  RETURNING id INTO made;
  UPDATE conversation_member m SET last_read_id = made
  WHERE m.conversation_id = talk AND m.user_id = viewer;
  UPDATE notification n SET read_at = now()
  WHERE n.recipient_id = viewer AND n.reason = 'MESSAGED' AND n.about_id = talk AND n.read_at IS NULL;
  IF FOUND THEN PERFORM push_badge(viewer, session_hash); END IF;
  FOREACH told IN ARRAY others LOOP
    IF NOT EXISTS (SELECT FROM hidden_user(told) h WHERE h.id = viewer) THEN
      PERFORM notify_number(told, 'MESSAGED', viewer, talk);
    END IF;
  END LOOP;
  RETURN made;
END $$;
COMMENT ON FUNCTION send_message IS
  'Implements Mutation.sendMessage. A set of users shares one conversation, which is locked first. The author '
  'has read it then, and the notification of it.';

CREATE OR REPLACE FUNCTION mark_conversation_read(viewer bigint, session_hash bytea, talk bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  UPDATE conversation_member m
  SET last_read_id = greatest(m.last_read_id, coalesce((
    SELECT max(e.id) FROM message e WHERE e.conversation_id = talk), 0))
  WHERE m.conversation_id = talk AND m.user_id = viewer;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'conversationId'); END IF;
  UPDATE notification n SET read_at = now()
  WHERE n.recipient_id = viewer AND n.reason = 'MESSAGED' AND n.about_id = talk AND n.read_at IS NULL;
  IF FOUND THEN PERFORM push_badge(viewer, session_hash); END IF;
  RETURN talk;
END $$;
COMMENT ON FUNCTION mark_conversation_read IS 'Implements Mutation.markConversationRead.';

CREATE OR REPLACE FUNCTION set_conversation_muted(viewer bigint, talk bigint, is_muted boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM FROM conversation_member m WHERE m.conversation_id = talk AND m.user_id = viewer FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'conversationId'); END IF;
  UPDATE conversation_member m SET is_muted = set_conversation_muted.is_muted
  WHERE m.conversation_id = talk AND m.user_id = viewer AND m.is_muted <> set_conversation_muted.is_muted;
  RETURN talk;
END $$;
COMMENT ON FUNCTION set_conversation_muted IS 'Implements Mutation.setConversationMuted.';

CREATE OR REPLACE FUNCTION delete_message(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  chosen message;
  reader conversation_member;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT e.* INTO chosen FROM visible_message(viewer) e WHERE e.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'messageId'); END IF;
  IF chosen.author_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'messageId'); END IF;
  -- the conversation first, as who writes to it does
  PERFORM FROM conversation c WHERE c.id = chosen.conversation_id FOR NO KEY UPDATE;
  DELETE FROM message e WHERE e.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'messageId'); END IF;
  PERFORM log_changes(array_agg(target), array_agg(m.user_id), true, array_agg(viewer))
  FROM conversation_member m WHERE m.conversation_id = chosen.conversation_id;
  UPDATE conversation c SET updated_at = e.created_at
  FROM (SELECT l.created_at FROM message l WHERE l.conversation_id = chosen.conversation_id
    ORDER BY l.id DESC LIMIT 1) e
  WHERE c.id = chosen.conversation_id AND c.updated_at > e.created_at;
  FOR reader IN SELECT m.* FROM conversation_member m
    WHERE m.conversation_id = chosen.conversation_id AND m.user_id <> viewer ORDER BY m.user_id
  LOOP
    IF NOT EXISTS (SELECT FROM shown_message(reader.user_id) e WHERE e.conversation_id = reader.conversation_id
        AND e.id > reader.last_read_id AND e.author_id <> reader.user_id) THEN
      PERFORM unnotify(ARRAY[reader.user_id], 'MESSAGED', NULL, reader.conversation_id);
    ELSE
      PERFORM hush_message(reader.user_id, chosen);
    END IF;
  END LOOP;
  RETURN target;
END $$;
COMMENT ON FUNCTION delete_message IS
  'Implements Mutation.deleteMessage, for its author. Whoever has nothing else to read in the conversation is no '
  'longer notified of it, and devices do not ring for it.';

-- One unread notification stands for all unread messages, and is that of the latest. What it replaced within three
-- seconds had not rung yet (tell_outside), so it rings for that.
CREATE OR REPLACE FUNCTION hush_message(reader bigint, gone message) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  told notification;
  last message;
BEGIN
  SELECT n.* INTO told FROM notification n
  WHERE n.recipient_id = reader AND n.reason = 'MESSAGED' AND n.about_id = gone.conversation_id AND n.read_at IS NULL
    AND n.created_at = gone.created_at FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT e.* INTO last FROM shown_message(reader) e
  WHERE e.conversation_id = gone.conversation_id AND e.author_id <> reader ORDER BY e.id DESC LIMIT 1;
  UPDATE notification n SET actor_id = last.author_id, args = notification_args(last.author_id, '{}')
  WHERE n.id = told.id AND n.actor_id <> last.author_id;
  IF last.created_at <= told.created_at - interval '3 seconds' THEN
    UPDATE outbox o SET delivered_at = now()
    WHERE o.notification_id = told.id AND o.delivered_at IS NULL AND o.failed_at IS NULL AND o.attempts = 0;
  END IF;
END $$;
COMMENT ON FUNCTION hush_message IS
  'Makes the notification of a deleted message one of the latest message that is left, for which devices rang already.';
