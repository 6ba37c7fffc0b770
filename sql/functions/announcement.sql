-- Announcements, and the people they and events are told to.

CALL kind('announcement', 22);

CREATE OR REPLACE FUNCTION circle_people_refusals(viewer bigint, circles bigint[], VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE may_name_any boolean := has_role(viewer, 'STAFF', 'SERVICE');
BEGIN
  RETURN list_refusals(circles, false, 100, VARIADIC path) || (
    SELECT coalesce(jsonb_agg(refusal(f.code, VARIADIC path || (f.place - 1)::text) ORDER BY f.place), '[]')
    FROM (
      SELECT e.place, CASE
        WHEN c.id IS NULL THEN 'NOT_FOUND'
        WHEN c.kind = 'CHANNEL' AND c.owner_id <> viewer AND NOT may_name_any THEN 'FORBIDDEN' END AS code
      FROM unnest(circles) WITH ORDINALITY AS e(id, place) LEFT JOIN visible_circle(viewer) c ON c.id = e.id) f
    WHERE f.code IS NOT NULL)
  -- Members of a group add whom they like, so that its size says nothing of who wants to be told.
  || CASE WHEN NOT may_name_any AND (SELECT count(*) > 500 FROM (
      SELECT DISTINCT m.user_id FROM circle_member m JOIN visible_circle(viewer) c ON c.id = m.circle_id
      WHERE m.circle_id = ANY (circles) AND m.user_id <> viewer AND c.kind = 'GROUP' LIMIT 501) g)
    THEN jsonb_build_array(limited(worded(refusal('TOO_MANY', VARIADIC path), 'MANY_TOLD'), NULL, 500))
    ELSE '[]' END;
END $$;
COMMENT ON FUNCTION circle_people_refusals IS
  'Returns the errors of circles whose members are to be told: the viewer may name groups with at most 500 members in '
  'total, and channels that the viewer owns. Staff and services may name any circle, of any size.';

CREATE OR REPLACE FUNCTION circle_people(viewer bigint, circles bigint[]) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT DISTINCT m.user_id FROM circle_member m
    WHERE m.circle_id = ANY (circles) AND m.user_id <> viewer);
END $$;
COMMENT ON FUNCTION circle_people IS
  'Returns the other members of circles that circle_people_refusals has no error of.';

CREATE OR REPLACE FUNCTION announcement_refusals(viewer bigint, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE people bigint[] := id_list(input -> 'notifyUserIds');
BEGIN
  RETURN words_refusals(viewer, 'announcement', input, is_new)
    || list_refusals(people, false, 100, 'input', 'notifyUserIds')
    || people_refusals(viewer, people, true, 'input', 'notifyUserIds')
    || circle_people_refusals(viewer, id_list(input -> 'notifyCircleIds'), 'input', 'notifyCircleIds');
END $$;
COMMENT ON FUNCTION announcement_refusals IS 'Returns the errors of the input for an announcement.';

CREATE OR REPLACE FUNCTION create_announcement(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(announcement_refusals(viewer, input, true));
  made := new_post(viewer, 'announcement', input);
  PERFORM notify_people(coalesce(id_list(input -> 'notifyUserIds'), '{}')
      || circle_people(viewer, id_list(input -> 'notifyCircleIds')), 'ANNOUNCED', viewer, made,
    args := jsonb_build_object('text', shortened(words(input ->> 'body'), 120)));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_announcement IS 'Implements Mutation.createAnnouncement.';

CREATE OR REPLACE FUNCTION update_announcement(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{announcement}', 'announcementId');
  PERFORM refuse_all(announcement_refusals(viewer, input, false));
  PERFORM change_post(viewer, target, input);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_announcement IS
  'Implements Mutation.updateAnnouncement, for its author. Nobody is notified again.';
