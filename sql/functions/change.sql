-- What changed, for clients that keep a copy: changes(since:).

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
      format(' %s:%s:%s', n.node_id, n.scope_id, gone::int) AS saying
    FROM (SELECT u.node_id, u.scope_id,
        max(array_remove(ARRAY[u.author_id, u.host_id], NULL)) AS people
      FROM unnest(node_ids, scope_ids, author_ids, host_ids) AS u(node_id, scope_id, author_id, host_id)
      GROUP BY u.node_id, u.scope_id) n
    WHERE n.node_id IS NOT NULL AND n.scope_id IS NOT NULL),
  added AS (
    INSERT INTO change (node_id, scope_id, deleted, people)
    SELECT n.node_id, n.scope_id, gone, nullif(n.people, '{}') FROM news n
    WHERE strpos(said || ' ', n.saying || ' ') = 0
    ORDER BY n.node_id, n.scope_id)
  SELECT said || string_agg(n.saying, ''), array_agg(DISTINCT n.scope_id) INTO said, scopes FROM news n
  WHERE strpos(said || ' ', n.saying || ' ') = 0;
  PERFORM touch_nodes('change', scopes, scopes);
  IF length(said) < 4000 THEN PERFORM set_config('sociograph.logged', said, true); END IF;
END $$;
COMMENT ON FUNCTION log_changes IS
  'Logs each node for the scope beside it, unless this transaction has just said the same, with who '
  'wrote it and who wrote what it is on.';

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
        WHERE i.event_id = a.event_id AND i.invitee_id = a.user_id) END
  UNION SELECT i.event_id, i.invitee_id FROM invitation i JOIN post p ON p.id = i.event_id
    WHERE i.event_id = ANY (post_ids) AND i.status <> 'DECLINED'
      AND (p.visibility <> 'CIRCLE' OR EXISTS (SELECT FROM circle_member m
        WHERE m.circle_id = p.circle_id AND m.user_id = i.invitee_id))
$$;
COMMENT ON FUNCTION post_scopes IS
  'To whom a post matters: its author and its circle; an event also to those who are invited or '
  'said they might come.';

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
COMMENT ON FUNCTION log_edited_posts IS 'Logs that posts were edited, to whom they matter.';

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
COMMENT ON FUNCTION log_posts IS 'Logs posts that come and go.';
CALL watch('post', '{added,removed}', 'log_posts');

