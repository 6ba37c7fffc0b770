-- Events: making, changing, calling off, inviting to them, coming.

CALL kind('event', 23);
CALL takes('event', 'post_id', '{event}');
CALL watch('event', '{edited}', 'touch_changed', 'post_id');
CALL tell_part('event');
CALL watch('event_venue', '{added,edited,removed}', 'touch_changed', 'event_id');
CALL tell_part('event_venue', 'event_id');
CALL tell_of('attendance', 'event_id', 'post');
CALL told('attendance', 'change', '{user_id}', only_columns => true);
-- by the title, where the text does not say it
CALL sought('POST', $$to_tsvector('simple', t.title)$$, 'event', 'post_id', newest => 2000,
  joined => 'JOIN visible_post(viewer) p ON p.id = %s', besides => 'AND NOT p.search @@ (SELECT word_query(words))');
CALL exported('attendance', $$
  SELECT jsonb_build_object('event', wire_id(a.event_id),
    'status', a.status, 'updatedAt', wire_time(a.updated_at))
  FROM attendance a WHERE a.user_id = $1 AND sees($1, a.event_id)
  ORDER BY a.updated_at$$);

CREATE OR REPLACE FUNCTION invite_people(viewer bigint, event bigint, people bigint[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  invited bigint[];
  name text := (SELECT e.title FROM event e WHERE e.post_id = event);
BEGIN
  WITH added AS (
    INSERT INTO invitation AS old (inviter_id, event_id, invitee_id)
    SELECT viewer, event, e.id FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id)) e
    WHERE e.id <> viewer AND NOT EXISTS (SELECT FROM hidden_user(viewer) h WHERE h.id = e.id)
    ORDER BY e.id
    ON CONFLICT (event_id, invitee_id) DO UPDATE
      SET status = 'PENDING', inviter_id = EXCLUDED.inviter_id, created_at = now()
      WHERE old.status = 'WITHDRAWN' RETURNING invitee_id)
  SELECT array_agg(a.invitee_id) INTO invited FROM added a;
  PERFORM notify_people(invited, 'EVENT_INVITED', viewer, event,
    args := jsonb_build_object('title', name), action_kind := 'ATTEND');
END $$;
COMMENT ON FUNCTION invite_people IS
  'Invites users to an event, each once unless the invitation was taken back, and notifies them.';

