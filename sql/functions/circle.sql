-- Circles: making, changing, leaving them.

CALL node('circle', 5, owner => 'owner_id', path => '/circles/', commentable => true, flaggable => true,
  changes => '{name,description,is_default,owner_id}', sought => 'folded(t.name)',
  leaving => 'SELECT m.circle_id FROM circle_member m WHERE m.user_id = $1
    UNION SELECT c.id FROM circle c WHERE c.owner_id = $1
    UNION SELECT c.subject_id FROM comment c WHERE c.author_id = $1', lock_place => 20);
CALL tell_of('circle_member', 'circle_id', 'circle');
CALL watch('circle_member', '{added,edited,removed}', 'tell_changed', 'circle_member circle_id user_id');
CALL told('circle_member', 'circle_member', '{user_id}', only_columns => true);
CALL exported('circles', $$
  SELECT jsonb_build_object('circle', wire_id(m.circle_id),
    'role', m.role, 'joinedAt', wire_time(m.joined_at))
  FROM circle_member m WHERE m.user_id = $1
  ORDER BY m.joined_at$$);

CREATE OR REPLACE FUNCTION visible_circle(viewer bigint)
RETURNS TABLE (id bigint, name text, description text, kind text, is_default boolean,
  owner_id bigint, member_count int, comment_count int, is_hot boolean, created_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM exact_circle() c
  WHERE c.kind = 'CHANNEL'
    OR EXISTS (SELECT FROM circle_member m WHERE m.circle_id = c.id AND m.user_id = viewer)
$$;
COMMENT ON FUNCTION visible_circle IS
  'Returns the circles that the viewer may see: all channels, and the viewer''s groups. The columns are named, because '
  'PostgreSQL has its own type circle.';

CREATE OR REPLACE FUNCTION seen_circle(viewer bigint, target bigint,
  OUT id bigint, OUT kind text, OUT owner_id bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM require_viewer(viewer);
  SELECT c.id, c.kind, c.owner_id INTO id, kind, owner_id
  FROM visible_circle(viewer) c WHERE c.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'circleId'); END IF;
END $$;
COMMENT ON FUNCTION seen_circle IS 'Returns a circle that the viewer may see. Refuses any other.';

CREATE OR REPLACE FUNCTION add_people(viewer bigint, group_id bigint, people bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  added bigint[];
  name text := (SELECT c.name FROM circle c WHERE c.id = group_id);
BEGIN
  WITH new AS (
    INSERT INTO circle_member (circle_id, user_id)
    SELECT group_id, e.id FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id)) e
    ORDER BY e.id
    ON CONFLICT (circle_id, user_id) DO NOTHING RETURNING user_id)
  SELECT array_agg(n.user_id) INTO added FROM new n;
  PERFORM notify_people(added, 'CIRCLE_ADDED', viewer, group_id,
    args := jsonb_build_object('circle', name), is_once := true);
END $$;
COMMENT ON FUNCTION add_people IS 'Adds users to a group and notifies them. Existing members are not affected.';

CREATE OR REPLACE FUNCTION circle_refusals(viewer bigint, kind text, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  people bigint[] := id_list(input -> 'memberIds');
  is_default boolean := (input ->> 'isDefault')::boolean;
BEGIN
  RETURN CASE WHEN is_given(input, 'name', is_new)
      THEN name_refusals(input ->> 'name', true, 80, 'input', 'name') ELSE '[]' END
    || text_refusals(input ->> 'description', false, 2000, 'input', 'description')
    || CASE WHEN is_new AND kind = 'CHANNEL' AND NOT has_role(viewer, 'STAFF', 'SERVICE')
      THEN jsonb_build_array(worded(refusal('FORBIDDEN', 'input', 'kind'), 'STAFF')) ELSE '[]' END
    || CASE WHEN kind = 'CHANNEL' AND cardinality(people) > 0
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'memberIds'), 'NOT_A_GROUP'))
      ELSE list_refusals(people, false, 100, 'input', 'memberIds')
        || people_refusals(viewer, people, true, 'input', 'memberIds') END
    || null_refusals(input, 'isDefault')
    || CASE WHEN is_default AND kind <> 'CHANNEL'
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'isDefault'), 'DEFAULT_CHANNEL'))
      WHEN (is_default OR NOT is_new AND is_default IS NOT NULL) AND NOT has_role(viewer, 'STAFF')
      THEN jsonb_build_array(refusal('FORBIDDEN', 'input', 'isDefault')) ELSE '[]' END;
