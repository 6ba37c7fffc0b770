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
    INSERT INTO invitation (inviter_id, event_id, invitee_id)
    SELECT viewer, event, e.id FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id)) e
    WHERE e.id <> viewer AND NOT EXISTS (SELECT FROM hidden_user(viewer) h WHERE h.id = e.id)
    ORDER BY e.id
    ON CONFLICT (event_id, invitee_id) DO NOTHING RETURNING invitee_id)
  SELECT array_agg(a.invitee_id) INTO invited FROM added a;
  PERFORM notify_people(invited, 'EVENT_INVITED', viewer, event,
    args := jsonb_build_object('title', name), action_kind := 'ATTEND');
END $$;
COMMENT ON FUNCTION invite_people IS 'Invites users to an event, each once, and notifies them.';

CREATE OR REPLACE FUNCTION set_venues(event bigint, venues jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF jsonb_array_length(venues) > 50 THEN
    PERFORM refuse_as(limited(worded(refusal('TOO_MANY', 'input', 'venues'), 'MANY_VENUES'), NULL, 50));
  END IF;
  PERFORM refuse_all((
    SELECT coalesce(jsonb_agg(refusal(bad.code, 'input', 'venues', bad.place::text, bad.name)
      ORDER BY bad.place), '[]')
    FROM (
      SELECT e.place - 1 AS place,
        CASE WHEN NOT EXISTS (
            SELECT FROM location l WHERE l.id = (e.venue ->> 'locationId')::bigint) THEN 'NOT_FOUND'
          WHEN count(*) OVER (PARTITION BY e.venue ->> 'locationId' ORDER BY e.place) > 1 THEN 'INVALID'
          WHEN (e.venue ->> 'closesAt')::timestamptz <= (e.venue ->> 'opensAt')::timestamptz
            THEN 'INVALID'
          WHEN length(e.venue ->> 'note') > 500 THEN 'TOO_LONG' END AS code,
        CASE WHEN NOT EXISTS (
            SELECT FROM location l WHERE l.id = (e.venue ->> 'locationId')::bigint) THEN 'locationId'
          WHEN count(*) OVER (PARTITION BY e.venue ->> 'locationId' ORDER BY e.place) > 1
            THEN 'locationId'
          WHEN (e.venue ->> 'closesAt')::timestamptz <= (e.venue ->> 'opensAt')::timestamptz
            THEN 'closesAt' ELSE 'note' END AS name
      FROM jsonb_array_elements(venues) WITH ORDINALITY AS e(venue, place)) bad
    WHERE bad.code IS NOT NULL));
  DELETE FROM event_venue v WHERE v.event_id = event;
  INSERT INTO event_venue (event_id, location_id, opens_at, closes_at, note)
  SELECT event, (v ->> 'locationId')::bigint, (v ->> 'opensAt')::timestamptz,
    (v ->> 'closesAt')::timestamptz, words(v ->> 'note')
  FROM jsonb_array_elements(venues) AS v;
END $$;
COMMENT ON FUNCTION set_venues IS 'Replaces the venues of a meal. Refuses invalid ones.';

CREATE OR REPLACE FUNCTION create_event(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  begins timestamptz := (input ->> 'startsAt')::timestamptz;
  ends timestamptz := (input ->> 'endsAt')::timestamptz;
  outside text := words(input ->> 'externalId');
  channel bigint := (input ->> 'circleId')::bigint;
  people bigint[] := id_list(input -> 'inviteUserIds');
  members bigint[];
  refusals jsonb := text_refusals(input ->> 'title', true, 200, 'input', 'title')
    || text_refusals(outside, false, 200, 'input', 'externalId');
BEGIN
  PERFORM require_viewer(viewer);
  IF ends <= begins THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'endsAt'), 'ENDS_BEFORE_START');
  END IF;
  IF input ->> 'sourceUrl' IS NOT NULL AND NOT is_url(input ->> 'sourceUrl') THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'sourceUrl'), 'URL_FORM');
  END IF;
  IF outside IS NOT NULL AND NOT has_role(viewer, 'SERVICE', 'STAFF') THEN
    refusals := refusals || refusal('FORBIDDEN', 'input', 'externalId');
  END IF;
  IF outside IS NOT NULL THEN
    IF channel IS NULL THEN
      refusals := refusals || worded(refusal('REQUIRED', 'input', 'circleId'), 'CHANNEL');
    ELSIF EXISTS (SELECT FROM visible_circle(viewer) c WHERE c.id = channel AND c.kind = 'GROUP') THEN
      refusals := refusals || worded(refusal('INVALID', 'input', 'circleId'), 'CHANNEL');
    END IF;
    IF input ->> 'visibility' <> 'PUBLIC' THEN
      refusals := refusals || worded(refusal('INVALID', 'input', 'visibility'), 'IMPORTED_PUBLIC');
    END IF;
  END IF;
  PERFORM refuse_all(refusals
    || list_refusals(people, false, 100, 'input', 'inviteUserIds')
    || people_refusals(viewer, people, false, 'input', 'inviteUserIds'));
  members := circle_people(viewer, id_list(input -> 'inviteCircleIds'), 'input', 'inviteCircleIds');
  IF outside IS NOT NULL THEN
    -- Two scrapers at once: the second waits for the first, and changes its event.
    PERFORM pg_advisory_xact_lock(hashtextextended('event ' || outside, channel));
    SELECT e.post_id INTO made FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
    WHERE e.circle_id = channel AND e.external_id = outside;
    IF FOUND THEN
      PERFORM change_event(viewer, made, input);
      RETURN made;
    END IF;
  END IF;
  made := new_post(viewer, 'event', input, false, false);
  INSERT INTO event (post_id, title, starts_at, ends_at, category, circle_id, external_id, source_url)
  VALUES (made, words(input ->> 'title'), begins, ends, coalesce(input ->> 'category', 'GENERAL'),
    channel, outside, input ->> 'sourceUrl');
  PERFORM set_venues(made, coalesce(nullif(input -> 'venues', 'null'), '[]'));
  PERFORM invite_people(viewer, made, coalesce(people, '{}') || members);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_event IS
  'Implements Mutation.createEvent. With a channel and an external ID that was used before, it changes that event. '
  'Imported events are public.';

