-- What changed, for clients that keep a copy: changes(since:).
--
-- A row: the node is new, different or gone, which matters in a scope: to the user with this id,
-- or to everyone in the circle with this id. Readers take the rows of their scopes in the order
-- (xid, seq), up to the oldest transaction still running: a transaction that commits late is still
-- to come for them, so nothing is missed. What a row tells of is subject to the node's own rule.
CREATE TABLE change (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  node_id bigint NOT NULL,
  deleted boolean NOT NULL DEFAULT false,
  scope_id bigint NOT NULL,
  logged_at timestamptz NOT NULL DEFAULT now());
-- changes
CREATE INDEX ON change (scope_id, xid, seq);
-- prune_changes
CREATE INDEX ON change USING brin (logged_at);

-- The one row: rows up to and including this transaction are no longer kept. A token whose
-- transaction is before it has expired.
CREATE TABLE change_horizon (
  xid xid8 NOT NULL,
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only));
INSERT INTO change_horizon VALUES ('0');

-- Forgets what is older than this, and gives the number of rows.
CREATE FUNCTION prune_changes(keep interval DEFAULT '30 days') RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  last_gone xid8;
  number bigint;
BEGIN
  SELECT xid INTO last_gone FROM change
  WHERE logged_at < now() - keep AND xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY xid DESC LIMIT 1;
  IF last_gone IS NULL THEN RETURN 0; END IF;
  UPDATE change_horizon SET xid = greatest(xid, last_gone);
  DELETE FROM change WHERE xid <= last_gone;
  GET DIAGNOSTICS number = ROW_COUNT;
  RETURN number;
END $$;

