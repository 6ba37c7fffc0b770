-- Who a tool acts for when it is told a name instead of a session.

CREATE OR REPLACE FUNCTION viewer_named(name text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT id FROM app_user WHERE lower(username) = lower(name));
END $$;
COMMENT ON FUNCTION viewer_named IS
  'The id of the user of this name, null when there is none; for `sociograph explain --viewer`.';

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
  'Gives a row the name its list is ordered by. That there is such a user the foreign key sees to.';
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
COMMENT ON FUNCTION rename_rows IS
  'Renews the name in the rows of whom somebody follows and where they belong.';
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
COMMENT ON FUNCTION end_follows IS 'Blocking ends follows in both directions.';
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
  'Blocking hides each from the other, from the first block on until neither blocks the other. A user who was hidden '
  'when their account was deleted stays noted.';
CALL watch('block', '{added,removed}', 'hide_people');
