-- Calendars: events and classes together, by the time they begin. Events called off are in none.

-- In a condition: EXISTS (SELECT FROM bookable(s)). A scalar function with a sub-select would not be
-- put in place of its call.
CREATE OR REPLACE FUNCTION bookable(s class_session) RETURNS TABLE (yes boolean)
LANGUAGE sql STABLE AS $$
  SELECT true WHERE s.booked_count < s.capacity AND s.starts_at > now() AND s.cancelled_at IS NULL
    AND NOT EXISTS (SELECT FROM class_session taken
      WHERE taken.booked_count > 0 AND taken.id <> s.id
        AND int8range(taken.trainer_id, taken.trainer_id, '[]')
          && int8range(s.trainer_id, s.trainer_id, '[]')
        AND tstzrange(taken.starts_at, taken.ends_at) && tstzrange(s.starts_at, s.ends_at))
$$;
COMMENT ON FUNCTION bookable IS
  'Returns a row if a class session can be booked: it has not started, is not canceled, and has seats left. Its '
  'trainer must have no other booked session at the time.';

CREATE OR REPLACE FUNCTION refused_event(viewer bigint) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT a.event_id FROM attendance a WHERE a.user_id = viewer AND a.status IN ('NOT_GOING', 'DECLINED')
  UNION ALL
  SELECT i.event_id FROM invitation i
  WHERE i.invitee_id = viewer AND i.status IN ('NOT_GOING', 'DECLINED') AND i.event_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM attendance a WHERE a.event_id = i.event_id AND a.user_id = viewer)
$$;
COMMENT ON FUNCTION refused_event IS
  'Returns the events that the viewer declined. An answer about attendance takes precedence over the invitation.';

-- What one has to do with oneself is gathered; of each circle the first few are taken, by its index, as
-- many as the page needs.
CREATE OR REPLACE FUNCTION agenda(viewer bigint, since timestamptz, until timestamptz, kinds text[], page int,
  after timestamptz, after_id bigint)
