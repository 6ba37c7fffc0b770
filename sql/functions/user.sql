-- People: who sees them, their roles, and copies of their names.

CALL node('user', 1, relation => 'app_user', owner => 'id', path => '/users/', flaggable => true,
  changes => '{username,display_name,bio,website,avatar_id,home_id,card_preference,roles,suspended_until}',
  sought => $$t.name_key || ' ' || t.username$$);
CALL tell('user_ships_to', 'user_ships_to', 'location_id', '{user_id}');
-- The names in it; that it is there is told by the counts of both.
CALL watch('follow', '{edited}', 'touch_changed', 'followee_id');
CALL told('follow', 'node', '{follower_id,followee_id}', '{user}');
CALL told('block', 'block', '{blocker_id,blocked_id}');
-- with the block
CALL told('hidden', 'block', '{viewer_id,user_id}');

CREATE OR REPLACE FUNCTION is_staff(roles text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN 'STAFF' = ANY (roles);
COMMENT ON FUNCTION is_staff IS 'Returns whether the roles include STAFF.';

CREATE OR REPLACE FUNCTION staff(viewer bigint) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT u.id FROM app_user u WHERE u.id = viewer AND is_staff(u.roles)
$$;
COMMENT ON FUNCTION staff IS 'Returns the viewer''s ID if the viewer is staff, otherwise no row.';

CREATE OR REPLACE FUNCTION hidden_user(viewer bigint) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT h.user_id FROM hidden h WHERE h.viewer_id = viewer
$$;
COMMENT ON FUNCTION hidden_user IS
  'Returns the users hidden from the viewer, because one of the two blocks the other. Usually empty.';

CREATE OR REPLACE FUNCTION visible_user(viewer bigint) RETURNS SETOF app_user
LANGUAGE sql STABLE AS $$
  SELECT u.* FROM exact_app_user() u
  WHERE u.id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
$$;
COMMENT ON FUNCTION visible_user IS 'Returns the users that the viewer may see: all but those hidden by a block.';

CREATE OR REPLACE FUNCTION named_user(viewer bigint) RETURNS SETOF app_user
LANGUAGE sql STABLE AS $$
  SELECT u.id, u.username, u.display_name, u.name_key,
    CASE WHEN is_hidden THEN NULL ELSE u.email END,
    CASE WHEN is_hidden THEN false ELSE u.email_verified END,
    CASE WHEN is_hidden THEN '' ELSE u.bio END,
    CASE WHEN is_hidden THEN NULL ELSE u.website END,
    u.avatar_id,
    CASE WHEN is_hidden THEN NULL ELSE u.home_id END,
    CASE WHEN is_hidden THEN NULL ELSE u.address END,
    CASE WHEN is_hidden THEN NULL ELSE u.card_preference END,
    CASE WHEN is_hidden THEN '{MEMBER}' ELSE u.roles END,
    CASE WHEN is_hidden THEN NULL ELSE u.suspended_until END,
    CASE WHEN is_hidden THEN 0 ELSE u.follower_count END,
    CASE WHEN is_hidden THEN 0 ELSE u.following_count END,
    CASE WHEN is_hidden THEN 0 ELSE u.thank_you_score END,
    u.is_hot,
    CASE WHEN is_hidden THEN 'epoch' ELSE u.joined_at END
  FROM exact_app_user() u CROSS JOIN LATERAL (
    SELECT u.id IN (SELECT h.id FROM hidden_user(viewer) h) AS is_hidden) m
$$;
COMMENT ON FUNCTION named_user IS 'Returns all users. For those hidden by a block, only the name and the picture.';

-- A page of the best matches costs what a page is, however common a name: of all who match, 300 are ranked. Where
-- there are more, a hundred whose name begins so and a hundred whose username does are ranked, too.
--
-- A place is the rank, and behind it the number of followers that the viewer may know of, so that neither the order nor
-- a cursor tells of others. direction: 1 from the best one on, -1 from the last.
CREATE OR REPLACE FUNCTION found_user(viewer bigint, words text, part text, direction int, page int,
  edge_place bigint, edge_id bigint)
RETURNS TABLE (id bigint, place bigint) LANGUAGE sql STABLE AS $$
  WITH wanted AS MATERIALIZED (
    SELECT btrim(folded(left(words, 1000))) AS term, prefix_query(words) AS query),
  matching AS MATERIALIZED (
    SELECT u.id, u.name_key, u.username, u.follower_count FROM app_user u
    WHERE name_vector(u.name_key || ' ' || u.username) @@ (SELECT w.query FROM wanted w)
      AND (part IS NULL OR part = 'MEMBER' OR u.roles @> ARRAY[part] AND u.roles <> '{MEMBER}')
    LIMIT CASE WHEN part IS NULL OR part = 'MEMBER' THEN 300 END),
  -- the first by an index, those of them that begin so
  beginning AS MATERIALIZED (
    SELECT b.* FROM (
      SELECT u.id, u.name_key, u.username, u.follower_count FROM app_user u
      WHERE (SELECT count(*) FROM matching) = 300 AND u.name_key >= (SELECT w.term FROM wanted w)
      ORDER BY u.name_key, u.id LIMIT 100) b
    WHERE starts_with(b.name_key, (SELECT w.term FROM wanted w))
    UNION ALL
    SELECT b.* FROM (
      SELECT u.id, u.name_key, u.username, u.follower_count FROM app_user u
      WHERE (SELECT count(*) FROM matching) = 300 AND lower(u.username) >= (SELECT w.term FROM wanted w)
      ORDER BY lower(u.username) LIMIT 100) b
    WHERE starts_with(lower(b.username), (SELECT w.term FROM wanted w))),
  ranked AS (
    SELECT c.id, (CASE WHEN lower(c.username) = w.term THEN 0 WHEN c.name_key = w.term THEN 1
        WHEN starts_with(lower(c.username), w.term) OR starts_with(c.name_key, w.term) THEN 2 ELSE 3 END * 2
      + CASE WHEN c.id IN (SELECT f.followee_id FROM follow f WHERE f.follower_id = viewer) THEN 0 ELSE 1 END
      + 1) * 4294967296 - c.follower_count
      + CASE WHEN EXISTS (SELECT FROM hidden_user(viewer)) THEN hidden_followers(viewer, c.id) ELSE 0 END AS place
    FROM (SELECT m.* FROM matching m UNION SELECT b.* FROM beginning b) c CROSS JOIN wanted w
    WHERE name_vector(c.name_key || ' ' || c.username) @@ w.query
      AND (part IS NULL OR part = 'MEMBER'
        OR EXISTS (SELECT FROM app_user r WHERE r.id = c.id AND r.roles @> ARRAY[part]))
      AND c.id NOT IN (SELECT h.id FROM hidden_user(viewer) h))
  SELECT r.id, r.place FROM ranked r
  WHERE edge_place IS NULL OR (direction * r.place, direction * r.id) > (direction * edge_place, direction * edge_id)
  ORDER BY direction * r.place, direction * r.id LIMIT page
$$;
COMMENT ON FUNCTION found_user IS
  'Returns the users who match all words, best match first: the username itself, the name itself, names that begin so, '
  'any word. Among equals, those whom the viewer follows come first, then those with most followers whom the viewer '
  'may see.';

CREATE OR REPLACE FUNCTION set_user_roles(viewer bigint, person bigint, wanted text[])
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  kept text[] := ARRAY(SELECT DISTINCT r.role FROM unnest(wanted || 'MEMBER'::text) AS r(role)
    ORDER BY r.role);
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  IF NOT EXISTS (SELECT FROM app_user u WHERE u.id = person) THEN
    PERFORM refuse('NOT_FOUND', 'userId');
  END IF;
  IF NOT is_staff(kept) THEN
    -- one at a time, so that two do not each leave it to the other
    PERFORM FROM app_user u WHERE is_staff(u.roles) ORDER BY u.id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM app_user u WHERE u.id = person AND is_staff(u.roles))
      AND NOT EXISTS (SELECT FROM app_user u WHERE u.id <> person AND is_staff(u.roles)) THEN
      PERFORM refuse('FORBIDDEN', 'roles');
    END IF;
  END IF;
  UPDATE app_user u SET roles = kept WHERE u.id = person AND u.roles <> kept;
  PERFORM audit(viewer, 'SET_ROLES', person, array_to_string(kept, ','));
  RETURN person;