END $$;
COMMENT ON FUNCTION circle_refusals IS 'Returns the errors of the input for a circle of this kind.';

CREATE OR REPLACE FUNCTION create_circle(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  kind text := coalesce(input ->> 'kind', 'GROUP');
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(circle_refusals(viewer, kind, input, true));
  INSERT INTO circle (name, description, kind, is_default, owner_id)
  VALUES (words(input ->> 'name'), coalesce(words(input ->> 'description'), ''), kind,
    coalesce((input ->> 'isDefault')::boolean, false), viewer)
  RETURNING id INTO made;
  INSERT INTO circle_member (circle_id, user_id, role) VALUES (made, viewer, 'OWNER');
  PERFORM add_people(viewer, made, id_list(input -> 'memberIds'));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_circle IS 'Implements Mutation.createCircle. The viewer owns the circle and is a member.';

CREATE OR REPLACE FUNCTION ruled_circle(viewer bigint, target bigint,
  OUT id bigint, OUT kind text, OUT owner_id bigint)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT c.id, c.kind, c.owner_id INTO id, kind, owner_id FROM seen_circle(viewer, target) c;
  IF owner_id <> viewer AND NOT (kind = 'CHANNEL' AND has_role(viewer, 'STAFF')) THEN
    PERFORM refuse('FORBIDDEN', 'circleId');
  END IF;
END $$;
COMMENT ON FUNCTION ruled_circle IS
  'Returns a circle that the viewer may change: the viewer''s own, and channels for staff. Refuses any other.';

CREATE OR REPLACE FUNCTION update_circle(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE kind text := (ruled_circle(viewer, target)).kind;
BEGIN
  PERFORM refuse_all(circle_refusals(viewer, kind, input, false));
  UPDATE circle c SET
    name = CASE WHEN input ? 'name' THEN words(input ->> 'name') ELSE c.name END,
    description = CASE WHEN input ? 'description' THEN coalesce(words(input ->> 'description'), '')
      ELSE c.description END,
    is_default = coalesce((input ->> 'isDefault')::boolean, c.is_default)
  WHERE c.id = target;
  RETURN target;
END $$;
COMMENT ON FUNCTION update_circle IS
  'Implements Mutation.updateCircle. Omitted fields keep their value, null clears the description.';

CREATE OR REPLACE FUNCTION transferable_circle(viewer bigint, target bigint, OUT owner_id bigint)
LANGUAGE plpgsql AS $$
BEGIN
  -- A suspended owner cannot give it away, and staff do not see groups.
  SELECT c.owner_id INTO owner_id FROM circle c JOIN app_user u ON u.id = c.owner_id
  WHERE c.id = target AND u.suspended_until > now() AND has_role(viewer, 'STAFF');
  IF NOT FOUND THEN owner_id := (ruled_circle(viewer, target)).owner_id; END IF;
END $$;
COMMENT ON FUNCTION transferable_circle IS
  'Returns the owner of a circle that the viewer may give away: as ruled_circle, and for staff any whose owner is '
  'suspended. Refuses any other.';

CREATE OR REPLACE FUNCTION transfer_circle(viewer bigint, target bigint, person bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  former bigint;
  fault text;
  called text;
BEGIN
  PERFORM require_viewer(viewer);
  former := transferable_circle(viewer, target);
  fault := person_fault(viewer, person, true);
  IF fault IS NOT NULL THEN PERFORM refuse(fault, 'userId'); END IF;
  PERFORM hold_people(ARRAY[viewer, person, former]);
  SELECT c.owner_id, c.name INTO former, called FROM circle c WHERE c.id = target FOR NO KEY UPDATE;
  -- Another owner by now may not want it to be given away.
  PERFORM transferable_circle(viewer, target);
  IF person = former THEN RETURN target; END IF;
  PERFORM FROM circle_member m WHERE m.circle_id = target AND m.user_id IN (person, former)
  ORDER BY m.user_id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM circle_member m WHERE m.circle_id = target AND m.user_id = person) THEN
    PERFORM refuse_as(worded(refusal('INVALID', 'userId'), 'NOT_A_MEMBER'));
  END IF;
  UPDATE circle c SET owner_id = person WHERE c.id = target;
  UPDATE circle_member m SET role = 'MEMBER' WHERE m.circle_id = target AND m.user_id = former;
  UPDATE circle_member m SET role = 'OWNER' WHERE m.circle_id = target AND m.user_id = person;
  PERFORM notify_people(ARRAY[person], 'CIRCLE_TRANSFERRED', viewer, target,
    args := jsonb_build_object('circle', called));
  RETURN target;
END $$;
COMMENT ON FUNCTION transfer_circle IS
  'Implements Mutation.transferCircle: makes another member the owner. The owner so far stays as a member.';

CREATE OR REPLACE FUNCTION delete_circle(viewer bigint, group_id bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM ruled_circle(viewer, group_id);
  PERFORM lock_what_goes(ARRAY(SELECT p.id FROM post p WHERE p.circle_id = group_id), ARRAY[group_id]);
  DELETE FROM circle c WHERE c.id = group_id;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'circleId'); END IF;
  RETURN group_id;
END $$;
COMMENT ON FUNCTION delete_circle IS 'Implements Mutation.deleteCircle, which deletes the posts in the circle.';

CREATE OR REPLACE FUNCTION add_circle_members(viewer bigint, group_id bigint, people bigint[])
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target record;
BEGIN
  SELECT c.* INTO target FROM seen_circle(viewer, group_id) c;
  IF target.kind = 'CHANNEL' THEN
    PERFORM refuse_as(worded(refusal('INVALID', 'circleId'), 'NOT_A_GROUP'));
  END IF;
  PERFORM refuse_all(list_refusals(people, true, 100, 'userIds')
    || people_refusals(viewer, people, true, 'userIds'));
  PERFORM FROM circle c WHERE c.id = group_id FOR KEY SHARE;
  PERFORM add_people(viewer, group_id, people);
  RETURN group_id;
END $$;
COMMENT ON FUNCTION add_circle_members IS 'Implements Mutation.addCircleMembers, for every member of the group.';

CREATE OR REPLACE FUNCTION remove_circle_members(viewer bigint, group_id bigint, people bigint[])
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target record;
BEGIN
  SELECT c.* INTO target FROM ruled_circle(viewer, group_id) c;
  IF target.kind = 'CHANNEL' THEN
    PERFORM refuse_as(worded(refusal('INVALID', 'circleId'), 'NOT_A_GROUP'));
  END IF;
  PERFORM refuse_all(list_refusals(people, true, 100, 'userIds'));
  IF target.owner_id = ANY (people) THEN
    PERFORM refuse('FORBIDDEN', 'userIds', (array_position(people, target.owner_id) - 1)::text);
  END IF;
  PERFORM FROM circle c WHERE c.id = group_id FOR NO KEY UPDATE;
  DELETE FROM circle_member m WHERE m.circle_id = group_id
    AND m.user_id = ANY (people) AND m.role <> 'OWNER';
  PERFORM unnotify(people, 'CIRCLE_ADDED', NULL, group_id);
  RETURN group_id;
END $$;
COMMENT ON FUNCTION remove_circle_members IS
  'Implements Mutation.removeCircleMembers, for the owner of the group. Users who are not members are ignored.';

CREATE OR REPLACE FUNCTION join_circle(viewer bigint, group_id bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target record;
BEGIN
  SELECT c.* INTO target FROM seen_circle(viewer, group_id) c;
  IF target.kind = 'CHANNEL' THEN
    PERFORM FROM circle c WHERE c.id = group_id FOR KEY SHARE;
    INSERT INTO circle_member (circle_id, user_id) VALUES (target.id, viewer)
    ON CONFLICT (circle_id, user_id) DO NOTHING;
  END IF;
  RETURN group_id;
END $$;
COMMENT ON FUNCTION join_circle IS 'Implements Mutation.joinCircle, for channels. Subscribers are not affected.';

CREATE OR REPLACE FUNCTION leave_circle(viewer bigint, group_id bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target record;
BEGIN
  SELECT c.* INTO target FROM seen_circle(viewer, group_id) c;
  -- Whoever gives the circle away holds it, so it is asked behind the lock who owns it.
  PERFORM FROM circle c WHERE c.id = target.id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM circle c WHERE c.id = target.id AND c.owner_id = viewer) THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN', 'circleId'), 'OWNER_STAYS'));
  END IF;
  DELETE FROM circle_member m WHERE m.circle_id = target.id AND m.user_id = viewer;
  PERFORM unnotify(ARRAY[viewer], 'CIRCLE_ADDED', NULL, group_id);
  RETURN group_id;
END $$;
COMMENT ON FUNCTION leave_circle IS
  'Implements Mutation.leaveCircle. Owners cannot leave. The viewer can no longer see a group after leaving it.';
