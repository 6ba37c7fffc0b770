-- What hangs on "any of several types": reactions, comments, flags and notifications. No foreign key
-- can hold them, so they are kept whole here, and nowhere else: nothing is added to a node that is
-- not there or is being deleted, and what was added goes with it.
--
-- Who sees what. For each table with a rule a function gives the rows the viewer may see; every
-- read goes through it. The viewer is a user id, or 0 for somebody not signed in.
--
-- Each function is one plain SELECT, so the planner puts it in place of the call: the rows are
-- still found by the caller's conditions and the caller's index. What is alike for all rows (whom
-- the viewer blocks and who blocks them, whether they are staff) stands in sub-selects that do not
-- depend on the row and are read once per statement.
--
-- A row is hidden with whatever it cannot be shown without: a comment with its subject, a
-- follow-up with its post. People are the exception: where somebody must be named, named_user
-- gives their public name and picture, and nothing else, to those they are hidden from.
--
-- Locations, products, programs and class sessions are open to everyone and have no function.

-- A statement for each type, so that only those that come up are planned.
CREATE OR REPLACE FUNCTION sees(person bigint, id bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF sees.id & 240 = 16 THEN
    RETURN EXISTS (SELECT FROM visible_post(person) v WHERE v.id = sees.id);
  END IF;
  CASE sees.id & 255
  WHEN 1 THEN RETURN EXISTS (SELECT FROM visible_user(person) v WHERE v.id = sees.id);
  WHEN 2 THEN RETURN EXISTS (SELECT FROM visible_photo(person) v WHERE v.id = sees.id);
  WHEN 3 THEN RETURN EXISTS (SELECT FROM location v WHERE v.id = sees.id);
  WHEN 4 THEN RETURN EXISTS (SELECT FROM product v WHERE v.id = sees.id);
  WHEN 5 THEN RETURN EXISTS (SELECT FROM visible_circle(person) v WHERE v.id = sees.id);
  WHEN 32 THEN RETURN EXISTS (SELECT FROM visible_comment(person) v WHERE v.id = sees.id);
  WHEN 34 THEN RETURN EXISTS (SELECT FROM visible_info_request(person) v WHERE v.id = sees.id);
  WHEN 35 THEN RETURN EXISTS (SELECT FROM visible_follow_up(person) v WHERE v.id = sees.id);
  WHEN 41 THEN RETURN EXISTS (SELECT FROM class_session v WHERE v.id = sees.id);
  WHEN 42 THEN RETURN EXISTS (SELECT FROM visible_booking(person) v WHERE v.id = sees.id);
  WHEN 48 THEN RETURN EXISTS (SELECT FROM visible_conversation(person) v WHERE v.id = sees.id);
  ELSE RETURN false;
  END CASE;
END $$;
COMMENT ON FUNCTION sees IS
  'Whether somebody may see a node.';

CREATE OR REPLACE FUNCTION node_table(id bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN id & 240 = 16 THEN 'post' ELSE CASE id & 255
    WHEN 1 THEN 'app_user' WHEN 2 THEN 'photo' WHEN 3 THEN 'location' WHEN 4 THEN 'product'
    WHEN 5 THEN 'circle' WHEN 32 THEN 'comment' WHEN 33 THEN 'invitation'
    WHEN 34 THEN 'info_request' WHEN 35 THEN 'follow_up' WHEN 40 THEN 'program'
    WHEN 41 THEN 'class_session' WHEN 42 THEN 'booking' WHEN 43 THEN 'activity_track'
    WHEN 48 THEN 'conversation' WHEN 49 THEN 'message' WHEN 50 THEN 'notification'
    WHEN 51 THEN 'external_contact' END END
$$;
COMMENT ON FUNCTION node_table IS 'The table of the node with this id; null where no type has its tag.';

CREATE OR REPLACE FUNCTION lock_subject(subject bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  home text := node_table(subject);
  number bigint;
BEGIN
  CASE home
  WHEN 'post' THEN PERFORM FROM post WHERE id = subject FOR KEY SHARE;
  WHEN 'comment' THEN PERFORM FROM comment WHERE id = subject FOR KEY SHARE;
  WHEN 'location' THEN PERFORM FROM location WHERE id = subject FOR KEY SHARE;
  WHEN 'product' THEN PERFORM FROM product WHERE id = subject FOR KEY SHARE;
  WHEN 'circle' THEN PERFORM FROM circle WHERE id = subject FOR KEY SHARE;
  WHEN 'app_user' THEN PERFORM FROM app_user WHERE id = subject FOR KEY SHARE;
  ELSE
    IF home IS NULL THEN RETURN false; END IF;
    EXECUTE format('SELECT FROM %I WHERE id = $1 FOR KEY SHARE', home) USING subject;
    GET DIAGNOSTICS number = ROW_COUNT;
    RETURN number > 0;
  END CASE;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION lock_subject IS
  'Keeps a node from being deleted until the transaction ends, and says whether it is there. Whoever '
  'adds to a node calls it first; a trigger does for whoever forgets.';

CREATE OR REPLACE FUNCTION hold_subjects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  subjects bigint[];
  subject bigint;
  is_there boolean;
BEGIN
  IF TG_TABLE_NAME = 'notification' THEN
    subjects := ARRAY(SELECT DISTINCT about_id FROM changed WHERE about_id IS NOT NULL ORDER BY 1);
  ELSE
    subjects := ARRAY(SELECT DISTINCT subject_id FROM changed ORDER BY 1);
  END IF;
  FOREACH subject IN ARRAY subjects LOOP
    -- Reactions and comments have been counted in the row they are about, if it is there, which holds it.
    IF TG_TABLE_NAME IN ('reaction', 'comment') THEN
      is_there := CASE node_table(subject)
        WHEN 'post' THEN EXISTS (SELECT FROM post p WHERE p.id = subject)
        WHEN 'comment' THEN EXISTS (SELECT FROM comment c WHERE c.id = subject)
        WHEN 'location' THEN EXISTS (SELECT FROM location l WHERE l.id = subject)
        WHEN 'product' THEN EXISTS (SELECT FROM product p WHERE p.id = subject)
        WHEN 'circle' THEN EXISTS (SELECT FROM circle c WHERE c.id = subject) END;
    ELSE
      is_there := lock_subject(subject);
    END IF;
    IF is_there IS NOT TRUE THEN
      RAISE EXCEPTION 'There is no node % for % to be about.', subject, TG_TABLE_NAME
        USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME,
          CONSTRAINT = TG_TABLE_NAME || '_subject_exists';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION hold_subjects IS
  'Locks what new rows are about; fails where it is not there, as a foreign key would.';
CALL watch('reaction', '{added}', 'hold_subjects');
CALL watch('comment', '{added}', 'hold_subjects');
CALL watch('flag', '{added}', 'hold_subjects');
CALL watch('notification', '{added}', 'hold_subjects');

CREATE OR REPLACE FUNCTION keep_subject() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'What a row of % is about does not change.', TG_TABLE_NAME
    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME,
      CONSTRAINT = TG_TABLE_NAME || '_subject_kept';
END $$;
COMMENT ON FUNCTION keep_subject IS 'Refuses to move a row from one subject to another.';
CREATE OR REPLACE TRIGGER keep_subject AFTER UPDATE OF subject_id ON reaction
  FOR EACH ROW WHEN (OLD.subject_id <> NEW.subject_id) EXECUTE FUNCTION keep_subject();
CREATE OR REPLACE TRIGGER keep_subject AFTER UPDATE OF subject_id ON comment
  FOR EACH ROW WHEN (OLD.subject_id <> NEW.subject_id) EXECUTE FUNCTION keep_subject();
CREATE OR REPLACE TRIGGER keep_subject AFTER UPDATE OF subject_id ON flag
  FOR EACH ROW WHEN (OLD.subject_id <> NEW.subject_id) EXECUTE FUNCTION keep_subject();

CREATE OR REPLACE FUNCTION forget_subjects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE gone bigint[] := ARRAY(SELECT id FROM changed);
BEGIN
  IF gone = '{}' THEN RETURN NULL; END IF;
  IF TG_TABLE_NAME IN ('post', 'location', 'circle') THEN
    DELETE FROM comment WHERE subject_id = ANY (gone);
  END IF;
  IF TG_TABLE_NAME IN ('post', 'comment', 'location', 'product') THEN
    DELETE FROM reaction WHERE subject_id = ANY (gone);
  END IF;
  DELETE FROM flag WHERE subject_id = ANY (gone);
  PERFORM FROM notification WHERE about_id = ANY (gone) ORDER BY id FOR UPDATE;
  DELETE FROM notification WHERE about_id = ANY (gone);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION forget_subjects IS 'Deletes everything said about nodes that go.';
DO $$ DECLARE home text; BEGIN
  FOR home IN SELECT DISTINCT node_table(tag) FROM generate_series(1, 255) tag
      WHERE node_table(tag) IS NOT NULL LOOP
    CALL watch(home::regclass, '{removed}', 'forget_subjects');
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION lock_what_goes(posts bigint[], circles bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE said bigint[];
BEGIN
  PERFORM FROM post p WHERE p.id = ANY (posts) ORDER BY p.id FOR UPDATE;
  PERFORM FROM circle c WHERE c.id = ANY (circles) ORDER BY c.id FOR UPDATE;
  said := ARRAY(SELECT c.id FROM comment c WHERE c.subject_id = ANY (posts || circles));
  PERFORM FROM comment c WHERE c.id = ANY (said) ORDER BY c.id FOR UPDATE;
  PERFORM FROM notification n WHERE n.about_id = ANY (posts || circles || said
      || ARRAY(SELECT r.id FROM info_request r WHERE r.post_id = ANY (posts))
      || ARRAY(SELECT f.id FROM follow_up f WHERE f.post_id = ANY (posts))
      || ARRAY(SELECT i.id FROM invitation i WHERE i.event_id = ANY (posts)))
  ORDER BY n.id FOR UPDATE;
END $$;
COMMENT ON FUNCTION lock_what_goes IS
  'Locks posts and circles that are about to be deleted, with what others lock by itself of all that '
  'goes along, in the order in which everybody does.';

CREATE OR REPLACE FUNCTION delete_node(node bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE number bigint;
BEGIN
  IF node_table(node) IS NULL THEN RETURN false; END IF;
  EXECUTE format('DELETE FROM %I WHERE id = $1', node_table(node)) USING node;
  GET DIAGNOSTICS number = ROW_COUNT;
  RETURN number > 0;
END $$;
COMMENT ON FUNCTION delete_node IS
  'Deletes a node of whatever type, with everything said about it; says whether it was there.';

CREATE OR REPLACE VIEW every_node AS
  SELECT id FROM app_user UNION ALL SELECT id FROM photo UNION ALL SELECT id FROM location
  UNION ALL SELECT id FROM product UNION ALL SELECT id FROM circle UNION ALL SELECT id FROM post
  UNION ALL SELECT id FROM comment UNION ALL SELECT id FROM invitation
  UNION ALL SELECT id FROM info_request UNION ALL SELECT id FROM follow_up
  UNION ALL SELECT id FROM program UNION ALL SELECT id FROM class_session
  UNION ALL SELECT id FROM booking UNION ALL SELECT id FROM activity_track
  UNION ALL SELECT id FROM conversation UNION ALL SELECT id FROM message
  UNION ALL SELECT id FROM notification UNION ALL SELECT id FROM external_contact;
COMMENT ON VIEW every_node IS 'A row: one node, of whatever type. For checks; no request reads it.';

CREATE OR REPLACE FUNCTION verify_subjects() RETURNS TABLE (table_name text, subject_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT s.table_name, s.id FROM (
    SELECT DISTINCT 'reaction' AS table_name, r.subject_id AS id FROM reaction r
    UNION ALL SELECT DISTINCT 'comment', c.subject_id FROM comment c
    UNION ALL SELECT DISTINCT 'flag', f.subject_id FROM flag f
    UNION ALL SELECT DISTINCT 'notification', n.about_id FROM notification n
      WHERE n.about_id IS NOT NULL) s
  WHERE NOT EXISTS (SELECT FROM every_node e WHERE e.id = s.id)
  ORDER BY 1, 2
$$;
COMMENT ON FUNCTION verify_subjects IS
  'What is about a node that is not there; none, unless a trigger is wrong. For `sociograph verify`.';
