-- Who a tool acts for when it is told a name instead of a session.

CREATE OR REPLACE FUNCTION viewer_named(name text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT id FROM app_user WHERE lower(username) = lower(name)
$$;
COMMENT ON FUNCTION viewer_named IS
  'The id of the user of this name, null when there is none; for `sociograph explain --viewer`.';

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
