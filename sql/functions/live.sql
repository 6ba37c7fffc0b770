-- What is told to those who watch: subscriptions. Functions that change something say so by touch_nodes, or by a
-- trigger that does; news_since is what servers read.

-- What was touched is kept in a setting of the transaction until its end, and goes with what is rolled back. A
-- statement with many rows writes at once.
CREATE OR REPLACE FUNCTION touch_nodes(topic text, keys bigint[], nodes bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  said text := coalesce(current_setting('sociograph.touched', true), '');
  word text;
BEGIN
  IF cardinality(nodes) + length(said) / 16 > 100 THEN
    INSERT INTO touch (news)
    SELECT string_agg(w.word, ' ') FROM (
      SELECT d.word, row_number() OVER () / 100 AS part FROM (
        SELECT DISTINCT touch_nodes.topic || ':' || u.key
          || CASE WHEN u.key <> u.node THEN ':' || u.node ELSE '' END AS word
        FROM unnest(keys, nodes) AS u(key, node)
        WHERE u.key IS NOT NULL AND u.node IS NOT NULL) d) w
    GROUP BY w.part;
    RETURN;
  END IF;
  FOR i IN 1 .. coalesce(cardinality(nodes), 0) LOOP
    word := topic || ':' || keys[i] || CASE WHEN keys[i] <> nodes[i] THEN ':' || nodes[i] ELSE '' END;
    CONTINUE WHEN keys[i] IS NULL OR nodes[i] IS NULL
      OR strpos(' ' || said || ' ', ' ' || word || ' ') > 0;
    IF said = '' THEN
      INSERT INTO touching (xid) VALUES (pg_current_xact_id());
      said := word;
    ELSE
      said := said || ' ' || word;
    END IF;
  END LOOP;
  PERFORM set_config('sociograph.touched', said, true);
END $$;
COMMENT ON FUNCTION touch_nodes IS
  'Records that nodes changed, for the subscribers of a topic under the keys at the same positions.';

-- A transaction that is still open when others commit is not passed over: its rows are not visible in `since`.
CREATE OR REPLACE FUNCTION news_since(since pg_snapshot)
RETURNS TABLE (topic text, key bigint, node bigint, xid xid8)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (SELECT FROM touch_mark m WHERE m.is_past AND (
      pg_snapshot_xmax(m.snapshot) > pg_snapshot_xmax(since)
      OR EXISTS (SELECT FROM pg_snapshot_xip(since) x(id)
        WHERE x.id < pg_snapshot_xmax(m.snapshot) AND pg_visible_in_snapshot(x.id, m.snapshot)))) THEN
    RAISE EXCEPTION 'Some of what happened since is forgotten.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  RETURN QUERY SELECT DISTINCT t.topic, t.key, t.node, t.xid FROM touched t
    WHERE t.xid >= pg_snapshot_xmin(since) AND NOT pg_visible_in_snapshot(t.xid, since)
    ORDER BY t.node, t.xid, t.topic, t.key;
END $$;
COMMENT ON FUNCTION news_since IS
  'Returns what was touched by transactions committed since a snapshot, without duplicates, in the order of node IDs. '
  'Fails with SG001 if a part of it is deleted.';

CREATE OR REPLACE FUNCTION forget_touches(keep interval DEFAULT '1 minute') RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  mark touch_mark;
  number bigint := 0;
BEGIN
  SELECT m.* INTO mark FROM touch_mark m WHERE m.at < now() - keep ORDER BY m.at DESC LIMIT 1;
  -- Of what is past already nothing is left.
  IF FOUND AND NOT mark.is_past THEN
    -- First, so that nobody reads what is forgotten in between: both are seen at once.
    DELETE FROM touch_mark m WHERE m.at <= mark.at;
    INSERT INTO touch_mark (snapshot, at, is_past) VALUES (mark.snapshot, mark.at, true);
    -- What it has not seen either stays.
    PERFORM fold_counts();
    DELETE FROM touch t
    WHERE t.xid < pg_snapshot_xmax(mark.snapshot) AND pg_visible_in_snapshot(t.xid, mark.snapshot)
      AND pg_visible_in_snapshot(t.xid, (SELECT f.snapshot FROM fold_mark f));
    GET DIAGNOSTICS number = ROW_COUNT;
  END IF;
  INSERT INTO touch_mark (snapshot) SELECT pg_current_snapshot() WHERE EXISTS (SELECT FROM touch);
  DELETE FROM touching;
  RETURN number;
END $$;
COMMENT ON FUNCTION forget_touches IS
  'Deletes touches older than this, and returns their number. Servers read them every second.';

-- An address is read by its owner, and by whoever is to send something there.
CREATE OR REPLACE FUNCTION touch_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE cards bigint[];
BEGIN
  PERFORM touch_nodes('account', ARRAY[NEW.id], ARRAY[NEW.id]);
  IF NEW.address IS DISTINCT FROM OLD.address THEN
    cards := ARRAY(SELECT f.id FROM follow_up f WHERE f.recipient_id = NEW.id AND f.state = 'OPEN');
    PERFORM touch_nodes('node', cards, cards);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_account IS
  'Touches an account for its owner when its private details changed, and open follow-ups when its address changed.';
CREATE OR REPLACE TRIGGER touch_account AFTER UPDATE OF email, email_verified, address ON app_user
  FOR EACH ROW WHEN ((OLD.email, OLD.email_verified, OLD.address)
    IS DISTINCT FROM (NEW.email, NEW.email_verified, NEW.address))
  EXECUTE FUNCTION touch_account();

CREATE OR REPLACE FUNCTION touch_made_posts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('post', array_agg(0::bigint), array_agg(c.id)) FROM changed c;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_made_posts IS 'Touches new posts, for the subscribers of posts.';
CALL watch('post', '{added}', 'touch_made_posts');

CREATE OR REPLACE FUNCTION touch_made_comments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('comment', array_agg(c.subject_id), array_agg(c.id)) FROM changed c;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_made_comments IS 'Touches new comments, for the subscribers of their subjects.';
CALL watch('comment', '{added}', 'touch_made_comments');

CREATE OR REPLACE FUNCTION touch_made_messages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('message', array_agg(m.user_id), array_agg(c.id))
  FROM changed c JOIN conversation_member m ON m.conversation_id = c.conversation_id
  WHERE NOT EXISTS (SELECT FROM hidden_user(m.user_id) h WHERE h.id = c.author_id);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_made_messages IS 'Touches new messages, for the participants who may see them.';
CALL watch('message', '{added}', 'touch_made_messages');

CREATE OR REPLACE FUNCTION touch_made_notifications() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('notification', array_agg(c.recipient_id), array_agg(c.id)) FROM changed c;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_made_notifications IS 'Touches new notifications, for their recipients.';
CALL watch('notification', '{added}', 'touch_made_notifications');

-- Keys below zero are those of an audience: of what only some of those who watch a node may learn. A subscription that
-- is notified under one asks for its keys again, because the audience may be another one by then.
CREATE OR REPLACE FUNCTION pair_key(viewer bigint, node bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (hashint8extended(node, viewer) | '-9223372036854775808'::bigint) & -256
$$;
COMMENT ON FUNCTION pair_key IS 'Returns the key of touches of a node that only this viewer receives.';

CREATE OR REPLACE FUNCTION verdict_key(post bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT pair_key(0, post)
$$;
COMMENT ON FUNCTION verdict_key IS
  'Returns the key of touches that only the users who may see the verdict of a post receive.';

CREATE OR REPLACE FUNCTION node_keys(viewer bigint, node bigint) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE keys bigint[] := ARRAY[node];
BEGIN
  IF viewer = 0 THEN RETURN keys; END IF;
  keys := keys || pair_key(viewer, node);
  IF is_votable(node) AND (EXISTS (SELECT FROM vote v WHERE v.post_id = node AND v.user_id = viewer)
      OR EXISTS (SELECT FROM post p WHERE p.id = node AND p.author_id = viewer)) THEN
    keys := keys || verdict_key(node);
  END IF;
  RETURN keys;
END $$;
COMMENT ON FUNCTION node_keys IS
  'Returns the keys of the touches of a node that the viewer may learn of: Subscription.nodeChanged.';

CREATE OR REPLACE FUNCTION touch_blocks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('block', array_agg(s.id), array_agg(s.other)),
    touch_nodes('node', array_agg(pair_key(s.id, s.other)), array_agg(pair_key(s.id, s.other)))
  FROM changed c, LATERAL (VALUES (c.blocker_id, c.blocked_id), (c.blocked_id, c.blocker_id)) s(id, other);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_blocks IS 'Touches two users, only for each other, when one blocked or unblocked the other.';
CALL watch('block', '{added,removed}', 'touch_blocks');

CREATE OR REPLACE FUNCTION touch_votes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('node', array_agg(pair_key(c.user_id, c.post_id)), array_agg(pair_key(c.user_id, c.post_id)))
  FROM changed c;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_votes IS 'Touches a post for a voter, because the vote makes the verdict visible.';
CALL watch('vote', '{added,removed}', 'touch_votes');

-- Servers close the sockets of sessions that ended; the role that notes uses of sessions may do nothing
-- else, so this is done as the owner.
CREATE OR REPLACE FUNCTION touch_ended_session() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM touch_nodes('session', ARRAY[OLD.user_id], ARRAY[OLD.user_id]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_ended_session IS 'Touches the user of a session that ended or will end sooner.';
CREATE OR REPLACE TRIGGER touch_ended AFTER DELETE ON session
  FOR EACH ROW EXECUTE FUNCTION touch_ended_session();
CREATE OR REPLACE TRIGGER touch_shortened AFTER UPDATE OF expires_at ON session
  FOR EACH ROW WHEN (NEW.expires_at < OLD.expires_at) EXECUTE FUNCTION touch_ended_session();

CREATE OR REPLACE TRIGGER touch_unlinked AFTER DELETE ON identity
  FOR EACH ROW EXECUTE FUNCTION touch_ended_session();

-- Whoever is suspended may be signed in by the token of another issuer, and a stream that began with a role is not to
-- go on without it.
CREATE OR REPLACE FUNCTION touch_rights() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.suspended_until IS DISTINCT FROM OLD.suspended_until THEN
    PERFORM touch_nodes('session', ARRAY[NEW.id], ARRAY[NEW.id]);
  END IF;
  IF NOT OLD.roles <@ NEW.roles THEN
    PERFORM touch_nodes('rights', ARRAY[NEW.id], ARRAY[NEW.id]);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_rights IS
  'Touches a user who is suspended, so that servers look at their sessions, and one who lost a role, so that servers '
  'end their sockets and streams.';
CREATE OR REPLACE TRIGGER touch_rights AFTER UPDATE OF roles, suspended_until ON app_user
  FOR EACH ROW WHEN (NOT OLD.roles <@ NEW.roles OR NEW.suspended_until IS DISTINCT FROM OLD.suspended_until)
  EXECUTE FUNCTION touch_rights();

-- What a query reads can be live as far as somebody says how changes of it are told: CALL told, and what calls it.
CREATE OR REPLACE VIEW live_source AS
SELECT t.relation, t.attribute, string_to_array(t.topics, ' ') AS topics,
  CASE WHEN t.nouns IS NOT NULL THEN ARRAY(SELECT n.tag FROM noun n
    WHERE n.mask = 255 AND (n.name = ANY (t.nouns) OR n.kind_of = ANY (t.nouns)) ORDER BY n.tag) END AS tags,
  t.is_node, t.is_own
FROM told t;
COMMENT ON VIEW live_source IS
  'One way in which changes of a table are reported: touches of these topics, about nodes with these tags. With a '
  'column, its values are the keys of the touches, or their nodes (is_node). With is_own, the touches are only for the '
  'viewer with that ID. Without topics, changes are not reported.';