END $$;
COMMENT ON FUNCTION set_user_roles IS
  'Implements Mutation.setUserRoles. MEMBER is always included. The last staff member remains staff.';

CREATE OR REPLACE FUNCTION change_roles(name text, added text[], removed text[])
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  known text[] := '{MEMBER,TRAINER,STAFF,SERVICE}';
  person app_user;
  kept text[];
BEGIN
  IF NOT added || removed <@ known THEN
    RAISE EXCEPTION USING ERRCODE = 'SG100',
      MESSAGE = format('There is no role %s; the roles are %s.',
        (SELECT string_agg(r.role, ', ') FROM unnest(added || removed) AS r(role)
          WHERE r.role <> ALL (known)), array_to_string(known, ', '));
  END IF;
  PERFORM FROM app_user u WHERE is_staff(u.roles) OR lower(u.username) = lower(name)
  ORDER BY u.id FOR NO KEY UPDATE;
  SELECT u.* INTO person FROM app_user u WHERE lower(u.username) = lower(name);
  IF NOT FOUND THEN RETURN NULL; END IF;
  kept := ARRAY(SELECT DISTINCT r.role FROM unnest(person.roles || added || '{MEMBER}'::text[]) AS r(role)
    WHERE r.role = 'MEMBER' OR r.role <> ALL (removed) ORDER BY r.role);
  IF is_staff(person.roles) AND NOT is_staff(kept)
    AND NOT EXISTS (SELECT FROM app_user u WHERE u.id <> person.id AND is_staff(u.roles)) THEN
    RAISE EXCEPTION USING ERRCODE = 'SG100',
      MESSAGE = 'The last of the staff stays staff; make somebody else staff first.';
  END IF;
  IF kept <> person.roles THEN
    UPDATE app_user u SET roles = kept WHERE u.id = person.id;
    PERFORM audit(NULL, 'SET_ROLES', person.id, array_to_string(kept, ','));
  END IF;
  RETURN kept;