-- Whoever exchanges a post's photos, tags or regions also sets updated_at.
CREATE OR REPLACE FUNCTION log_edited_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_edited_posts(ARRAY[NEW.id]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_edited_post IS
  'Logs an edited post: what its author says counts, not the reactions to it.';
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
  'Logs posts whose parts were edited; the argument names their column.';
CALL watch('event', '{edited}', 'log_post_parts', 'post_id');
CALL watch('card_post', '{edited}', 'log_post_parts', 'post_id');
CALL watch('event_venue', '{added,edited,removed}', 'log_post_parts', 'event_id');

CREATE OR REPLACE FUNCTION log_events(events bigint[], people bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_changes(array_agg(c.event_id), array_agg(c.person), p.id IS NULL)
  FROM unnest(events, people) AS c(event_id, person) LEFT JOIN post p ON p.id = c.event_id
  WHERE c.event_id IS NOT NULL GROUP BY p.id IS NULL;
END $$;
COMMENT ON FUNCTION log_events IS
  'Logs each event to the person beside it, as different or, where its post went, as gone.';

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
  'Logs events to whoever answered: they look different to them.';
CALL watch('attendance', '{added,edited,removed}', 'log_attendance');

CREATE OR REPLACE FUNCTION log_invitations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.id) INTO nodes, scopes
  FROM changed c, LATERAL (VALUES (c.inviter_id), (c.invitee_id)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  SELECT array_agg(event_id), array_agg(invitee_id) INTO nodes, scopes FROM changed;
  PERFORM log_events(nodes, scopes);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_invitations IS
  'Logs invitations to both sides, and the event, which may appear or disappear for the invitee.';
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
COMMENT ON FUNCTION log_circles IS 'Logs circles that come and go, to members and owner.';
CALL watch('circle', '{added,removed}', 'log_circles');

CREATE OR REPLACE FUNCTION log_edited_scope() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_changes(ARRAY[NEW.id], ARRAY[NEW.id], false);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_edited_scope IS
  'Logs what was edited to itself: a circle to its members, an account to whoever owns it.';
CREATE OR REPLACE TRIGGER log_edited
  AFTER UPDATE OF name, description, is_default, owner_id ON circle
  FOR EACH ROW EXECUTE FUNCTION log_edited_scope();

CREATE OR REPLACE FUNCTION log_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  gone boolean;
BEGIN
  SELECT array_agg(circle_id), array_agg(user_id) INTO nodes, scopes FROM changed;
  FOR nodes, scopes, gone IN
    SELECT array_agg(c.circle_id), array_agg(s.id), o.id IS NULL
    FROM unnest(nodes, scopes) AS c(circle_id, user_id) LEFT JOIN circle o ON o.id = c.circle_id,
      LATERAL (VALUES (c.user_id), (CASE WHEN o.kind = 'GROUP' THEN o.id END)) s(id)
    GROUP BY o.id IS NULL
  LOOP
    PERFORM log_changes(nodes, scopes, gone);
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_members IS
  'Logs a circle to whoever joins or leaves; a group also to the rest, as it is its members.';
CALL watch('circle_member', '{added,edited,removed}', 'log_members');

CREATE OR REPLACE FUNCTION log_comments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  post_ids bigint[] := ARRAY(SELECT subject_id FROM changed WHERE subject_id & 240 = 16);
  nodes bigint[];
  scopes bigint[];
  authors bigint[];
  hosts bigint[];
BEGIN
  SELECT array_agg(s.id), array_agg(s.scope_id), array_agg(s.author_id), array_agg(s.host_id)
  INTO nodes, scopes, authors, hosts FROM (
    SELECT c.id, s.scope_id, c.author_id,
      (SELECT p.author_id FROM post p WHERE p.id = c.subject_id) AS host_id
    FROM changed c CROSS JOIN LATERAL (
      SELECT c.author_id AS scope_id
      UNION SELECT c.subject_id WHERE c.subject_id & 255 = 5
      UNION SELECT p.scope_id FROM post_scopes(post_ids) p WHERE p.post_id = c.subject_id) s) s;
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE', authors, hosts);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_comments IS
  'Logs comments, to the circle they are on or to whom their post matters, and to who wrote them.';
CALL watch('comment', '{added,removed}', 'log_comments');

CREATE OR REPLACE FUNCTION log_silenced_comments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  authors bigint[];
  hosts bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.scope_id), array_agg(c.author_id), array_agg(OLD.author_id)
  INTO nodes, scopes, authors, hosts
  FROM comment c, post_scopes(ARRAY[OLD.id]) s WHERE c.subject_id = OLD.id;
  PERFORM log_changes(nodes, scopes, true, authors, hosts);
  RETURN OLD;
END $$;
COMMENT ON FUNCTION log_silenced_comments IS
  'Logs that the comments on a post go with it, to whom the post mattered: later nobody knows.';
CREATE OR REPLACE TRIGGER log_silenced BEFORE DELETE ON post
  FOR EACH ROW EXECUTE FUNCTION log_silenced_comments();

CREATE OR REPLACE FUNCTION log_notifications() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(id), array_agg(recipient_id) INTO nodes, scopes FROM changed;
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION log_notifications IS 'Logs notifications, to their recipient.';
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
COMMENT ON FUNCTION log_bookings IS 'Logs bookings, to who booked and to the trainer.';
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
COMMENT ON FUNCTION log_moved_session IS
  'Logs the bookings of a session that moves, to who booked.';
CREATE OR REPLACE TRIGGER log_moved AFTER UPDATE OF starts_at, ends_at, trainer_id ON class_session
  FOR EACH ROW EXECUTE FUNCTION log_moved_session();

CREATE OR REPLACE TRIGGER log_edited
  AFTER UPDATE OF username, display_name, email, email_verified, bio, website, avatar_id, home_id,
    address, card_preference, roles ON app_user
  FOR EACH ROW EXECUTE FUNCTION log_edited_scope();

-- A token says up to which change everything is known: a byte for its version, xid and seq, in
-- base64url. Rows of transactions that may still be joined by older ones are left for later, so
-- nothing is skipped.

CREATE OR REPLACE FUNCTION change_token(xid xid8, seq bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rtrim(translate(
    encode('\x01'::bytea || xid8send(xid) || int8send(seq), 'base64'), '+/', '-_'), '=')
$$;
COMMENT ON FUNCTION change_token IS 'A token of changes, in version 1.';

CREATE OR REPLACE FUNCTION read_change_token(token text, OUT xid xid8, OUT seq bigint)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE bytes bytea;
BEGIN
  IF token !~ '^[A-Za-z0-9_-]{23}$' THEN
    RAISE EXCEPTION 'The token is not one that changes has given.'
      USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
  END IF;
  bytes := decode(translate(token, '-_', '+/') || '=', 'base64');
  IF get_byte(bytes, 0) <> 1 OR get_byte(bytes, 1) > 127 OR get_byte(bytes, 9) > 127 THEN
    RAISE EXCEPTION 'The token is of another version; start anew without one.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  xid := ('x' || encode(substr(bytes, 2, 8), 'hex'))::bit(64)::bigint::text::xid8;
  seq := ('x' || encode(substr(bytes, 10, 8), 'hex'))::bit(64)::bigint;
END $$;
COMMENT ON FUNCTION read_change_token IS
  'What a token of changes says. Fails with SG002 (BAD_USER_INPUT) when it is none, with SG001 '
  '(TOKEN_EXPIRED) when another version gave it.';

CREATE OR REPLACE FUNCTION tells(viewer bigint, node bigint, scope bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF node & 255 = 23 AND scope = viewer THEN RETURN true; END IF;
  IF node & 240 = 16 THEN
    RETURN EXISTS (SELECT FROM visible_post(viewer) v WHERE v.id = node);
  END IF;
  CASE node & 255
  WHEN 32 THEN RETURN EXISTS (SELECT FROM visible_comment(viewer) v WHERE v.id = node);
  WHEN 33 THEN RETURN EXISTS (SELECT FROM visible_invitation(viewer) v WHERE v.id = node);
  WHEN 50 THEN RETURN EXISTS (SELECT FROM visible_notification(viewer) v WHERE v.id = node);
  ELSE RETURN true;
  END CASE;
END $$;
COMMENT ON FUNCTION tells IS
  'Whether the log tells the viewer that a node is new or different: not when it is hidden, or gone by '
  'now. Of events in their own scope and of circles they are told that these are hidden from now on.';

CREATE OR REPLACE FUNCTION change_page(viewer bigint, since text, page int)
RETURNS TABLE (token text, has_more boolean, node_ids bigint[], operations text[])
LANGUAGE plpgsql STABLE ROWS 1 AS $$
DECLARE
  safe xid8 := pg_snapshot_xmin(pg_current_snapshot());
  fresh text := change_token(safe, 0);
  wanted int := least(greatest(coalesce(page, 100), 0), 100);
  since_xid xid8;
  since_seq bigint;
  since_time timestamptz;
  scopes bigint[];
  hidden bigint[] := ARRAY(SELECT h.id FROM hidden_user(viewer) h);
  number int;
  last text;
BEGIN
  IF since IS NULL THEN
    RETURN QUERY SELECT fresh, false, '{}'::bigint[], '{}'::text[];
    RETURN;
  END IF;
  SELECT k.xid, k.seq INTO since_xid, since_seq FROM read_change_token(since) k;
  IF since_xid < (SELECT h.xid FROM change_horizon h) THEN
    RAISE EXCEPTION 'The token is too old; start anew without one.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  -- On days that were over before the token nothing is left to tell.
  SELECT coalesce((max(d.day) + 1)::timestamp AT TIME ZONE 'UTC', '-infinity') INTO since_time
  FROM change_day d WHERE d.last_xid <= since_xid;
  scopes := CASE WHEN viewer = 0 THEN ARRAY(SELECT c.id FROM circle c WHERE c.is_default)
    ELSE viewer || ARRAY(SELECT m.circle_id FROM circle_member m WHERE m.user_id = viewer) END;
  WITH found AS (
    SELECT row_number() OVER (ORDER BY c.xid, c.seq) AS number, c.* FROM (
      SELECT c.xid, c.seq, c.node_id, c.deleted FROM unnest(scopes) s(id) CROSS JOIN LATERAL (
        SELECT * FROM change c
        WHERE c.scope_id = s.id AND (c.xid, c.seq) > (since_xid, since_seq) AND c.xid < safe
          AND c.logged_at >= since_time AND c.logged_at < now() + interval '1 day'
          -- What a transaction says in two of the scopes is said once, on whichever page it began.
          AND NOT (c.xid = since_xid AND EXISTS (SELECT FROM change e
            WHERE e.scope_id = ANY (scopes) AND e.xid = since_xid AND e.seq <= since_seq
              AND e.logged_at >= since_time AND e.logged_at < now() + interval '1 day'
              AND e.node_id = c.node_id AND e.deleted = c.deleted))
          AND (c.people IS NULL OR NOT c.people && hidden)
          AND (c.deleted OR tells(viewer, c.node_id, s.id))
        ORDER BY c.xid, c.seq LIMIT wanted + 1) c
      ORDER BY c.xid, c.seq LIMIT wanted + 1) c)
  SELECT (SELECT count(*) FROM found),
    (SELECT change_token(f.xid, f.seq) FROM found f WHERE f.number = wanted),
    array_agg(n.node_id ORDER BY n.number),
    array_agg(CASE WHEN n.deleted THEN 'DELETE' ELSE 'UPSERT' END ORDER BY n.number)
  INTO number, last, node_ids, operations
  FROM (SELECT DISTINCT ON (f.node_id) f.node_id, f.deleted, f.number FROM found f
    WHERE f.number <= wanted ORDER BY f.node_id, f.number DESC) n;
  has_more := number > wanted;
  token := CASE WHEN has_more THEN coalesce(last, since)
    WHEN since_xid >= safe THEN since ELSE fresh END;
  node_ids := coalesce(node_ids, '{}');
  operations := coalesce(operations, '{}');
  RETURN NEXT;
END $$;
COMMENT ON FUNCTION change_page IS
  'Changes after a token in the viewer''s own scope and circles (anonymous: default channels), '
  'each node once, as it was last. Without a token only a fresh one. Fails with SG001 '
  '(TOKEN_EXPIRED) and SG002 (BAD_USER_INPUT); the detail is the code for clients.';