CREATE OR REPLACE FUNCTION venue_refusals(venues jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM refuse_longer(jsonb_array_length(venues), 50, 'MANY_VENUES', 'input', 'venues');
  RETURN (SELECT coalesce(jsonb_agg(refusal(bad.code, 'input', 'venues', bad.place::text, bad.name)
      ORDER BY bad.place), '[]')
    FROM (
      SELECT e.place - 1 AS place,
        CASE WHEN l.id IS NULL THEN 'NOT_FOUND' WHEN e.is_again OR e.closes <= e.opens THEN 'INVALID'
          WHEN length(e.note) > 500 THEN 'TOO_LONG' END AS code,
        CASE WHEN l.id IS NULL OR e.is_again THEN 'locationId' WHEN e.closes <= e.opens THEN 'closesAt'
          ELSE 'note' END AS name
      FROM (
        SELECT a.place, (a.venue ->> 'locationId')::bigint AS location_id, a.venue ->> 'note' AS note,
          count(*) OVER (PARTITION BY a.venue ->> 'locationId' ORDER BY a.place) > 1 AS is_again,
          (a.venue ->> 'opensAt')::timestamptz AS opens, (a.venue ->> 'closesAt')::timestamptz AS closes
        FROM jsonb_array_elements(venues) WITH ORDINALITY AS a(venue, place)) e
      LEFT JOIN location l ON l.id = e.location_id) bad
    WHERE bad.code IS NOT NULL);
END $$;
COMMENT ON FUNCTION venue_refusals IS
  'Returns the errors of the venues of a meal: too many, unknown or repeated places, hours that end before they begin, '
  'and long notes.';

CREATE OR REPLACE FUNCTION set_venues(event bigint, venues jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  old jsonb := (SELECT jsonb_agg(jsonb_build_array(v.location_id, v.opens_at, v.closes_at, v.note)
    ORDER BY v.location_id) FROM event_venue v WHERE v.event_id = event);
BEGIN
  IF old IS NOT DISTINCT FROM (
      SELECT jsonb_agg(jsonb_build_array((v ->> 'locationId')::bigint, (v ->> 'opensAt')::timestamptz,
        (v ->> 'closesAt')::timestamptz, words(v ->> 'note')) ORDER BY (v ->> 'locationId')::bigint)
      FROM jsonb_array_elements(venues) AS v) THEN
    RETURN false;
  END IF;
  DELETE FROM event_venue v WHERE v.event_id = event;
  INSERT INTO event_venue (event_id, location_id, opens_at, closes_at, note)
  SELECT event, (v ->> 'locationId')::bigint, (v ->> 'opensAt')::timestamptz,
    (v ->> 'closesAt')::timestamptz, words(v ->> 'note')
  FROM jsonb_array_elements(venues) AS v ORDER BY 2;
  RETURN true;
END $$;
COMMENT ON FUNCTION set_venues IS 'Replaces the venues of a meal, and returns whether they are others.';

CREATE OR REPLACE FUNCTION event_refusals(viewer bigint, input jsonb, old event) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  is_new boolean := old.post_id IS NULL;
  begins timestamptz := coalesce((input ->> 'startsAt')::timestamptz, old.starts_at);
  ends timestamptz := CASE WHEN is_given(input, 'endsAt', is_new) THEN (input ->> 'endsAt')::timestamptz
    ELSE old.ends_at END;
  venues jsonb := coalesce(nullif(input -> 'venues', 'null'), '[]');
  people bigint[] := id_list(input -> 'inviteUserIds');
BEGIN
  RETURN CASE WHEN is_given(input, 'title', is_new)
      THEN name_refusals(input ->> 'title', true, 200, 'input', 'title') ELSE '[]' END
    || body_refusals(input, is_new, false) || null_refusals(input, 'startsAt')
    || CASE WHEN begins < now() - interval '24 hours' AND begins IS DISTINCT FROM old.starts_at
        AND NOT has_role(viewer, 'SERVICE')
      THEN jsonb_build_array(worded(refusal('PAST', 'input', 'startsAt'), 'IN_PAST'))
      ELSE '[]' END
    || CASE WHEN ends <= begins
      THEN jsonb_build_array(worded(refusal('INVALID', 'input',
        CASE WHEN input ? 'endsAt' THEN 'endsAt' ELSE 'startsAt' END), 'ENDS_BEFORE_START')) ELSE '[]' END
    || picture_refusals(viewer, input, is_new, false)
    || list_refusals(people, false, 100, 'input', 'inviteUserIds')
    || people_refusals(viewer, people, false, 'input', 'inviteUserIds')
    || circle_people_refusals(viewer, id_list(input -> 'inviteCircleIds'), 'input', 'inviteCircleIds')
    || null_refusals(input, 'category')
    || CASE WHEN venues <> '[]' AND coalesce(input ->> 'category', old.category, 'GENERAL') <> 'DINING'
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'venues'), 'NOT_A_MEAL'))
      ELSE venue_refusals(venues) END;
END $$;
COMMENT ON FUNCTION event_refusals IS
  'Returns the errors of the input for a new event, or for changes of an old one, except where it is and who sees it.';

CREATE OR REPLACE FUNCTION visibility_refusals(old post, input jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  wanted text := input ->> 'visibility';
  allowed text[] := coalesce((SELECT CASE c.kind WHEN 'CHANNEL' THEN '{CIRCLE,PUBLIC}'::text[] ELSE '{CIRCLE}' END
    FROM circle c WHERE c.id = old.circle_id), '{PUBLIC,INVITED}');
BEGIN
  RETURN null_refusals(input, 'visibility')
    || CASE WHEN wanted <> old.visibility::text AND wanted <> ALL (allowed)
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'visibility'),
        CASE wanted WHEN 'PUBLIC' THEN 'NOT_PUBLIC' WHEN 'CIRCLE' THEN 'NOT_CIRCLE' ELSE 'NOT_INVITED' END))
      ELSE '[]' END;