RETURNS TABLE (id bigint, starts_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT e.post_id, e.starts_at
  FROM (SELECT a.event_id AS id FROM attendance a WHERE a.user_id = viewer AND a.status <> 'NOT_GOING'
      UNION SELECT i.event_id FROM invitation i
        WHERE i.invitee_id = viewer AND i.status NOT IN ('DECLINED', 'WITHDRAWN') AND i.event_id IS NOT NULL
      UNION SELECT p.id FROM post p WHERE p.author_id = viewer AND p.kind = tag_of('event')) mine
    -- OFFSET 0: one by one, not all events of the time
    CROSS JOIN LATERAL (SELECT f.* FROM event f WHERE f.post_id = mine.id OFFSET 0) e
    JOIN visible_post(viewer) v ON v.id = e.post_id
  WHERE (kinds IS NULL OR 'EVENT' = ANY (kinds))
    AND e.starts_at >= since AND e.starts_at < until AND e.cancelled_at IS NULL
    AND e.post_id NOT IN (SELECT r.id FROM refused_event(viewer) r)
  UNION
  SELECT c.post_id, c.starts_at
  FROM circle_member m CROSS JOIN LATERAL (
    SELECT f.post_id, f.starts_at FROM event f JOIN visible_post(viewer) v ON v.id = f.post_id
    WHERE f.circle_id = m.circle_id AND f.starts_at >= since AND f.starts_at < until
      AND (f.starts_at, f.post_id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
      AND f.cancelled_at IS NULL AND f.post_id NOT IN (SELECT r.id FROM refused_event(viewer) r)
    ORDER BY f.starts_at, f.post_id LIMIT page) c
  WHERE m.user_id = viewer AND (kinds IS NULL OR 'EVENT' = ANY (kinds))
  UNION ALL
  SELECT s.id, s.starts_at
  FROM booking b JOIN class_session s ON s.id = b.session_id
  WHERE (kinds IS NULL OR 'CLASS' = ANY (kinds)) AND b.user_id = viewer AND b.cancelled_at IS NULL
    AND s.starts_at >= since AND s.starts_at < until
$$;
COMMENT ON FUNCTION agenda IS
  'Returns the events that the viewer attends, is invited to, created, or gets from a circle, unless declined, and the '
  'class sessions that the viewer booked. kinds: only these, which are known before a row is read; null for both.';

CREATE OR REPLACE FUNCTION agenda_earlier(viewer bigint, since timestamptz, until timestamptz, kinds text[],
  page int, before timestamptz, before_id bigint)
RETURNS TABLE (id bigint, starts_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT e.post_id, e.starts_at
  FROM (SELECT a.event_id AS id FROM attendance a WHERE a.user_id = viewer AND a.status <> 'NOT_GOING'
      UNION SELECT i.event_id FROM invitation i
        WHERE i.invitee_id = viewer AND i.status NOT IN ('DECLINED', 'WITHDRAWN') AND i.event_id IS NOT NULL
      UNION SELECT p.id FROM post p WHERE p.author_id = viewer AND p.kind = tag_of('event')) mine
    -- OFFSET 0: one by one, not all events of the time
    CROSS JOIN LATERAL (SELECT f.* FROM event f WHERE f.post_id = mine.id OFFSET 0) e
    JOIN visible_post(viewer) v ON v.id = e.post_id
  WHERE (kinds IS NULL OR 'EVENT' = ANY (kinds))
    AND e.starts_at >= since AND e.starts_at < until AND e.cancelled_at IS NULL
    AND e.post_id NOT IN (SELECT r.id FROM refused_event(viewer) r)
  UNION
  SELECT c.post_id, c.starts_at
  FROM circle_member m CROSS JOIN LATERAL (
    SELECT f.post_id, f.starts_at FROM event f JOIN visible_post(viewer) v ON v.id = f.post_id
    WHERE f.circle_id = m.circle_id AND f.starts_at >= since AND f.starts_at < until
      AND (f.starts_at, f.post_id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
      AND f.cancelled_at IS NULL AND f.post_id NOT IN (SELECT r.id FROM refused_event(viewer) r)
    ORDER BY f.starts_at DESC, f.post_id DESC LIMIT page) c
  WHERE m.user_id = viewer AND (kinds IS NULL OR 'EVENT' = ANY (kinds))
  UNION ALL
  SELECT s.id, s.starts_at
  FROM booking b JOIN class_session s ON s.id = b.session_id
  WHERE (kinds IS NULL OR 'CLASS' = ANY (kinds)) AND b.user_id = viewer AND b.cancelled_at IS NULL
    AND s.starts_at >= since AND s.starts_at < until
$$;
COMMENT ON FUNCTION agenda_earlier IS 'Returns the same entries as agenda, from the end of its order.';

-- Each branch gives its first few by an index that has the rows in time order, so a page costs what a page
-- is, however long the time and however much happens in it. Which branches there are is known before a row
-- is read; the others are not run.
--
-- page, after, after_id: as many rows as a page needs, from after this sort key on; null for all.
CREATE OR REPLACE FUNCTION schedule(viewer bigint, since timestamptz, until timestamptz,
  kinds text[], circle_ids bigint[], default_channels boolean, category text, program_id bigint,
  trainer_id bigint, only_open boolean, page int, after timestamptz, after_id bigint)
RETURNS TABLE (id bigint, starts_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT f.id, f.starts_at
  FROM (SELECT schedule.category AS name WHERE schedule.category IS NOT NULL
      UNION ALL SELECT c FROM unnest('{GENERAL,DINING}'::text[]) c WHERE schedule.category IS NULL) sort
    CROSS JOIN LATERAL (
      SELECT e.post_id AS id, e.starts_at
      FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
      WHERE e.category = sort.name AND p.visibility = 'PUBLIC' AND e.cancelled_at IS NULL
        AND e.starts_at >= since AND e.starts_at < until
        AND (e.starts_at, e.post_id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
      ORDER BY e.starts_at, e.post_id LIMIT page) f
  WHERE (kinds IS NULL OR 'EVENT' = ANY (kinds))
    AND schedule.program_id IS NULL AND schedule.trainer_id IS NULL AND only_open IS NOT TRUE
    AND circle_ids IS NULL AND default_channels IS NOT TRUE
  UNION ALL
  SELECT f.id, f.starts_at
  FROM (SELECT c.id FROM visible_circle(viewer) c
      WHERE c.id = ANY (circle_ids) AND (default_channels IS NOT TRUE OR c.is_default)
      UNION ALL SELECT c.id FROM circle c WHERE circle_ids IS NULL AND c.is_default) channel
    CROSS JOIN LATERAL (
      SELECT e.post_id AS id, e.starts_at
      FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
      WHERE e.circle_id = channel.id AND p.visibility = 'PUBLIC' AND e.cancelled_at IS NULL
        AND e.starts_at >= since AND e.starts_at < until
        AND (schedule.category IS NULL OR e.category = schedule.category)
        AND (e.starts_at, e.post_id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
      ORDER BY e.starts_at, e.post_id LIMIT page) f
  WHERE (kinds IS NULL OR 'EVENT' = ANY (kinds))
    AND schedule.program_id IS NULL AND schedule.trainer_id IS NULL AND only_open IS NOT TRUE
    AND (circle_ids IS NOT NULL OR default_channels)
  UNION ALL
  SELECT f.id, f.starts_at
  FROM (SELECT greatest(since, CASE WHEN only_open THEN now() END) AS since
      WHERE (kinds IS NULL OR 'CLASS' = ANY (kinds))
        AND circle_ids IS NULL AND default_channels IS NOT TRUE AND schedule.category IS NULL) span
    CROSS JOIN LATERAL (
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE schedule.program_id IS NULL AND schedule.trainer_id IS NULL
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at, s.id LIMIT page)
      UNION ALL
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE s.program_id = schedule.program_id AND schedule.trainer_id IS NULL
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at, s.id LIMIT page)
      UNION ALL
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE s.trainer_id = schedule.trainer_id AND schedule.program_id IS NULL
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at, s.id LIMIT page)
      UNION ALL
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE s.program_id = schedule.program_id AND s.trainer_id = schedule.trainer_id
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at, s.id LIMIT page)) f
$$;
COMMENT ON FUNCTION schedule IS
  'Returns the public events and the class sessions. A condition that applies to only one of them excludes the other.';

CREATE OR REPLACE FUNCTION schedule_earlier(viewer bigint, since timestamptz, until timestamptz,
  kinds text[], circle_ids bigint[], default_channels boolean, category text, program_id bigint,
  trainer_id bigint, only_open boolean, page int, before timestamptz, before_id bigint)
RETURNS TABLE (id bigint, starts_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT f.id, f.starts_at
  FROM (SELECT schedule_earlier.category AS name WHERE schedule_earlier.category IS NOT NULL
      UNION ALL SELECT c FROM unnest('{GENERAL,DINING}'::text[]) c WHERE schedule_earlier.category IS NULL) sort
    CROSS JOIN LATERAL (
      SELECT e.post_id AS id, e.starts_at
      FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
      WHERE e.category = sort.name AND p.visibility = 'PUBLIC' AND e.cancelled_at IS NULL
        AND e.starts_at >= since AND e.starts_at < until
        AND (e.starts_at, e.post_id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
      ORDER BY e.starts_at DESC, e.post_id DESC LIMIT page) f
  WHERE (kinds IS NULL OR 'EVENT' = ANY (kinds))
    AND schedule_earlier.program_id IS NULL AND schedule_earlier.trainer_id IS NULL AND only_open IS NOT TRUE
    AND circle_ids IS NULL AND default_channels IS NOT TRUE
  UNION ALL
  SELECT f.id, f.starts_at
  FROM (SELECT c.id FROM visible_circle(viewer) c
      WHERE c.id = ANY (circle_ids) AND (default_channels IS NOT TRUE OR c.is_default)
      UNION ALL SELECT c.id FROM circle c WHERE circle_ids IS NULL AND c.is_default) channel
    CROSS JOIN LATERAL (
      SELECT e.post_id AS id, e.starts_at
      FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
      WHERE e.circle_id = channel.id AND p.visibility = 'PUBLIC' AND e.cancelled_at IS NULL
        AND e.starts_at >= since AND e.starts_at < until
        AND (schedule_earlier.category IS NULL OR e.category = schedule_earlier.category)
        AND (e.starts_at, e.post_id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
      ORDER BY e.starts_at DESC, e.post_id DESC LIMIT page) f
  WHERE (kinds IS NULL OR 'EVENT' = ANY (kinds))
    AND schedule_earlier.program_id IS NULL AND schedule_earlier.trainer_id IS NULL AND only_open IS NOT TRUE
    AND (circle_ids IS NOT NULL OR default_channels)
  UNION ALL
  SELECT f.id, f.starts_at
  FROM (SELECT greatest(since, CASE WHEN only_open THEN now() END) AS since
      WHERE (kinds IS NULL OR 'CLASS' = ANY (kinds))
        AND circle_ids IS NULL AND default_channels IS NOT TRUE AND schedule_earlier.category IS NULL) span
    CROSS JOIN LATERAL (
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE schedule_earlier.program_id IS NULL AND schedule_earlier.trainer_id IS NULL
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at DESC, s.id DESC LIMIT page)
      UNION ALL
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE s.program_id = schedule_earlier.program_id AND schedule_earlier.trainer_id IS NULL
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at DESC, s.id DESC LIMIT page)
      UNION ALL
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE s.trainer_id = schedule_earlier.trainer_id AND schedule_earlier.program_id IS NULL
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at DESC, s.id DESC LIMIT page)
      UNION ALL
      (SELECT s.id, s.starts_at FROM class_session s
      WHERE s.program_id = schedule_earlier.program_id AND s.trainer_id = schedule_earlier.trainer_id
        AND s.starts_at >= span.since AND s.starts_at < until
        AND (s.starts_at, s.id) < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
        AND (only_open IS NOT TRUE OR EXISTS (SELECT FROM bookable(s)))
      ORDER BY s.starts_at DESC, s.id DESC LIMIT page)) f
$$;
COMMENT ON FUNCTION schedule_earlier IS 'Returns the same entries as schedule, from the end of its order.';
