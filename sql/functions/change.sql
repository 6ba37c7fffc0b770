-- What changed, for clients that keep a copy: changes(since:).

CALL told('change', NULL);
CALL told('change_day', NULL);
CALL told('change_horizon', NULL);
CALL told('hidden_past', NULL);
CALL told('token_secret', NULL);

-- What was said is kept in a setting of the transaction, as looking into the log would touch all its
-- partitions. Beyond a hundred or so it is said again, which costs no more than a row.
CREATE OR REPLACE FUNCTION log_changes(node_ids bigint[], scope_ids bigint[], gone boolean,
  author_ids bigint[] DEFAULT NULL, host_ids bigint[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  said text := coalesce(current_setting('sociograph.logged', true), '');
  scopes bigint[];
BEGIN
  WITH news AS (
    SELECT n.node_id, n.scope_id, n.people,
      format(' %s:%s:%s:%s', n.node_id, n.scope_id, gone::int, array_to_string(n.people, ':')) AS saying
    FROM (SELECT DISTINCT u.node_id, u.scope_id, array_remove(ARRAY[u.author_id, u.host_id], NULL) AS people
      FROM unnest(node_ids, scope_ids, author_ids, host_ids) AS u(node_id, scope_id, author_id, host_id)) n
    WHERE n.node_id IS NOT NULL AND n.scope_id IS NOT NULL),
  added AS (
    INSERT INTO change (node_id, scope_id, deleted, people)
    SELECT n.node_id, n.scope_id, gone, nullif(n.people, '{}') FROM news n
    WHERE strpos(said || ' ', n.saying || ' ') = 0
    ORDER BY n.node_id, n.scope_id, n.people)
  SELECT said || string_agg(n.saying, ''), array_agg(DISTINCT n.scope_id) INTO said, scopes FROM news n
  WHERE strpos(said || ' ', n.saying || ' ') = 0;
  PERFORM touch_nodes('change', scopes, scopes);
  IF length(said) < 4000 THEN PERFORM set_config('sociograph.logged', said, true); END IF;
END $$;
COMMENT ON FUNCTION log_changes IS
  'Logs a change of each node for the scope at the same position, unless this transaction has just logged the same. '
  'author_ids and host_ids: the authors of the node and of its subject. Users hidden from one of them do not see the '
  'change.';

CREATE OR REPLACE FUNCTION post_scopes(post_ids bigint[])
RETURNS TABLE (post_id bigint, scope_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT id, author_id FROM post WHERE id = ANY (post_ids)
  UNION SELECT id, circle_id FROM post
    WHERE id = ANY (post_ids) AND circle_id IS NOT NULL AND visibility <> 'INVITED'
  UNION SELECT a.event_id, a.user_id FROM attendance a JOIN post p ON p.id = a.event_id
    WHERE a.event_id = ANY (post_ids) AND a.status <> 'NOT_GOING' AND CASE p.visibility
      WHEN 'PUBLIC' THEN true
      WHEN 'CIRCLE' THEN EXISTS (SELECT FROM circle_member m
        WHERE m.circle_id = p.circle_id AND m.user_id = a.user_id)
      ELSE EXISTS (SELECT FROM invitation i
        WHERE i.event_id = a.event_id AND i.invitee_id = a.user_id AND i.status <> 'WITHDRAWN') END
  UNION SELECT i.event_id, i.invitee_id FROM invitation i JOIN post p ON p.id = i.event_id
    WHERE i.event_id = ANY (post_ids) AND i.status NOT IN ('DECLINED', 'WITHDRAWN')
      AND (p.visibility <> 'CIRCLE' OR EXISTS (SELECT FROM circle_member m
        WHERE m.circle_id = p.circle_id AND m.user_id = i.invitee_id))
$$;
COMMENT ON FUNCTION post_scopes IS
  'Returns the scopes that a post is logged for: its author, its circle, and, for an event, the users who are invited '
  'or may attend.';

CREATE OR REPLACE FUNCTION may_know_event(event bigint, visibility visibility, circle bigint, person bigint)
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE visibility
    WHEN 'PUBLIC' THEN true
    WHEN 'CIRCLE' THEN EXISTS (SELECT FROM circle_member m WHERE m.circle_id = circle AND m.user_id = person)
    ELSE EXISTS (SELECT FROM invitation i
      WHERE i.event_id = event AND i.invitee_id = person AND i.status <> 'WITHDRAWN') END;
END $$;
COMMENT ON FUNCTION may_know_event IS
  'Returns whether an event of this visibility is for the person. Blocks are checked by the readers of the log.';

CREATE OR REPLACE FUNCTION log_edited_posts(post_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  authors bigint[];
BEGIN
  SELECT array_agg(s.post_id), array_agg(s.scope_id),
    array_agg((SELECT p.author_id FROM post p WHERE p.id = s.post_id))
  INTO nodes, scopes, authors FROM post_scopes(post_ids) s;
  PERFORM log_changes(nodes, scopes, false, authors);
END $$;
COMMENT ON FUNCTION log_edited_posts IS 'Logs that posts were edited, for their scopes.';

CREATE OR REPLACE FUNCTION log_posts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  authors bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.id), array_agg(c.author_id) INTO nodes, scopes, authors
  FROM changed c, LATERAL (VALUES (c.author_id),
    (CASE WHEN c.visibility <> 'INVITED' THEN c.circle_id END)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE', authors);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_posts IS 'Logs created and deleted posts.';
CALL watch('post', '{added,removed}', 'log_posts');

-- Whoever exchanges a post's photos, tags or regions also sets updated_at.
CREATE OR REPLACE FUNCTION log_edited_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_edited_posts(ARRAY[NEW.id]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_edited_post IS 'Logs an edited post. Only edits by its author count, not reactions.';
CREATE OR REPLACE TRIGGER log_edited
  AFTER UPDATE OF body, location_id, visibility, updated_at ON post
  FOR EACH ROW EXECUTE FUNCTION log_edited_post();

CREATE OR REPLACE FUNCTION log_post_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE post_ids bigint[];
BEGIN
  EXECUTE format('SELECT array_agg(DISTINCT %I) FROM changed', TG_ARGV[0]) INTO post_ids;
  PERFORM log_edited_posts(post_ids);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_post_parts IS
  'Logs posts whose parts were edited. The argument names the column of the posts'' IDs.';
CALL watch('event', '{edited}', 'log_post_parts', 'post_id');
CALL watch('card_post', '{edited}', 'log_post_parts', 'post_id');
CALL watch('event_venue', '{added,edited,removed}', 'log_post_parts', 'event_id');

CREATE OR REPLACE FUNCTION log_events(events bigint[], people bigint[], inviters bigint[] DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_changes(array_agg(c.event_id), array_agg(c.person), false, array_agg(p.author_id),
    -- An event by invitation comes and goes with it, whoever invites.
    array_agg(CASE WHEN p.visibility <> 'INVITED' THEN c.inviter END))
  FROM unnest(events, people, inviters) AS c(event_id, person, inviter) JOIN post p ON p.id = c.event_id
  WHERE p.author_id = c.person OR may_know_event(p.id, p.visibility, p.circle_id, c.person)
    OR c.inviter IS NOT NULL AND p.visibility = 'INVITED';
END $$;
COMMENT ON FUNCTION log_events IS
  'Logs each event for the person at the same position who may see it now or could until now. Events deleted with '
  'their post are logged by log_gone_posts.';

CREATE OR REPLACE FUNCTION log_attendance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(event_id), array_agg(user_id) INTO nodes, scopes FROM changed;
  PERFORM log_events(nodes, scopes);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_attendance IS
  'Logs events for the users who answered, because their answer is part of the event.';
CALL watch('attendance', '{added,edited,removed}', 'log_attendance');

CREATE OR REPLACE FUNCTION log_invitations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  others bigint[];
  hosts bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.id), array_agg(s.other), array_agg(p.author_id)
  INTO nodes, scopes, others, hosts
  FROM changed c LEFT JOIN post p ON p.id = c.event_id,
    LATERAL (VALUES (c.inviter_id, c.invitee_id), (c.invitee_id, c.inviter_id)) s(id, other)
  -- One to an event that is gone was logged with it.
  WHERE c.event_id IS NULL OR p.id IS NOT NULL;
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE', others, hosts);
  SELECT array_agg(event_id), array_agg(invitee_id), array_agg(inviter_id) INTO nodes, scopes, others FROM changed;
  PERFORM log_events(nodes, scopes, others);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_invitations IS
  'Logs invitations for inviter and invitee, and logs the event, which may appear or disappear for the invitee.';
CALL watch('invitation', '{added,edited,removed}', 'log_invitations');

CREATE OR REPLACE FUNCTION log_circles() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.id) INTO nodes, scopes
  FROM changed c, LATERAL (VALUES (c.id), (c.owner_id)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_circles IS 'Logs created and deleted circles, for members and owner.';
CALL watch('circle', '{added,removed}', 'log_circles');

CREATE OR REPLACE FUNCTION log_edited_scope() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_changes(ARRAY[NEW.id], ARRAY[NEW.id], false);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_edited_scope IS
  'Logs an edited node for its own scope: a circle for its members, an account for its owner.';
CREATE OR REPLACE TRIGGER log_edited
  AFTER UPDATE OF name, description, is_default, owner_id ON circle
  FOR EACH ROW EXECUTE FUNCTION log_edited_scope();

CREATE OR REPLACE FUNCTION log_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  members bigint[];
  gone boolean;
BEGIN
  SELECT array_agg(circle_id), array_agg(user_id) INTO nodes, scopes FROM changed;
  FOR nodes, scopes, members, gone IN
    SELECT array_agg(c.circle_id), array_agg(s.id), array_agg(s.member_id), o.id IS NULL
    FROM unnest(nodes, scopes) AS c(circle_id, user_id) LEFT JOIN circle o ON o.id = c.circle_id,
      LATERAL (VALUES (c.user_id, NULL), (CASE WHEN o.kind = 'GROUP' THEN o.id END,
        -- Of all whom nobody blocks, and who are still there, one row tells.
        CASE WHEN EXISTS (SELECT FROM hidden_user(c.user_id))
          OR NOT EXISTS (SELECT FROM app_user u WHERE u.id = c.user_id) THEN c.user_id END)) s(id, member_id)
    GROUP BY o.id IS NULL
  LOOP
    PERFORM log_changes(nodes, scopes, gone, members);
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_members IS
  'Logs a circle for users who join or leave it. Logs a group for its other members as well, because its members are '
  'part of it.';
CALL watch('circle_member', '{added,edited,removed}', 'log_members');

CREATE OR REPLACE FUNCTION log_said(ids bigint[], subject_ids bigint[], author_ids bigint[], gone boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  post_ids bigint[] := ARRAY(SELECT s.id FROM unnest(subject_ids) AS s(id) WHERE is_post(s.id));
  nodes bigint[];
  scopes bigint[];
  authors bigint[];
  hosts bigint[];
BEGIN
  SELECT array_agg(s.id), array_agg(s.scope_id), array_agg(s.author_id), array_agg(s.host_id)
  INTO nodes, scopes, authors, hosts FROM (
    SELECT c.id, s.scope_id, c.author_id,
      (SELECT p.author_id FROM post p WHERE p.id = c.subject_id) AS host_id
    FROM unnest(ids, subject_ids, author_ids) AS c(id, subject_id, author_id) CROSS JOIN LATERAL (
      SELECT c.author_id AS scope_id
      UNION SELECT c.subject_id WHERE is_circle(c.subject_id)
      UNION SELECT p.scope_id FROM post_scopes(post_ids) p WHERE p.post_id = c.subject_id) s) s;
  PERFORM log_changes(nodes, scopes, gone, authors, hosts);
END $$;
COMMENT ON FUNCTION log_said IS
  'Logs comments for their authors, and for the circle or the scopes of the post that they are on.';

CREATE OR REPLACE FUNCTION log_comments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_said(array_agg(c.id), array_agg(c.subject_id), array_agg(c.author_id), TG_OP = 'DELETE')
  FROM changed c;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_comments IS 'Logs new and deleted comments.';
CALL watch('comment', '{added,removed}', 'log_comments');

CREATE OR REPLACE FUNCTION log_edited_comment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_said(ARRAY[NEW.id], ARRAY[NEW.subject_id], ARRAY[NEW.author_id], false);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_edited_comment IS 'Logs an edited comment. Only edits by its author count, not reactions.';
CREATE OR REPLACE TRIGGER log_edited AFTER UPDATE OF body, updated_at ON comment
  FOR EACH ROW EXECUTE FUNCTION log_edited_comment();

CREATE OR REPLACE FUNCTION log_gone_posts(posts bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  authors bigint[];
  hosts bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.scope_id), array_agg(c.author_id), array_agg(p.author_id)
  INTO nodes, scopes, authors, hosts
  FROM post_scopes(posts) s JOIN post p ON p.id = s.post_id JOIN comment c ON c.subject_id = s.post_id;
  PERFORM log_changes(nodes, scopes, true, authors, hosts);
  SELECT array_agg(p.id), array_agg(s.id), array_agg(p.author_id) INTO nodes, scopes, authors
  FROM post p, LATERAL (SELECT a.user_id AS id FROM attendance a WHERE a.event_id = p.id
    UNION SELECT i.invitee_id FROM invitation i WHERE i.event_id = p.id) s
  WHERE p.id = ANY (posts) AND is_event(p.id)
    AND (s.id = p.author_id OR may_know_event(p.id, p.visibility, p.circle_id, s.id));
  PERFORM log_changes(nodes, scopes, true, authors);
  SELECT array_agg(i.id), array_agg(s.id), array_agg(s.other), array_agg(p.author_id)
  INTO nodes, scopes, authors, hosts
  FROM post p JOIN invitation i ON i.event_id = p.id,
    LATERAL (VALUES (i.inviter_id, i.invitee_id), (i.invitee_id, i.inviter_id)) s(id, other)
  WHERE p.id = ANY (posts) AND is_event(p.id)
    AND (s.id = p.author_id OR may_know_event(p.id, p.visibility, p.circle_id, s.id));
  PERFORM log_changes(nodes, scopes, true, authors, hosts);
END $$;
COMMENT ON FUNCTION log_gone_posts IS
  'Logs what is deleted with posts, for the users who could see it: comments, answered events, and invitations. Called '
  'before the deletion, because afterwards these users are unknown.';

CREATE OR REPLACE FUNCTION log_narrowed(old post, wanted visibility) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  losing bigint[] := ARRAY(
    SELECT s.id FROM (SELECT a.user_id AS id FROM attendance a WHERE a.event_id = old.id
      UNION SELECT i.invitee_id FROM invitation i WHERE i.event_id = old.id) s
    WHERE s.id <> old.author_id AND may_know_event(old.id, old.visibility, old.circle_id, s.id)
      AND NOT may_know_event(old.id, wanted, old.circle_id, s.id));
BEGIN
  PERFORM log_changes(array_agg(n.id), array_agg(s.id), true, array_agg(n.author_id), array_agg(n.host_id))
  FROM unnest(losing) AS s(id), LATERAL (
    SELECT old.id, old.author_id, NULL::bigint AS host_id
    UNION ALL SELECT c.id, c.author_id, old.author_id FROM comment c WHERE c.subject_id = old.id
    UNION ALL SELECT i.id, i.inviter_id, old.author_id FROM invitation i
      WHERE i.event_id = old.id AND i.invitee_id = s.id) n;
  -- Who reads a channel without belonging to it; for its members the edited event follows.
  IF old.visibility = 'PUBLIC' AND wanted = 'CIRCLE' THEN
    PERFORM log_changes(ARRAY[old.id], ARRAY[old.circle_id], true, ARRAY[old.author_id]);
  END IF;
END $$;
COMMENT ON FUNCTION log_narrowed IS
  'Logs an event, with its comments and their invitation, as deleted for the users who answered it or were invited and '
  'will not see it with its new visibility. Called before the change.';

CREATE OR REPLACE FUNCTION log_withdrawn(target invitation) RETURNS void LANGUAGE plpgsql AS $$
DECLARE event post;
BEGIN
  SELECT p.* INTO event FROM post p WHERE p.id = target.event_id;
  IF NOT FOUND OR may_know_event(event.id, event.visibility, event.circle_id, target.invitee_id) THEN RETURN; END IF;
  PERFORM log_changes(array_agg(n.id), array_agg(target.invitee_id), true, array_agg(n.author_id),
    array_agg(event.author_id))
  FROM (SELECT event.id, event.author_id UNION ALL SELECT target.id, target.inviter_id
    UNION ALL SELECT c.id, c.author_id FROM comment c WHERE c.subject_id = event.id) n;
END $$;
COMMENT ON FUNCTION log_withdrawn IS
  'Logs a private event, with its comments and the invitation that was taken back, as deleted for who was invited.';

CREATE OR REPLACE FUNCTION log_silenced() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_gone_posts(CASE TG_TABLE_NAME WHEN 'post' THEN ARRAY[OLD.id]
    ELSE ARRAY(SELECT p.id FROM post p WHERE p.circle_id = OLD.id AND is_event(p.id)) END);
  RETURN OLD;
END $$;
COMMENT ON FUNCTION log_silenced IS
  'Logs what is deleted with a post, or with the events of a circle, before its members are deleted.';
CREATE OR REPLACE TRIGGER log_silenced BEFORE DELETE ON post
  FOR EACH ROW EXECUTE FUNCTION log_silenced();
CREATE OR REPLACE TRIGGER log_silenced BEFORE DELETE ON circle
  FOR EACH ROW EXECUTE FUNCTION log_silenced();

CREATE OR REPLACE FUNCTION log_notifications() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  actors bigint[];
BEGIN
  SELECT array_agg(id), array_agg(recipient_id), array_agg(actor_id) INTO nodes, scopes, actors FROM changed;
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE', actors);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_notifications IS 'Logs notifications for their recipients.';
CALL watch('notification', '{added,edited,removed}', 'log_notifications');

CREATE OR REPLACE FUNCTION log_bookings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  sessions bigint[];
BEGIN
  SELECT array_agg(id), array_agg(user_id), array_agg(session_id)
  INTO nodes, scopes, sessions FROM changed;
  SELECT array_agg(b.id), array_agg(s.id) INTO nodes, scopes
  FROM unnest(nodes, scopes, sessions) AS b(id, user_id, session_id)
    LEFT JOIN class_session c ON c.id = b.session_id,
    LATERAL (VALUES (b.user_id), (c.trainer_id)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_bookings IS 'Logs bookings for the user who booked and for the trainer.';
CALL watch('booking', '{added,edited,removed}', 'log_bookings');

CREATE OR REPLACE FUNCTION log_moved_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(id), array_agg(user_id) INTO nodes, scopes
  FROM booking WHERE session_id = NEW.id AND cancelled_at IS NULL;
  PERFORM log_changes(nodes, scopes, false);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_moved_session IS 'Logs the bookings of a class session that moves, for the users who booked.';
CREATE OR REPLACE TRIGGER log_moved AFTER UPDATE OF starts_at, ends_at, trainer_id ON class_session
  FOR EACH ROW EXECUTE FUNCTION log_moved_session();

CREATE OR REPLACE TRIGGER log_edited
  AFTER UPDATE OF username, display_name, email, email_verified, bio, website, avatar_id, home_id,
    address, card_preference, roles ON app_user
  FOR EACH ROW EXECUTE FUNCTION log_edited_scope();

-- A token says up to which change everything is known: a byte for its version, xid and seq, and a seal over these and
-- the viewer, in base64url. Rows of transactions that may still be joined by older ones are left for later, so nothing
-- is skipped.

-- As in HMAC, what is hashed with one key is hashed again with another.
CREATE OR REPLACE FUNCTION token_seal(viewer bigint, body bytea) RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (SELECT substr(sha256(s.outer_key || sha256(s.inner_key || int8send(viewer) || body)), 1, 16)
    FROM token_secret s);
END $$;
COMMENT ON FUNCTION token_seal IS 'Returns 16 bytes that authenticate a token as issued to this viewer and unaltered.';

CREATE OR REPLACE FUNCTION change_token(viewer bigint, xid xid8, seq bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE body bytea := '\x02'::bytea || xid8send(xid) || int8send(seq);
BEGIN
  RETURN translate(encode(body || token_seal(viewer, body), 'base64'), '+/', '-_');
END $$;
COMMENT ON FUNCTION change_token IS 'Returns a token of changes for the viewer, in version 2.';

CREATE OR REPLACE FUNCTION read_change_token(viewer bigint, token text, OUT xid xid8, OUT seq bigint)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  bytes bytea;
  body bytea;
BEGIN
  -- Version 1 had no seal.
  IF token ~ '^[A-Za-z0-9_-]{23}$' THEN
    RAISE EXCEPTION 'The token is of another version; start anew without one.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  IF token ~ '^[A-Za-z0-9_-]{44}$' THEN
    bytes := decode(translate(token, '-_', '+/'), 'base64');
    body := substr(bytes, 1, 17);
  END IF;
  -- Hashes are compared, so that it takes as long wherever the seals differ.
  IF (sha256(substr(bytes, 18)) = sha256(token_seal(viewer, body))) IS NOT TRUE THEN
    RAISE EXCEPTION 'The token is not one that changes has given to this viewer; start anew without one.'
      USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
  END IF;
  IF get_byte(body, 0) <> 2 THEN
    RAISE EXCEPTION 'The token is of another version; start anew without one.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  xid := ('x' || encode(substr(body, 2, 8), 'hex'))::bit(64)::bigint::text::xid8;
  seq := ('x' || encode(substr(body, 10, 8), 'hex'))::bit(64)::bigint;
END $$;
COMMENT ON FUNCTION read_change_token IS
  'Returns the position in a token of changes. Fails with SG002 (BAD_USER_INPUT) if it was not issued to this viewer, '
  'and with SG001 (TOKEN_EXPIRED) if another version issued it.';

CREATE OR REPLACE FUNCTION tells(viewer bigint, node bigint, scope bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF is_event(node) AND scope = viewer THEN RETURN true; END IF;
  CASE node_table(node)
  WHEN 'post' THEN RETURN EXISTS (SELECT FROM visible_post(viewer) v WHERE v.id = node);
  WHEN 'comment' THEN RETURN EXISTS (SELECT FROM visible_comment(viewer) v WHERE v.id = node);
  WHEN 'invitation' THEN RETURN EXISTS (SELECT FROM visible_invitation(viewer) v WHERE v.id = node);
  WHEN 'notification' THEN RETURN EXISTS (SELECT FROM visible_notification(viewer) v WHERE v.id = node);
  ELSE RETURN true;
  END CASE;
END $$;
COMMENT ON FUNCTION tells IS
  'Returns whether the log may report to the viewer that a node is new or changed. False if it is hidden or deleted, '
  'except for events in the viewer''s scope and circles, which are reported as hidden.';

CREATE OR REPLACE FUNCTION changes_after(viewer bigint, since_xid xid8, since_seq bigint, until xid8, number int)
RETURNS TABLE (xid xid8, seq bigint, node_id bigint, deleted boolean)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  since_time timestamptz;
  scopes bigint[];
  -- Deletions in a circle matter to those who were in it.
  joined timestamptz[];
  hidden bigint[] := ARRAY(SELECT h.id FROM hidden_user(viewer) h
    UNION SELECT p.user_id FROM hidden_past p WHERE p.viewer_id = viewer);
BEGIN
  -- On days that were over before the token nothing is left to tell.
  SELECT coalesce((max(d.day) + 1)::timestamp AT TIME ZONE 'UTC', '-infinity') INTO since_time
  FROM change_day d WHERE d.last_xid <= since_xid;
  IF viewer = 0 THEN
    SELECT array_agg(c.id), array_agg('-infinity'::timestamptz) INTO scopes, joined
    FROM circle c WHERE c.is_default;
  ELSE
    SELECT viewer || array_agg(m.circle_id), '-infinity'::timestamptz || array_agg(m.joined_at) INTO scopes, joined
    FROM circle_member m WHERE m.user_id = viewer;
  END IF;
  RETURN QUERY SELECT c.xid, c.seq, c.node_id, c.deleted
  FROM unnest(scopes, joined) s(id, joined_at) CROSS JOIN LATERAL (
    SELECT * FROM change c
    WHERE c.scope_id = s.id AND (c.xid, c.seq) > (since_xid, since_seq) AND c.xid < until
      AND c.logged_at >= since_time AND c.logged_at < now() + interval '1 day'
      -- What a transaction says in two of the scopes is said once, on whichever page it began.
      AND NOT (c.xid = since_xid AND EXISTS (SELECT FROM change e
        WHERE e.scope_id = ANY (scopes) AND e.xid = since_xid AND e.seq <= since_seq
          AND e.logged_at >= since_time AND e.logged_at < now() + interval '1 day'
          AND e.node_id = c.node_id AND e.deleted = c.deleted))
      AND (c.people IS NULL OR NOT c.people && hidden)
      AND CASE WHEN c.deleted THEN c.logged_at >= s.joined_at ELSE tells(viewer, c.node_id, s.id) END
    ORDER BY c.xid, c.seq LIMIT number) c
  ORDER BY c.xid, c.seq LIMIT number;
END $$;
COMMENT ON FUNCTION changes_after IS
  'Returns the first changes after a position in the log and before a transaction, in the viewer''s own scope and '
  'circles (anonymous: default channels), as far as the viewer may know of them.';

CREATE OR REPLACE FUNCTION change_page(viewer bigint, since text, page int)
RETURNS TABLE (token text, has_more boolean, node_ids bigint[], operations text[])
LANGUAGE plpgsql STABLE ROWS 1 AS $$
DECLARE
  safe xid8 := pg_snapshot_xmin(pg_current_snapshot());
  wanted int := least(greatest(coalesce(page, 100), 0), 100);
  since_xid xid8;
  since_seq bigint;
  number int;
  last text;
BEGIN
  IF since IS NULL THEN
    RETURN QUERY SELECT change_token(viewer, safe, 0), false, '{}'::bigint[], '{}'::text[];
    RETURN;
  END IF;
  SELECT k.xid, k.seq INTO since_xid, since_seq FROM read_change_token(viewer, since) k;
  IF since_xid < (SELECT h.xid FROM change_horizon h) THEN
    RAISE EXCEPTION 'The token is too old; start anew without one.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  WITH found AS (
    SELECT row_number() OVER (ORDER BY c.xid, c.seq) AS number, c.*
    FROM changes_after(viewer, since_xid, since_seq, safe, wanted + 1) c)
  SELECT (SELECT count(*) FROM found),
    (SELECT change_token(viewer, f.xid, f.seq) FROM found f WHERE f.number = wanted),
    array_agg(n.node_id ORDER BY n.number),
    array_agg(CASE WHEN n.deleted THEN 'DELETE' ELSE 'UPSERT' END ORDER BY n.number)
  INTO number, last, node_ids, operations
  FROM (SELECT DISTINCT ON (f.node_id) f.node_id, f.deleted, f.number FROM found f
    WHERE f.number <= wanted ORDER BY f.node_id, f.number DESC) n;
  has_more := number > wanted;
  token := CASE WHEN has_more THEN coalesce(last, since)
    WHEN since_xid >= safe THEN since ELSE change_token(viewer, safe, 0) END;
  node_ids := coalesce(node_ids, '{}');
  operations := coalesce(operations, '{}');
  RETURN NEXT;
END $$;
COMMENT ON FUNCTION change_page IS
  'Returns the changes after a token, each node once, in its latest state. Without a token, only a new one. Fails with '
  'SG001 (TOKEN_EXPIRED) and SG002 (BAD_USER_INPUT); the detail is the code for clients.';

CREATE OR REPLACE FUNCTION change_hint(viewer bigint, told bigint, ended bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT change_token(viewer, pg_snapshot_xmin(pg_current_snapshot()), 0)
    FROM changes_after(viewer, told::text::xid8, 0, ended::text::xid8, 1) c);
END $$;
COMMENT ON FUNCTION change_hint IS
  'Returns a new token if the viewer may know of a change by one of the transactions from told to before ended, '
  'otherwise null: Subscription.changesAvailable.';