END $$;
COMMENT ON FUNCTION visibility_refusals IS
  'Returns the errors of another visibility of an event: PUBLIC or INVITED outside of circles, CIRCLE in a group, and '
  'CIRCLE or PUBLIC in a channel.';

CREATE OR REPLACE FUNCTION new_event(viewer bigint, input jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE made bigint := new_post(viewer, 'event', input);
BEGIN
  INSERT INTO event (post_id, title, starts_at, ends_at, category, circle_id, external_id, source_url)
  VALUES (made, words(input ->> 'title'), (input ->> 'startsAt')::timestamptz, (input ->> 'endsAt')::timestamptz,
    coalesce(input ->> 'category', 'GENERAL'), (input ->> 'circleId')::bigint, words(input ->> 'externalId'),
    web_address(input ->> 'sourceUrl'));
  PERFORM set_venues(made, coalesce(nullif(input -> 'venues', 'null'), '[]'));
  RETURN made;
END $$;
COMMENT ON FUNCTION new_event IS
  'Inserts an event and its post, and returns its ID. The caller has refused what is wrong.';

CREATE OR REPLACE FUNCTION create_event(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(where_refusals(viewer, 'event', input) || event_refusals(viewer, input, NULL));
  made := new_event(viewer, input);
  PERFORM invite_people(viewer, made, coalesce(id_list(input -> 'inviteUserIds'), '{}')
    || circle_people(viewer, id_list(input -> 'inviteCircleIds')));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_event IS 'Implements Mutation.createEvent.';

CREATE OR REPLACE FUNCTION upsert_event(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  old event;
  outside text := words(input ->> 'externalId');
  channel bigint := (input ->> 'circleId')::bigint;
  -- what is left out is cleared
  whole jsonb := '{"sourceUrl": null, "body": null, "endsAt": null, "location": null, "venues": null}'::jsonb
    || input || '{"visibility": "PUBLIC"}';
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  -- Two scrapers at once: the second waits for the first, and changes its event.
  PERFORM pg_advisory_xact_lock(hashtextextended('event ' || coalesce(outside, ''), channel));
  SELECT e.post_id INTO made FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
  WHERE e.circle_id = channel AND e.external_id = outside;
  -- The post goes first, and its event is read behind it.
  PERFORM FROM post p WHERE p.id = made FOR UPDATE;
  SELECT e.* INTO old FROM event e WHERE e.post_id = made;
  PERFORM refuse_all(where_refusals(viewer, 'event', whole)
    || CASE WHEN EXISTS (SELECT FROM visible_circle(viewer) c WHERE c.id = channel AND c.kind = 'GROUP')
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'circleId'), 'CHANNEL')) ELSE '[]' END
    || text_refusals(outside, true, 200, 'input', 'externalId')
    || CASE WHEN NOT is_url(web_address(input ->> 'sourceUrl'))
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'sourceUrl'), 'URL_FORM')) ELSE '[]' END
    || event_refusals(viewer, whole, old));
  IF old.post_id IS NULL THEN RETURN new_event(viewer, whole); END IF;
  PERFORM change_event(viewer, old.post_id, whole, is_import => true);
  RETURN old.post_id;
END $$;
COMMENT ON FUNCTION upsert_event IS
  'Implements Mutation.upsertEvent, for staff and services: adds the event with this ID at its source to a channel, or '
  'changes it. Imported events are public.';

CREATE OR REPLACE FUNCTION event_people(event bigint) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT i.invitee_id FROM invitation i
    WHERE i.event_id = event AND i.status NOT IN ('DECLINED', 'WITHDRAWN')
    UNION SELECT a.user_id FROM attendance a WHERE a.event_id = event AND a.status <> 'NOT_GOING');
END $$;
COMMENT ON FUNCTION event_people IS
  'Returns the users to notify when an event changes: invited users who have not declined, and users who may attend.';

