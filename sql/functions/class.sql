-- Classes: programs, booking and giving back seats, offering, moving and calling off times.

CALL node('program', 40, path => '/programs/');
CALL tell_of('program_trainer', 'program_id', 'program');
CALL node('class_session', 41, path => '/classes/', flaggable => true,
  leaving => 'SELECT s.id FROM class_session s WHERE s.trainer_id = $1
    UNION SELECT b.session_id FROM booking b WHERE b.user_id = $1', lock_place => 60);
CALL node('booking', 42, owner => 'user_id', path => '/bookings/', exported => 'bookings');
CALL told('booking', 'change', '{user_id}', only_columns => true);
-- with the number of seats taken
CALL told('booking', 'node', '{session_id}', '{class_session}', only_columns => true);

CREATE OR REPLACE FUNCTION visible_booking(viewer bigint) RETURNS SETOF booking
LANGUAGE sql STABLE AS $$
  SELECT b.* FROM booking b
  WHERE b.user_id = viewer
    OR EXISTS (SELECT FROM class_session s WHERE s.id = b.session_id AND s.trainer_id = viewer)
    OR EXISTS (SELECT FROM staff(viewer))
$$;
COMMENT ON FUNCTION visible_booking IS
  'Returns the bookings that the viewer may see: the viewer''s own, those with the viewer as trainer, and all for '
  'staff.';

CREATE OR REPLACE FUNCTION book_class_session(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  chosen class_session;
  made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT s.* INTO chosen FROM class_session s WHERE s.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'classSessionId'); END IF;
  SELECT b.id INTO made FROM booking b
  WHERE b.session_id = target AND b.user_id = viewer AND b.cancelled_at IS NULL;
  IF FOUND THEN RETURN made; END IF;
  IF chosen.cancelled_at IS NOT NULL THEN
    PERFORM refuse_as(worded(refusal('CLOSED', 'classSessionId'), 'CALLED_OFF'));
  END IF;
  IF chosen.starts_at <= now() THEN
    PERFORM refuse_as(worded(refusal('PAST', 'classSessionId'), 'CLASS_STARTED'));
  END IF;
  IF chosen.trainer_id = viewer THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN', 'classSessionId'), 'OWN_CLASS'));
  END IF;
  INSERT INTO booking (session_id, user_id) VALUES (target, viewer)
  ON CONFLICT (session_id, user_id) WHERE cancelled_at IS NULL DO NOTHING RETURNING id INTO made;
  IF made IS NULL THEN
    RETURN (SELECT b.id FROM booking b
      WHERE b.session_id = target AND b.user_id = viewer AND b.cancelled_at IS NULL);
  END IF;
  -- With the first seat the trainer holds nothing else at the time.
  PERFORM hold_trainer(target);
  UPDATE class_session s SET booked_count = s.booked_count + 1
  WHERE s.id = target AND s.booked_count < s.capacity AND s.cancelled_at IS NULL;
  IF NOT FOUND THEN
    IF EXISTS (SELECT FROM class_session s WHERE s.id = target AND s.cancelled_at IS NOT NULL) THEN
      PERFORM refuse_as(worded(refusal('CLOSED', 'classSessionId'), 'CALLED_OFF'));
    END IF;
    PERFORM refuse('FULL', 'classSessionId');
  END IF;
  RETURN made;
EXCEPTION WHEN exclusion_violation THEN
  -- the trainer holds another session at the time
  PERFORM refuse_as(worded(refusal('OVERLAP', 'classSessionId'), 'TRAINER_BUSY'));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION book_class_session IS
  'Implements Mutation.bookClassSession. Returns an existing booking. Seats are locked last, because all users who '
  'book wait for them.';

CREATE OR REPLACE FUNCTION hold_trainer(session bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('trainer', s.trainer_id)) FROM class_session s WHERE s.id = session;
END $$;
COMMENT ON FUNCTION hold_trainer IS
  'Locks the calendar of a session''s trainer until the transaction ends. An update of a session is checked against '
  'overlapping ones, and waits for transactions that update these. Call it before the session is locked or updated.';

CREATE OR REPLACE FUNCTION cancel_booking(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE chosen booking;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT b.* INTO chosen FROM visible_booking(viewer) b WHERE b.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'bookingId'); END IF;
  IF chosen.user_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'bookingId'); END IF;
  IF chosen.cancelled_at IS NOT NULL THEN RETURN target; END IF;
  -- the session before its bookings, as who calls it off does
  PERFORM hold_trainer(chosen.session_id);
  PERFORM FROM class_session s WHERE s.id = chosen.session_id FOR NO KEY UPDATE;
  IF EXISTS (SELECT FROM class_session s WHERE s.id = chosen.session_id AND s.starts_at <= now()) THEN
    PERFORM refuse_as(worded(refusal('PAST', 'bookingId'), 'CLASS_STARTED'));
  END IF;
  UPDATE booking b SET cancelled_at = now() WHERE b.id = target AND b.cancelled_at IS NULL;
  IF FOUND THEN
    UPDATE class_session s SET booked_count = s.booked_count - 1 WHERE s.id = chosen.session_id;
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION cancel_booking IS
  'Implements Mutation.cancelBooking, for the viewer''s own bookings before the session starts.';