-- Logs each node for the scope beside it, unless this transaction has just said the same.
-- (Triggers hand over arrays, for the reason 0019_counter.sql gives.)
CREATE FUNCTION log_changes(node_ids bigint[], scope_ids bigint[], gone boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change (node_id, scope_id, deleted)
  SELECT DISTINCT n.node_id, n.scope_id, gone
  FROM unnest(node_ids, scope_ids) AS n(node_id, scope_id)
  WHERE n.node_id IS NOT NULL AND n.scope_id IS NOT NULL AND (
    SELECT c.deleted FROM change c
    WHERE c.scope_id = n.scope_id AND c.xid = pg_current_xact_id() AND c.node_id = n.node_id
    ORDER BY c.seq DESC LIMIT 1) IS DISTINCT FROM gone
  ORDER BY n.node_id, n.scope_id;
END $$;

-- To whom a post matters: its author and its circle; an event also to those who are invited or
-- said they might come.
CREATE FUNCTION post_scopes(post_ids bigint[]) RETURNS TABLE (post_id bigint, scope_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT id, author_id FROM post WHERE id = ANY (post_ids)
  UNION SELECT id, circle_id FROM post WHERE id = ANY (post_ids) AND circle_id IS NOT NULL
  UNION SELECT event_id, user_id FROM attendance
    WHERE event_id = ANY (post_ids) AND status <> 'NOT_GOING'
  UNION SELECT event_id, invitee_id FROM invitation
    WHERE event_id = ANY (post_ids) AND status <> 'DECLINED'
$$;

CREATE FUNCTION log_edited_posts(post_ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(s.post_id), array_agg(s.scope_id) INTO nodes, scopes
  FROM post_scopes(post_ids) s;
  PERFORM log_changes(nodes, scopes, false);
END $$;

-- Posts come and go.
CREATE FUNCTION log_posts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.id) INTO nodes, scopes
  FROM changed c, LATERAL (VALUES (c.author_id), (c.circle_id)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
CALL watch('post', '{added,removed}', 'log_posts');

-- A post is edited. Only what its author says counts, not the reactions to it; whoever exchanges
-- its photos, tags or regions also sets updated_at.
CREATE FUNCTION log_edited_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_edited_posts(ARRAY[NEW.id]);
  RETURN NULL;
END $$;
CREATE TRIGGER log_edited AFTER UPDATE OF body, location_id, visibility, updated_at ON post
  FOR EACH ROW EXECUTE FUNCTION log_edited_post();

-- So are the rows that belong to it; the argument names their column.
CREATE FUNCTION log_post_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE post_ids bigint[];
BEGIN
  EXECUTE format('SELECT array_agg(DISTINCT %I) FROM changed', TG_ARGV[0]) INTO post_ids;
  PERFORM log_edited_posts(post_ids);
  RETURN NULL;
END $$;
CALL watch('event', '{edited}', 'log_post_parts', 'post_id');
CALL watch('card_post', '{edited}', 'log_post_parts', 'post_id');
CALL watch('event_venue', '{added,edited,removed}', 'log_post_parts', 'event_id');

-- Attendance: the event looks different to whoever answered.
CREATE FUNCTION log_attendance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  gone boolean;
BEGIN
  SELECT array_agg(event_id), array_agg(user_id) INTO nodes, scopes FROM changed;
  FOR nodes, scopes, gone IN
    SELECT array_agg(c.event_id), array_agg(c.user_id), p.id IS NULL
    FROM unnest(nodes, scopes) AS c(event_id, user_id) LEFT JOIN post p ON p.id = c.event_id
    GROUP BY p.id IS NULL
  LOOP
    PERFORM log_changes(nodes, scopes, gone);
  END LOOP;
  RETURN NULL;
END $$;
CALL watch('attendance', '{added,edited,removed}', 'log_attendance');

-- Invitations, to both sides; the event may appear or disappear for whoever is invited.
CREATE FUNCTION log_invitations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
  gone boolean;
BEGIN
  SELECT array_agg(c.id), array_agg(s.id) INTO nodes, scopes
  FROM changed c, LATERAL (VALUES (c.inviter_id), (c.invitee_id)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  SELECT array_agg(event_id), array_agg(invitee_id) INTO nodes, scopes
  FROM changed WHERE event_id IS NOT NULL;
  FOR nodes, scopes, gone IN
    SELECT array_agg(c.event_id), array_agg(c.invitee_id), p.id IS NULL
    FROM unnest(nodes, scopes) AS c(event_id, invitee_id) LEFT JOIN post p ON p.id = c.event_id
    GROUP BY p.id IS NULL
  LOOP
    PERFORM log_changes(nodes, scopes, gone);
  END LOOP;
  RETURN NULL;
END $$;
CALL watch('invitation', '{added,edited,removed}', 'log_invitations');

-- Circles, to their members; their owners see them go.
CREATE FUNCTION log_circles() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(c.id), array_agg(s.id) INTO nodes, scopes
  FROM changed c, LATERAL (VALUES (c.id), (c.owner_id)) s(id);
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
CALL watch('circle', '{added,removed}', 'log_circles');
CREATE FUNCTION log_edited_circle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_changes(ARRAY[NEW.id], ARRAY[NEW.id], false);
  RETURN NULL;
END $$;
CREATE TRIGGER log_edited AFTER UPDATE OF name, description, is_default, owner_id ON circle
  FOR EACH ROW EXECUTE FUNCTION log_edited_circle();

-- Memberships: the circle looks different to whoever joins or leaves and, because a group is its
-- members, to the rest of a group. (A channel is not told of each subscriber.)
CREATE FUNCTION log_members() RETURNS trigger LANGUAGE plpgsql AS $$
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
CALL watch('circle_member', '{added,edited,removed}', 'log_members');

-- Comments, to the circle they are on or to whom their post matters, and to who wrote them.
CREATE FUNCTION log_comments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  post_ids bigint[] := ARRAY(SELECT subject_id FROM changed WHERE subject_id & 240 = 16);
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(s.id), array_agg(s.scope_id) INTO nodes, scopes FROM (
    SELECT c.id, c.author_id AS scope_id FROM changed c
    UNION SELECT c.id, c.subject_id FROM changed c WHERE c.subject_id & 255 = 5
    UNION SELECT c.id, p.scope_id FROM changed c
      JOIN post_scopes(post_ids) p ON p.post_id = c.subject_id) s;
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
CALL watch('comment', '{added,removed}', 'log_comments');

-- Notifications, to their recipient.
CREATE FUNCTION log_notifications() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(id), array_agg(recipient_id) INTO nodes, scopes FROM changed;
  PERFORM log_changes(nodes, scopes, TG_OP = 'DELETE');
  RETURN NULL;
END $$;
CALL watch('notification', '{added,edited,removed}', 'log_notifications');

-- Bookings, to who booked and to the trainer; also when the session moves.
CREATE FUNCTION log_bookings() RETURNS trigger LANGUAGE plpgsql AS $$
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
CALL watch('booking', '{added,edited,removed}', 'log_bookings');
CREATE FUNCTION log_moved_session() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  nodes bigint[];
  scopes bigint[];
BEGIN
  SELECT array_agg(id), array_agg(user_id) INTO nodes, scopes
  FROM booking WHERE session_id = NEW.id AND cancelled_at IS NULL;
  PERFORM log_changes(nodes, scopes, false);
  RETURN NULL;
END $$;
CREATE TRIGGER log_moved AFTER UPDATE OF starts_at, ends_at, trainer_id ON class_session
  FOR EACH ROW EXECUTE FUNCTION log_moved_session();

-- The account itself, to whoever owns it.
CREATE FUNCTION log_edited_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM log_changes(ARRAY[NEW.id], ARRAY[NEW.id], false);
  RETURN NULL;
END $$;
CREATE TRIGGER log_edited AFTER UPDATE OF username, display_name, email, email_verified, bio,
  website, avatar_id, home_id, address, card_preference, roles ON app_user
  FOR EACH ROW EXECUTE FUNCTION log_edited_user();