CREATE OR REPLACE FUNCTION tell_event(viewer bigint, event_id bigint, reason text, phrase text, note text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE people bigint[] := event_people(event_id);
BEGIN
  PERFORM unnotify(people, 'EVENT_CHANGED', NULL, event_id);
  PERFORM notify_people(people, reason, viewer, event_id, phrase, jsonb_strip_nulls(jsonb_build_object('title',
    (SELECT e.title FROM event e WHERE e.post_id = event_id), 'note', note)));
END $$;
COMMENT ON FUNCTION tell_event IS
  'Notifies the invited and attending users of an event by a phrase. Unread, only the last of its changes is told.';

CREATE OR REPLACE FUNCTION show_event(old post, wanted visibility) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF wanted = 'INVITED' THEN
    INSERT INTO invitation AS i (inviter_id, event_id, invitee_id, status)
    SELECT old.author_id, old.id, a.user_id, 'ACCEPTED' FROM attendance a
    WHERE a.event_id = old.id AND a.status <> 'NOT_GOING' AND a.user_id <> old.author_id ORDER BY a.user_id
    ON CONFLICT (event_id, invitee_id) DO UPDATE SET status = 'ACCEPTED' WHERE i.status <> 'ACCEPTED';
  END IF;
  PERFORM log_narrowed(old, wanted);
  UPDATE post p SET visibility = wanted, updated_at = now() WHERE p.id = old.id;
END $$;
COMMENT ON FUNCTION show_event IS
  'Gives an event another visibility. Who may come is invited to what becomes private, so that nobody who comes loses '
  'it, and everybody else who had it is told that it is gone.';

CREATE OR REPLACE FUNCTION change_event(viewer bigint, event_id bigint, input jsonb, is_import boolean DEFAULT false)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  old event;
  old_post post;
  new event;
  new_post post;
  is_served_anew boolean := false;
BEGIN
  SELECT p.* INTO old_post FROM post p WHERE p.id = event_id;
  SELECT e.* INTO old FROM event e WHERE e.post_id = event_id FOR NO KEY UPDATE;
  -- First, so that edits are told only to those who go on seeing the event.
  IF (input ->> 'visibility')::visibility <> old_post.visibility THEN
    PERFORM show_event(old_post, (input ->> 'visibility')::visibility);
  END IF;
  new := old;
  IF input ? 'title' THEN new.title := words(input ->> 'title'); END IF;
  new.starts_at := coalesce((input ->> 'startsAt')::timestamptz, old.starts_at);
  IF input ? 'endsAt' THEN new.ends_at := (input ->> 'endsAt')::timestamptz; END IF;
  new.category := coalesce(input ->> 'category', old.category);
  IF input ? 'sourceUrl' THEN new.source_url := web_address(input ->> 'sourceUrl'); END IF;
  IF new IS DISTINCT FROM old THEN
    UPDATE event e SET title = new.title, starts_at = new.starts_at, ends_at = new.ends_at,
      category = new.category, source_url = new.source_url WHERE e.post_id = event_id;
  END IF;
  -- A meal that is none any more is served nowhere.
  IF input ? 'venues' OR new.category <> 'DINING' THEN
    is_served_anew := set_venues(event_id, coalesce(nullif(input -> 'venues', 'null'), '[]'));
  END IF;
  PERFORM change_post(viewer, event_id, input, is_served_anew OR new IS DISTINCT FROM old);
  SELECT p.* INTO new_post FROM post p WHERE p.id = event_id;
  IF (new.title, new.starts_at, new.ends_at, new_post.location_id)
      IS DISTINCT FROM (old.title, old.starts_at, old.ends_at, old_post.location_id)
    OR NOT is_import AND (is_served_anew OR (new.category, new_post.body, new_post.visibility)
      IS DISTINCT FROM (old.category, old_post.body, old_post.visibility)) THEN
    PERFORM tell_event(viewer, event_id, 'EVENT_CHANGED', 'EVENT_CHANGED');
  END IF;
END $$;
COMMENT ON FUNCTION change_event IS
  'Changes an event according to the input, and notifies users if anything but photos became another. Of an import '
  'only title, time, and location count, as sources rewrite their texts. The caller holds the post and has refused '
  'what is wrong.';

CREATE OR REPLACE FUNCTION update_event(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  held post;
  old event;
BEGIN
  PERFORM require_viewer(viewer);
  -- Nobody answers while it is decided who sees the event: that takes the strongest lock, and takes it first.
  IF input ? 'visibility' THEN
    PERFORM FROM post p WHERE p.id = target AND p.author_id = viewer FOR UPDATE;
  END IF;
  PERFORM own_post(viewer, target, '{event}', 'eventId');
  SELECT p.* INTO held FROM post p WHERE p.id = target;
  SELECT e.* INTO old FROM event e WHERE e.post_id = target FOR NO KEY UPDATE;
  PERFORM refuse_all(visibility_refusals(held, input) || event_refusals(viewer, input, old));
  IF old.cancelled_at IS NOT NULL THEN PERFORM refuse_as(worded(refusal('CLOSED', 'eventId'), 'CALLED_OFF')); END IF;
  PERFORM change_event(viewer, target, input);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_event IS
  'Implements Mutation.updateEvent, for its author. Omitted fields keep their value, null clears optional ones.';

CREATE OR REPLACE FUNCTION cancel_event(viewer bigint, event bigint, note text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, event, '{event}', 'eventId');
  PERFORM refuse_all(text_refusals(note, false, 500, 'note'));
  UPDATE event e SET cancelled_at = now(), cancellation_note = words(note)
  WHERE e.post_id = cancel_event.event AND e.cancelled_at IS NULL;
  IF FOUND THEN
    UPDATE post p SET updated_at = now() WHERE p.id = cancel_event.event;
    PERFORM tell_event(viewer, event, 'EVENT_CANCELLED',
      'EVENT_CANCELLED' || CASE WHEN words(note) IS NULL THEN '' ELSE '.note' END, words(note));
  END IF;
  RETURN event;
END $$;
COMMENT ON FUNCTION cancel_event IS 'Implements Mutation.cancelEvent. The first note stays.';

CREATE OR REPLACE FUNCTION restore_event(viewer bigint, event bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target event;
BEGIN
  PERFORM own_post(viewer, event, '{event}', 'eventId');
  SELECT e.* INTO target FROM event e WHERE e.post_id = restore_event.event FOR NO KEY UPDATE;
  IF target.cancelled_at IS NULL THEN RETURN event; END IF;
  PERFORM refuse_past(target);
  UPDATE event e SET cancelled_at = NULL, cancellation_note = NULL WHERE e.post_id = restore_event.event;
  UPDATE post p SET updated_at = now() WHERE p.id = restore_event.event;
  PERFORM tell_event(viewer, event, 'EVENT_CHANGED', 'EVENT_CHANGED.restored');
  RETURN event;
END $$;
COMMENT ON FUNCTION restore_event IS 'Implements Mutation.restoreEvent, for its author, unless the event is over.';

CREATE OR REPLACE FUNCTION invite_to_event(viewer bigint, event bigint, people bigint[], circles bigint[])
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  target post := seen_post(viewer, event, '{event}', 'eventId');
  members bigint[];
BEGIN
  IF target.author_id <> viewer AND (target.visibility = 'INVITED' OR NOT EXISTS (
      SELECT FROM attendance a
      WHERE a.event_id = event AND a.user_id = viewer AND a.status = 'GOING')) THEN
    PERFORM refuse('FORBIDDEN', 'eventId');
  END IF;
  PERFORM FROM post p WHERE p.id = event FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'eventId'); END IF;
  PERFORM refuse_event_over(event);
  PERFORM refuse_all(list_refusals(people, coalesce(cardinality(circles), 0) = 0, 100, 'userIds')
    || people_refusals(viewer, people, false, 'userIds')
    || circle_people_refusals(viewer, circles, 'circleIds'));
  PERFORM invite_people(viewer, event, coalesce(people, '{}') || circle_people(viewer, circles));
  RETURN event;
END $$;
COMMENT ON FUNCTION invite_to_event IS
  'Implements Mutation.inviteToEvent, for the author, and for users who attend an event that is not by invitation.';

CREATE OR REPLACE FUNCTION refuse_past(target event) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(target.ends_at, target.starts_at + interval '1 day') <= now() THEN
    PERFORM refuse_as(worded(refusal('PAST', 'eventId'), 'EVENT_OVER'));
  END IF;
END $$;
COMMENT ON FUNCTION refuse_past IS 'Refuses if an event is over.';

CREATE OR REPLACE FUNCTION refuse_event_over(event bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE target event;
BEGIN
  SELECT e.* INTO target FROM event e WHERE e.post_id = refuse_event_over.event;
  IF target.cancelled_at IS NOT NULL THEN PERFORM refuse_as(worded(refusal('CLOSED', 'eventId'), 'CALLED_OFF')); END IF;
  PERFORM refuse_past(target);
END $$;
COMMENT ON FUNCTION refuse_event_over IS 'Refuses if an event is canceled or over.';

CREATE OR REPLACE FUNCTION hold_event(viewer bigint, event bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM seen_post(viewer, event, '{event}', 'eventId');
  -- The post goes first, so that what is deleted meanwhile takes no answer; then the invitation, which may be what
  -- shows the event. Both are looked at again, as they may have been changed meanwhile.
  PERFORM FROM post p WHERE p.id = event FOR KEY SHARE;
  PERFORM FROM invitation i WHERE i.event_id = event AND i.invitee_id = viewer FOR NO KEY UPDATE;
  PERFORM seen_post(viewer, event, '{event}', 'eventId');
END $$;
COMMENT ON FUNCTION hold_event IS
  'Locks an event for an answer by the viewer, who goes on seeing it meanwhile. Refuses if the viewer does not.';

CREATE OR REPLACE FUNCTION set_attendance(viewer bigint, event bigint, status text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM hold_event(viewer, event);
  PERFORM refuse_event_over(event);
  INSERT INTO attendance AS a (event_id, user_id, status)
  VALUES (event, viewer, set_attendance.status)
  ON CONFLICT (event_id, user_id) DO UPDATE SET status = EXCLUDED.status, updated_at = now()
  WHERE a.status <> EXCLUDED.status;
  UPDATE invitation i
  SET status = CASE WHEN set_attendance.status = 'NOT_GOING' THEN 'DECLINED' ELSE 'ACCEPTED' END
  WHERE i.event_id = event AND i.invitee_id = viewer AND i.status <> 'WITHDRAWN'
    AND i.status <> CASE WHEN set_attendance.status = 'NOT_GOING' THEN 'DECLINED' ELSE 'ACCEPTED' END;
  RETURN event;
END $$;
COMMENT ON FUNCTION set_attendance IS 'Implements Mutation.setAttendance.';

CREATE OR REPLACE FUNCTION clear_attendance(viewer bigint, event bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target event;
BEGIN
  PERFORM hold_event(viewer, event);
  IF NOT EXISTS (SELECT FROM attendance a WHERE a.event_id = event AND a.user_id = viewer) THEN RETURN event; END IF;
  SELECT e.* INTO target FROM event e WHERE e.post_id = clear_attendance.event;
  PERFORM refuse_past(target);
  UPDATE invitation i SET status = 'PENDING'
  WHERE i.event_id = event AND i.invitee_id = viewer AND i.status IN ('ACCEPTED', 'DECLINED');
  DELETE FROM attendance a WHERE a.event_id = event AND a.user_id = viewer;
  PERFORM FROM notification n WHERE n.recipient_id = viewer AND n.about_id = event ORDER BY n.id FOR NO KEY UPDATE;
  UPDATE notification n SET action_performed_at = NULL
  WHERE n.recipient_id = viewer AND n.about_id = event AND n.action_kind = 'ATTEND'
    AND n.action_performed_at IS NOT NULL;
  RETURN event;
END $$;
COMMENT ON FUNCTION clear_attendance IS
  'Implements Mutation.clearAttendance. The invitation is open again, and so is the button that accepts it.';