CREATE OR REPLACE FUNCTION schedule_class_sessions(viewer bigint, input jsonb)
RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  course program;
  trainer bigint := (input ->> 'trainerId')::bigint;
  starts timestamptz[] := ARRAY(SELECT t::timestamptz
    FROM jsonb_array_elements_text(input -> 'startsAt') AS t);
  seats int := coalesce((input ->> 'capacity')::int, 1);
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT (has_role(viewer, 'STAFF') OR trainer = viewer AND has_role(viewer, 'TRAINER')) THEN
    PERFORM refuse('FORBIDDEN', 'input', 'trainerId');
  END IF;
  SELECT p.* INTO course FROM program p WHERE p.id = (input ->> 'programId')::bigint FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'input', 'programId'); END IF;
  PERFORM FROM program_trainer t WHERE t.program_id = course.id AND t.trainer_id = trainer FOR KEY SHARE;
  IF NOT FOUND THEN
    IF person_fault(viewer, trainer, true) IS NOT NULL THEN
      PERFORM refuse('NOT_FOUND', 'input', 'trainerId');
    END IF;
    PERFORM refuse_as(worded(refusal('INVALID', 'input', 'trainerId'), 'NOT_A_TRAINER'));
  END IF;
  IF cardinality(starts) = 0 THEN
    PERFORM refuse_as(worded(refusal('REQUIRED', 'input', 'startsAt'), 'TIMES'));
  END IF;
  PERFORM refuse_longer(cardinality(starts), 200, 'MOST', 'input', 'startsAt');
  IF seats < 1 OR seats > 10000 THEN
    PERFORM refuse_as(limited(worded(refusal('INVALID', 'input', 'capacity'), 'SEATS'), 1, 10000));
  END IF;
  PERFORM refuse_all((SELECT coalesce(jsonb_agg(
      worded(refusal('PAST', 'input', 'startsAt', (e.place - 1)::text), 'IN_PAST') ORDER BY e.place), '[]')
    FROM unnest(starts) WITH ORDINALITY AS e(start, place) WHERE e.start <= now()));
  INSERT INTO class_session (program_id, trainer_id, starts_at, ends_at, capacity)
  SELECT course.id, trainer, e.start, e.start + make_interval(mins => course.duration_minutes), seats
  FROM (SELECT DISTINCT u.start FROM unnest(starts) AS u(start)) e ORDER BY e.start
  ON CONFLICT (program_id, trainer_id, starts_at) DO NOTHING;
  RETURN ARRAY(SELECT s.id FROM class_session s
    WHERE s.program_id = course.id AND s.trainer_id = trainer AND s.starts_at = ANY (starts)
    ORDER BY s.starts_at, s.id);
END $$;
COMMENT ON FUNCTION schedule_class_sessions IS
  'Implements Mutation.scheduleClassSessions, for staff, and for trainers for their own sessions. Returns existing '
  'sessions unchanged.';

CREATE OR REPLACE FUNCTION ruled_session(viewer bigint, target bigint, VARIADIC path text[])
RETURNS class_session LANGUAGE plpgsql AS $$
DECLARE chosen class_session;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM hold_trainer(target);
  SELECT s.* INTO chosen FROM class_session s WHERE s.id = target FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', VARIADIC path); END IF;
  IF NOT (has_role(viewer, 'STAFF') OR chosen.trainer_id = viewer AND has_role(viewer, 'TRAINER')) THEN
    PERFORM refuse('FORBIDDEN', VARIADIC path);
  END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION ruled_session IS
  'Returns a class session that the viewer may change: any for staff, trainers their own. Refuses any other.';