END $$;
COMMENT ON FUNCTION change_roles IS
  'Adds and removes roles of a user, for the owner of the database, and returns the resulting roles. Null if there is '
  'no user with this name. For `sociograph user role`.';

-- Who a tool acts for when it is told a name instead of a session.
CREATE OR REPLACE FUNCTION viewer_named(name text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT id FROM app_user WHERE lower(username) = lower(name));
END $$;
COMMENT ON FUNCTION viewer_named IS
  'Returns the ID of the user with this username. Null if there is none. For `sociograph explain --viewer`.';

-- Whoever adds such a row holds the user's name until the transaction ends, with all others who do; who
-- renames the user waits for them (update_profile). So no row is added with a name that is being replaced.
CREATE OR REPLACE FUNCTION name_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'follow' THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('name', NEW.follower_id));
    NEW.follower_name := coalesce(
      (SELECT u.name_key FROM app_user u WHERE u.id = NEW.follower_id), '');
  ELSE
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('name', NEW.user_id));
    NEW.name_key := coalesce((SELECT u.name_key FROM app_user u WHERE u.id = NEW.user_id), '');
  END IF;
  RETURN NEW;
END $$;
COMMENT ON FUNCTION name_row IS
  'Sets the name that a list is ordered by. The foreign key ensures that the user exists.';
CREATE OR REPLACE TRIGGER name_row BEFORE INSERT ON follow
  FOR EACH ROW EXECUTE FUNCTION name_row();
CREATE OR REPLACE TRIGGER name_row BEFORE INSERT ON circle_member
  FOR EACH ROW EXECUTE FUNCTION name_row();

CREATE OR REPLACE FUNCTION rename_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE follow f SET follower_name = NEW.name_key WHERE f.follower_id = NEW.id;
  UPDATE circle_member m SET name_key = NEW.name_key WHERE m.user_id = NEW.id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION rename_rows IS 'Updates the copies of a user''s name in the rows of follows and memberships.';
CREATE OR REPLACE TRIGGER rename_rows AFTER UPDATE OF name_key ON app_user
  FOR EACH ROW WHEN (OLD.name_key <> NEW.name_key) EXECUTE FUNCTION rename_rows();

