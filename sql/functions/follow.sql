-- Following and blocking people.
CALL exported('following', $$
  SELECT jsonb_build_object('user', wire_id(f.followee_id),
    'followedAt', wire_time(f.followed_at))
  FROM follow f WHERE f.follower_id = $1
  ORDER BY f.followed_at$$);
CALL exported('followers', $$
  SELECT jsonb_build_object('user', wire_id(f.follower_id),
    'followedAt', wire_time(f.followed_at))
  FROM follow f WHERE f.followee_id = $1
  ORDER BY f.followed_at$$);
CALL exported('blocked', $$
  SELECT wire_id(b.blocked_id)
  FROM block b WHERE b.blocker_id = $1
  ORDER BY b.blocked_id$$);

CREATE OR REPLACE FUNCTION follow_users(viewer bigint, people bigint[])
RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  added bigint[];
  person bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(people, true, 100, 'userIds'));
  -- whoever is blocked at this moment is seen to be blocked afterwards
  PERFORM hold_people(people || viewer);
  PERFORM refuse_all(people_refusals(viewer, people, false, 'userIds'));
  WITH new AS (
    INSERT INTO follow (follower_id, followee_id)
    SELECT viewer, e.id FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id)) e ORDER BY e.id
    ON CONFLICT (follower_id, followee_id) DO NOTHING RETURNING followee_id)
  SELECT array_agg(n.followee_id ORDER BY n.followee_id) INTO added FROM new n;
  FOREACH person IN ARRAY coalesce(added, '{}') LOOP
    IF EXISTS (SELECT FROM follow f WHERE f.follower_id = person AND f.followee_id = viewer) THEN
      PERFORM notify_people(ARRAY[person], 'FOLLOWED', viewer, viewer, is_once := true);
    ELSE
      PERFORM notify_people(ARRAY[person], 'FOLLOWED', viewer, viewer, action_kind := 'FOLLOW_BACK',
        is_once := true);
    END IF;
  END LOOP;
  RETURN people;
END $$;
COMMENT ON FUNCTION follow_users IS 'Implements Mutation.followUsers. Users who are already followed are not affected.';

CREATE OR REPLACE FUNCTION unfollow_users(viewer bigint, people bigint[])
RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(people, true, 100, 'userIds'));
  PERFORM hold_people(people || viewer);
  PERFORM refuse_all(people_refusals(viewer, people, false, 'userIds'));
  DELETE FROM follow f WHERE f.follower_id = viewer AND f.followee_id = ANY (people);
  PERFORM unnotify(people, 'FOLLOWED', viewer, viewer);
  RETURN people;
END $$;
COMMENT ON FUNCTION unfollow_users IS 'Implements Mutation.unfollowUsers.';

CREATE OR REPLACE FUNCTION block_user(viewer bigint, person bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  CASE person_fault(viewer, person)
  WHEN 'BLOCKED' THEN RETURN person;
  WHEN 'INVALID' THEN PERFORM refuse_as(worded(refusal('INVALID', 'userId'), 'SELF'));
  WHEN 'NOT_FOUND' THEN PERFORM refuse('NOT_FOUND', 'userId');
  ELSE NULL;
  END CASE;
  -- no follow between the two is under way any more, nor begins before this is done
  PERFORM take_people(ARRAY[viewer, person]);
  IF person_fault(viewer, person) = 'NOT_FOUND' THEN PERFORM refuse('NOT_FOUND', 'userId'); END IF;
  PERFORM FROM app_user u WHERE u.id IN (viewer, person) ORDER BY u.id FOR NO KEY UPDATE;
  INSERT INTO block (blocker_id, blocked_id) VALUES (viewer, person)
  ON CONFLICT (blocker_id, blocked_id) DO NOTHING;
  RETURN person;
END $$;
COMMENT ON FUNCTION block_user IS
  'Implements Mutation.blockUser. A trigger of block ends the follows in both directions.';

CREATE OR REPLACE FUNCTION unblock_user(viewer bigint, person bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM take_people(ARRAY[viewer, person]);
  DELETE FROM block b WHERE b.blocker_id = viewer AND b.blocked_id = person;
  IF person_fault(viewer, person) IS NOT NULL THEN
    PERFORM refuse(person_fault(viewer, person), 'userId');
  END IF;
  RETURN person;
END $$;
COMMENT ON FUNCTION unblock_user IS 'Implements Mutation.unblockUser. A user who is not blocked is not affected.';