CREATE OR REPLACE FUNCTION notify_booked(viewer bigint, session_id bigint, change text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE seat booking;
BEGIN
  FOR seat IN SELECT b.* FROM booking b
    WHERE b.session_id = notify_booked.session_id AND b.cancelled_at IS NULL ORDER BY b.id
  LOOP
    PERFORM notify_people(ARRAY[seat.user_id], 'BOOKING_CHANGED', viewer, seat.id,
      'BOOKING_CHANGED.' || change);
  END LOOP;
END $$;
COMMENT ON FUNCTION notify_booked IS 'Notifies the users who booked a class session that it was MOVED or CANCELLED.';

CREATE OR REPLACE FUNCTION update_class_session(viewer bigint, session_id bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  target class_session;
  start timestamptz := (input ->> 'startsAt')::timestamptz;
  seats int := (input ->> 'capacity')::int;
BEGIN
  target := ruled_session(viewer, session_id, 'classSessionId');
  IF target.cancelled_at IS NOT NULL THEN
    PERFORM refuse_as(worded(refusal('CLOSED', 'classSessionId'), 'CALLED_OFF'));
  END IF;
  IF seats < greatest(target.booked_count, 1) OR seats > 10000 THEN
    PERFORM refuse_as(limited(worded(refusal('INVALID', 'input', 'capacity'), 'SEATS_BOOKED'), NULL, 10000));
  END IF;
  IF target.starts_at <= now() THEN
    PERFORM refuse_as(worded(refusal('PAST', 'classSessionId'), 'CLASS_STARTED'));
  END IF;
  IF start <= now() THEN PERFORM refuse_as(worded(refusal('PAST', 'input', 'startsAt'), 'IN_PAST')); END IF;
  UPDATE class_session s SET capacity = coalesce(seats, s.capacity),
    starts_at = coalesce(start, s.starts_at),
    ends_at = coalesce(start, s.starts_at) + (s.ends_at - s.starts_at)
  WHERE s.id = target.id;
  IF start <> target.starts_at THEN
    PERFORM notify_booked(viewer, target.id, 'MOVED');
  END IF;
  RETURN target.id;
EXCEPTION
  WHEN exclusion_violation THEN
    PERFORM refuse_as(worded(refusal('OVERLAP', 'input', 'startsAt'), 'TRAINER_BUSY'));
    RETURN NULL;
  WHEN unique_violation THEN
    PERFORM refuse_as(worded(refusal('TAKEN', 'input', 'startsAt'), 'CLASS_TWICE'));
    RETURN NULL;
END $$;
COMMENT ON FUNCTION update_class_session IS 'Implements Mutation.updateClassSession.';

CREATE OR REPLACE FUNCTION cancel_class_session(viewer bigint, session_id bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target class_session;
BEGIN
  target := ruled_session(viewer, session_id, 'classSessionId');
  IF target.cancelled_at IS NOT NULL THEN RETURN target.id; END IF;
  PERFORM notify_booked(viewer, target.id, 'CANCELLED');
  UPDATE booking b SET cancelled_at = now()
  WHERE b.session_id = target.id AND b.cancelled_at IS NULL;
  UPDATE class_session s SET cancelled_at = now(), booked_count = 0 WHERE s.id = target.id;
  RETURN target.id;
END $$;
COMMENT ON FUNCTION cancel_class_session IS
  'Implements Mutation.cancelClassSession, which cancels the bookings. The session remains readable.';

CREATE OR REPLACE FUNCTION program_refusals(input jsonb, is_new boolean) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  trainers bigint[] := id_list(input -> 'trainerIds');
  place bigint := (input ->> 'locationId')::bigint;
  refusals jsonb := '[]';
BEGIN
  IF is_new OR input ? 'title' THEN
    refusals := name_refusals(input ->> 'title', true, 200, 'input', 'title');
  END IF;
  refusals := refusals || text_refusals(input ->> 'description', false, 5000, 'input', 'description');
  IF input ? 'training' AND input ->> 'training' IS NULL THEN
    refusals := refusals || refusal('REQUIRED', 'input', 'training');
  END IF;
  IF NOT EXISTS (SELECT FROM location l WHERE l.id = place) AND place IS NOT NULL THEN
    refusals := refusals || refusal('NOT_FOUND', 'input', 'locationId');
  END IF;
  IF input ? 'durationMinutes' AND input ->> 'durationMinutes' IS NULL THEN
    refusals := refusals || refusal('REQUIRED', 'input', 'durationMinutes');
  ELSIF (input ->> 'durationMinutes')::int NOT BETWEEN 1 AND 1440 THEN
    refusals := refusals || limited(worded(refusal('INVALID', 'input', 'durationMinutes'), 'MINUTES'), 1, 1440);
  END IF;
  IF is_new OR input ? 'trainerIds' THEN
    refusals := refusals || list_refusals(trainers, true, 100, 'input', 'trainerIds')
      || (SELECT coalesce(jsonb_agg(refusal(
            CASE WHEN u.id IS NULL THEN 'NOT_FOUND' ELSE 'INVALID' END,
            'input', 'trainerIds', (e.place - 1)::text) ORDER BY e.place), '[]')
          FROM unnest(trainers) WITH ORDINALITY AS e(id, place) LEFT JOIN app_user u ON u.id = e.id
          WHERE u.id IS NULL OR NOT 'TRAINER' = ANY (u.roles));
  END IF;
  RETURN refusals;
END $$;
COMMENT ON FUNCTION program_refusals IS
  'Returns the errors of the input for a program: for a new one of everything, otherwise of what is given.';

CREATE OR REPLACE FUNCTION create_program(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint;
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  PERFORM refuse_all(program_refusals(input, true));
  INSERT INTO program (title, description, training, location_id, duration_minutes)
  VALUES (words(input ->> 'title'), coalesce(words(input ->> 'description'), ''), input ->> 'training',
    (input ->> 'locationId')::bigint, (input ->> 'durationMinutes')::int)
  RETURNING id INTO made;
  INSERT INTO program_trainer (program_id, trainer_id)
  SELECT DISTINCT made, e.id FROM unnest(id_list(input -> 'trainerIds')) AS e(id) ORDER BY e.id;
  RETURN made;
END $$;
COMMENT ON FUNCTION create_program IS 'Implements Mutation.createProgram, for staff and services.';

CREATE OR REPLACE FUNCTION set_trainers(target bigint, trainers bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- No session is added for whom is taken out.
  PERFORM FROM program_trainer t WHERE t.program_id = target ORDER BY t.trainer_id FOR UPDATE;
  IF EXISTS (SELECT FROM class_session s WHERE s.program_id = target AND s.starts_at > now()
      AND s.cancelled_at IS NULL AND s.trainer_id <> ALL (trainers)) THEN
    PERFORM refuse_as(worded(refusal('IN_USE', 'input', 'trainerIds'), 'TRAINER_NEEDED'));
  END IF;
  INSERT INTO program_trainer (program_id, trainer_id)
  SELECT DISTINCT target, e.id FROM unnest(trainers) AS e(id) ORDER BY e.id
  ON CONFLICT (program_id, trainer_id) DO NOTHING;
  -- who held sessions stays, for the sessions' sake
  DELETE FROM program_trainer t WHERE t.program_id = target AND t.trainer_id <> ALL (trainers)
    AND NOT EXISTS (SELECT FROM class_session s
      WHERE s.program_id = target AND s.trainer_id = t.trainer_id);
END $$;
COMMENT ON FUNCTION set_trainers IS
  'Replaces the trainers of a program. Refuses to leave out one with classes to come; those who held classes stay.';

CREATE OR REPLACE FUNCTION update_program(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE seats bigint;
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  PERFORM FROM program p WHERE p.id = target FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'programId'); END IF;
  PERFORM refuse_all(program_refusals(input, false));
  IF (input ->> 'isArchived')::boolean THEN
    SELECT sum(s.booked_count) INTO seats FROM class_session s
    WHERE s.program_id = target AND s.starts_at > now() AND s.cancelled_at IS NULL;
    IF seats > 0 THEN
      PERFORM refuse_as(worded(refusal('IN_USE', 'input', 'isArchived'), 'CLASSES_BOOKED',
        jsonb_build_object('count', seats)));
    END IF;
  END IF;
  IF input ? 'trainerIds' THEN PERFORM set_trainers(target, id_list(input -> 'trainerIds')); END IF;
  UPDATE program p SET
    title = CASE WHEN input ? 'title' THEN words(input ->> 'title') ELSE p.title END,
    description = CASE WHEN input ? 'description' THEN coalesce(words(input ->> 'description'), '')
      ELSE p.description END,
    training = coalesce(input ->> 'training', p.training),
    location_id = CASE WHEN input ? 'locationId' THEN (input ->> 'locationId')::bigint ELSE p.location_id END,
    duration_minutes = coalesce((input ->> 'durationMinutes')::int, p.duration_minutes),
    is_archived = coalesce((input ->> 'isArchived')::boolean, p.is_archived)
  WHERE p.id = target;
  RETURN target;
END $$;
COMMENT ON FUNCTION update_program IS
  'Implements Mutation.updateProgram. Omitted fields keep their value. A program with booked classes to come stays in '
  'the lists.';
