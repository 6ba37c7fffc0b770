-- Announcements, and the people they and events are told to.

CALL kind('announcement', 22);

CREATE OR REPLACE FUNCTION circle_people(viewer bigint, circles bigint[], VARIADIC path text[])
RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
DECLARE may_name_any boolean := has_role(viewer, 'STAFF', 'SERVICE');
BEGIN
  PERFORM refuse_all(list_refusals(circles, false, 100, VARIADIC path) || (
    SELECT coalesce(jsonb_agg(refusal(f.code, VARIADIC path || (f.place - 1)::text) ORDER BY f.place), '[]')
    FROM (
      SELECT e.place, CASE
        WHEN c.id IS NULL THEN 'NOT_FOUND'
        WHEN c.kind = 'CHANNEL' AND c.owner_id <> viewer AND NOT may_name_any THEN 'FORBIDDEN' END AS code
      FROM unnest(circles) WITH ORDINALITY AS e(id, place) LEFT JOIN visible_circle(viewer) c ON c.id = e.id) f
    WHERE f.code IS NOT NULL));
  -- Members of a group add whom they like, so that its size says nothing of who wants to be told.
  IF NOT may_name_any AND (SELECT count(*) > 500 FROM (
      SELECT DISTINCT m.user_id FROM circle_member m JOIN circle c ON c.id = m.circle_id
      WHERE m.circle_id = ANY (circles) AND m.user_id <> viewer AND c.kind = 'GROUP' LIMIT 501) g) THEN
    PERFORM refuse_as(limited(worded(refusal('TOO_MANY', VARIADIC path), 'MANY_TOLD'), NULL, 500));
  END IF;
  RETURN ARRAY(SELECT DISTINCT m.user_id FROM circle_member m
    WHERE m.circle_id = ANY (circles) AND m.user_id <> viewer);
END $$;
COMMENT ON FUNCTION circle_people IS
  'Returns the members of the viewer''s groups, at most 500 in total, and of channels that the viewer owns. Staff and '
  'services may name any circle, of any size. Refuses other circles and too many members.';

CREATE OR REPLACE FUNCTION create_announcement(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  people bigint[] := id_list(input -> 'notifyUserIds');
  told bigint[];
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(people, false, 100, 'input', 'notifyUserIds')
    || people_refusals(viewer, people, true, 'input', 'notifyUserIds'));
  told := circle_people(viewer, id_list(input -> 'notifyCircleIds'), 'input', 'notifyCircleIds');
  made := new_post(viewer, 'announcement', input, true, false);
  PERFORM notify_people(coalesce(people, '{}') || told, 'ANNOUNCED', viewer, made,
    args := jsonb_build_object('text', shortened(words(input ->> 'body'), 120)));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_announcement IS 'Implements Mutation.createAnnouncement.';