CREATE OR REPLACE FUNCTION event_people(event bigint) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(
    SELECT i.invitee_id FROM invitation i WHERE i.event_id = event AND i.status <> 'DECLINED'
    UNION SELECT a.user_id FROM attendance a WHERE a.event_id = event AND a.status <> 'NOT_GOING');
END $$;
COMMENT ON FUNCTION event_people IS
  'Returns the users to notify when an event changes: invited users who have not declined, and users who may attend.';

CREATE OR REPLACE FUNCTION change_event(viewer bigint, event_id bigint, input jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  old event;
  old_post post;
  new_place bigint;
  photos bigint[] := id_list(input -> 'photoIds');
  refusals jsonb := '[]';
  is_changed boolean;
BEGIN
  SELECT p.* INTO old_post FROM post p WHERE p.id = event_id FOR NO KEY UPDATE;
  SELECT e.* INTO old FROM event e WHERE e.post_id = event_id FOR NO KEY UPDATE;
  IF input ? 'title' THEN
    refusals := refusals || text_refusals(input ->> 'title', true, 200, 'input', 'title');
  END IF;
  IF input ? 'startsAt' AND input ->> 'startsAt' IS NULL THEN
    refusals := refusals || worded(refusal('REQUIRED', 'input', 'startsAt'), 'EVENT_START');
  END IF;
  refusals := refusals || text_refusals(input ->> 'body', false, 5000, 'input', 'body');
  IF input ? 'photoIds' THEN
    refusals := refusals || photo_refusals(viewer, photos, false, 'input', 'photoIds');
  END IF;
  IF (CASE WHEN input ? 'endsAt' THEN (input ->> 'endsAt')::timestamptz ELSE old.ends_at END)
      <= coalesce((input ->> 'startsAt')::timestamptz, old.starts_at) THEN
    refusals := refusals || worded(refusal('INVALID', 'input',
      CASE WHEN input ? 'endsAt' THEN 'endsAt' ELSE 'startsAt' END), 'ENDS_BEFORE_START');
  END IF;
  PERFORM refuse_all(refusals);
  new_place := CASE WHEN input ? 'location'
    THEN use_location(viewer, input -> 'location', 'input', 'location') ELSE old_post.location_id END;
  UPDATE event e SET
    title = CASE WHEN input ? 'title' THEN words(input ->> 'title') ELSE e.title END,
    starts_at = coalesce((input ->> 'startsAt')::timestamptz, e.starts_at),
    ends_at = CASE WHEN input ? 'endsAt' THEN (input ->> 'endsAt')::timestamptz ELSE e.ends_at END
  WHERE e.post_id = event_id AND (
    input ? 'title' AND words(input ->> 'title') <> e.title
    OR (input ->> 'startsAt')::timestamptz <> e.starts_at
    OR input ? 'endsAt' AND (input ->> 'endsAt')::timestamptz IS DISTINCT FROM e.ends_at);
  is_changed := FOUND OR new_place IS DISTINCT FROM old_post.location_id;
  IF input ? 'photoIds' THEN PERFORM set_photos(event_id, photos); END IF;
  IF input ? 'venues' THEN
    PERFORM set_venues(event_id, coalesce(nullif(input -> 'venues', 'null'), '[]'));
  END IF;
  UPDATE post p SET updated_at = now(), location_id = new_place,
    body = CASE WHEN input ? 'body' THEN coalesce(words(input ->> 'body'), '') ELSE p.body END
  WHERE p.id = event_id AND (is_changed OR input ? 'photoIds' OR input ? 'venues'
    OR input ? 'body' AND coalesce(words(input ->> 'body'), '') <> p.body);
  IF is_changed THEN
    PERFORM notify_people(event_people(event_id), 'EVENT_CHANGED', viewer, event_id,
      args := (SELECT jsonb_build_object('title', e.title) FROM event e WHERE e.post_id = event_id));
  END IF;
END $$;
COMMENT ON FUNCTION change_event IS
  'Changes an event according to the input, and notifies users if title, time, or location changed.';

CREATE OR REPLACE FUNCTION update_event(viewer bigint, event_id bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target post := own_post(viewer, event_id, '{event}', 'eventId');
BEGIN
  IF EXISTS (SELECT FROM event e WHERE e.post_id = target.id AND e.cancelled_at IS NOT NULL) THEN
    PERFORM refuse_as(worded(refusal('CLOSED', 'eventId'), 'CALLED_OFF'));
  END IF;
  PERFORM change_event(viewer, target.id, input);
  RETURN target.id;
END $$;
COMMENT ON FUNCTION update_event IS 'Implements Mutation.updateEvent.';

CREATE OR REPLACE FUNCTION cancel_event(viewer bigint, event bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, event, '{event}', 'eventId');
  UPDATE event e SET cancelled_at = now() WHERE e.post_id = cancel_event.event
    AND e.cancelled_at IS NULL;
  IF FOUND THEN
    UPDATE post p SET updated_at = now() WHERE p.id = cancel_event.event;
    PERFORM notify_people(event_people(event), 'EVENT_CANCELLED', viewer, event,
      args := (SELECT jsonb_build_object('title', e.title) FROM event e WHERE e.post_id = cancel_event.event));
  END IF;
  RETURN event;
END $$;
COMMENT ON FUNCTION cancel_event IS 'Implements Mutation.cancelEvent.';

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
    || people_refusals(viewer, people, false, 'userIds'));
  members := circle_people(viewer, circles, 'circleIds');
  PERFORM invite_people(viewer, event, coalesce(people, '{}') || members);
  RETURN event;
END $$;
COMMENT ON FUNCTION invite_to_event IS
  'Implements Mutation.inviteToEvent, for the author, and for users who attend an event that is not by invitation.';

CREATE OR REPLACE FUNCTION refuse_event_over(event bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE target event;
BEGIN
  SELECT e.* INTO target FROM event e WHERE e.post_id = refuse_event_over.event;
  IF target.cancelled_at IS NOT NULL THEN PERFORM refuse_as(worded(refusal('CLOSED', 'eventId'), 'CALLED_OFF')); END IF;
  IF coalesce(target.ends_at, target.starts_at + interval '1 day') <= now() THEN
    PERFORM refuse_as(worded(refusal('PAST', 'eventId'), 'EVENT_OVER'));
  END IF;
END $$;
COMMENT ON FUNCTION refuse_event_over IS 'Refuses if an event is canceled or over.';

CREATE OR REPLACE FUNCTION set_attendance(viewer bigint, event bigint, status text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM seen_post(viewer, event, '{event}', 'eventId');
  -- The post goes first, so that what is deleted meanwhile takes no answer.
  PERFORM FROM post p WHERE p.id = event FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'eventId'); END IF;
  PERFORM refuse_event_over(event);
  INSERT INTO attendance AS a (event_id, user_id, status)
  VALUES (event, viewer, set_attendance.status)
  ON CONFLICT (event_id, user_id) DO UPDATE SET status = EXCLUDED.status, updated_at = now()
  WHERE a.status <> EXCLUDED.status;
  UPDATE invitation i
  SET status = CASE WHEN set_attendance.status = 'NOT_GOING' THEN 'DECLINED' ELSE 'ACCEPTED' END
  WHERE i.event_id = event AND i.invitee_id = viewer
    AND i.status <> CASE WHEN set_attendance.status = 'NOT_GOING' THEN 'DECLINED' ELSE 'ACCEPTED' END;
  RETURN event;
END $$;
COMMENT ON FUNCTION set_attendance IS 'Implements Mutation.setAttendance.';