CREATE OR REPLACE FUNCTION end_follows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE pair block;
BEGIN
  FOR pair IN SELECT * FROM added ORDER BY least(blocker_id, blocked_id),
      greatest(blocker_id, blocked_id) LOOP
    DELETE FROM follow WHERE follower_id = pair.blocker_id AND followee_id = pair.blocked_id
      OR follower_id = pair.blocked_id AND followee_id = pair.blocker_id;
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION end_follows IS 'Ends the follows between two users, in both directions, when one blocks the other.';
CREATE OR REPLACE TRIGGER end_follows AFTER INSERT ON block REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION end_follows();

-- Who blocks holds both people until the transaction ends, and so does who takes it back: of two who take theirs
-- back at once, the second finds the other's gone.
CREATE OR REPLACE FUNCTION hide_people() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO hidden AS h (viewer_id, user_id, since)
    SELECT s.viewer_id, s.user_id, min(c.created_at)
    FROM changed c, LATERAL (VALUES (c.blocker_id, c.blocked_id), (c.blocked_id, c.blocker_id)) s(viewer_id, user_id)
    GROUP BY s.viewer_id, s.user_id
    ON CONFLICT (viewer_id, user_id) DO UPDATE SET since = EXCLUDED.since WHERE EXCLUDED.since < h.since;
  ELSE
    DELETE FROM hidden h USING changed c
    WHERE (h.viewer_id, h.user_id) IN ((c.blocker_id, c.blocked_id), (c.blocked_id, c.blocker_id))
      AND NOT EXISTS (SELECT FROM block b
        WHERE b.blocker_id = c.blocked_id AND b.blocked_id = c.blocker_id);
    UPDATE hidden h SET since = b.created_at FROM changed c, block b
    WHERE b.blocker_id = c.blocked_id AND b.blocked_id = c.blocker_id AND h.since <> b.created_at
      AND (h.viewer_id, h.user_id) IN ((c.blocker_id, c.blocked_id), (c.blocked_id, c.blocker_id));
    INSERT INTO hidden_past (viewer_id, user_id)
    SELECT s.viewer_id, s.user_id
    FROM changed c, LATERAL (VALUES (c.blocker_id, c.blocked_id), (c.blocked_id, c.blocker_id)) s(viewer_id, user_id)
    WHERE NOT EXISTS (SELECT FROM app_user u WHERE u.id = s.user_id)
      AND EXISTS (SELECT FROM app_user u WHERE u.id = s.viewer_id)
    ON CONFLICT (viewer_id, user_id) DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION hide_people IS
  'Hides two users from each other from the first block until neither blocks the other. Remembers users who were '
  'hidden when their account was deleted.';
CALL watch('block', '{added,removed}', 'hide_people');

-- A suspension is no fact about a person that others see: what they posted stays.
CREATE OR REPLACE FUNCTION suspend_user(viewer bigint, person bigint, until timestamptz, note text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  -- the account before its sessions, as who signs in does
  PERFORM FROM app_user u WHERE u.id = person FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'userId'); END IF;
  IF person = viewer OR has_role(person, 'STAFF') THEN PERFORM refuse('FORBIDDEN', 'userId'); END IF;
  PERFORM refuse_all(CASE WHEN until <= now()
      THEN jsonb_build_array(worded(refusal('PAST', 'until'), 'IN_PAST')) ELSE '[]' END
    || text_refusals(note, false, 2000, 'note'));
  UPDATE app_user u SET suspended_until = coalesce(until, 'infinity') WHERE u.id = person;
  DELETE FROM session s WHERE s.user_id = person;
  PERFORM audit(viewer, 'SUSPEND_USER', person, words(note));
  RETURN person;
END $$;
COMMENT ON FUNCTION suspend_user IS
  'Implements Mutation.suspendUser, for staff, and not of staff. Ends the sessions of the user. The note is kept in '
  'the audit log.';

CREATE OR REPLACE FUNCTION unsuspend_user(viewer bigint, person bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  PERFORM FROM app_user u WHERE u.id = person FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'userId'); END IF;
  UPDATE app_user u SET suspended_until = NULL WHERE u.id = person AND u.suspended_until IS NOT NULL;
  IF FOUND THEN PERFORM audit(viewer, 'UNSUSPEND_USER', person); END IF;
  RETURN person;
END $$;
COMMENT ON FUNCTION unsuspend_user IS 'Implements Mutation.unsuspendUser, for staff.';
