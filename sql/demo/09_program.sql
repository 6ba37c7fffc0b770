-- Training, and what people measure of themselves.

-- step: Settling classes; run
CREATE UNLOGGED TABLE demo_program AS
SELECT new_node(tag_of('program')) AS id, i, training, title, duration FROM (
  SELECT i, demo_word(ARRAY['PERSONAL', 'SPORTS', 'GROUP', 'GROUP'], (i % 4) / 4.0) AS training,
    (ARRAY['One to one', 'Boxing', 'Morning Yoga', 'Spinning', 'Strength', 'Swimming technique',
      'Pilates', 'Circuit'])[i % 8 + 1] ||
      CASE WHEN i > 7 THEN ' ' || i / 8 + 1 ELSE '' END AS title,
    CASE i % 3 WHEN 0 THEN 60 WHEN 1 THEN 45 ELSE 50 END AS duration
  FROM generate_series(0, 7 + :scale) i ORDER BY i) s;
-- Trainer t stands in the gym four times a day, from a week ago until in three weeks, each time
-- with one of the two programs the trainer teaches.
CREATE UNLOGGED TABLE demo_session AS
SELECT new_node(tag_of('class_session')) AS id, s.*,
  floor((capacity + 1) * demo_random(key, 741) * least(1, demo_random(key, 742) * 2))::int AS booked
FROM (
  SELECT p.id AS program_id, t AS trainer, (t * 29 + day) * 4 + slot AS key,
    demo_today() + interval '1 day' * (day - 7) + interval '2 hours' * (slot * 2 + 4) AS starts_at,
    p.duration, CASE p.training WHEN 'PERSONAL' THEN 1 WHEN 'SPORTS' THEN 4 ELSE 16 END AS capacity
  FROM generate_series(0, 5 + 2 * :scale) t, generate_series(0, 28) day, generate_series(0, 3) slot,
    LATERAL (SELECT (t * 2 + (day + slot) % 2) % (8 + :scale) AS i) n JOIN demo_program p USING (i)
  ORDER BY starts_at, t) s;
CREATE UNLOGGED TABLE demo_booking AS
SELECT new_node(tag_of('booking')) AS id, s.* FROM (
  SELECT s.id AS session_id, demo_id('user', u) AS user_id, n < s.booked AS is_held,
    s.starts_at - interval '1 day' * (8 + n % 5) AS created_at
  FROM demo_session s, generate_series(0, s.booked + (s.key % 7 = 0)::int - 1) n,
    LATERAL (SELECT CASE WHEN n = 0 AND s.key % (24 + 17 * :scale) = 0 THEN 5
      ELSE (50 + floor(demo_random(s.key, 743) * demo_count('user'))::bigint + n * 41)
        % demo_count('user') END AS u) u
  WHERE (u <> 5 OR n = 0)
  ORDER BY created_at, s.id, n) s;

-- step: Programs; table: program(id, title, description, training, location_id, duration_minutes);
--   rows: 8 + :scale
SELECT p.id, p.title, 'For beginners and everyone else.', p.training, l.id, p.duration
FROM demo_program p, LATERAL (SELECT id FROM location WHERE place_type = 'FITNESS'
  ORDER BY id OFFSET p.i % 4 LIMIT 1) l

-- step: Trainers; table: program_trainer(program_id, trainer_id); rows: 12 + 4 * :scale
SELECT DISTINCT program_id, demo_id('user', 10 + trainer) FROM demo_session

-- step: Class sessions; table: class_session(id, program_id, trainer_id, starts_at, ends_at,
--   capacity, booked_count); rows: 700 + 232 * :scale
SELECT s.id, program_id, demo_id('user', 10 + trainer), starts_at,
  starts_at + interval '1 minute' * duration, capacity, coalesce(b.n, 0)::int
FROM demo_session s LEFT JOIN (SELECT session_id AS id, count(*) AS n FROM demo_booking
  WHERE is_held GROUP BY 1) b USING (id)

-- step: Bookings; table: booking(id, session_id, user_id, created_at, cancelled_at);
--   rows: 1500 + 1000 * :scale
SELECT id, session_id, user_id, created_at,
  CASE WHEN NOT is_held THEN created_at + interval '5 hours' END
FROM demo_booking

-- step: Settling tracks; run
-- Somebody runs around a block: a loop with a wobble, a point every half minute.
CREATE UNLOGGED TABLE demo_track AS
SELECT new_node(tag_of('activity_track')) AS id, k, demo_id('user', u) AS user_id, started_at,
  size, latitude, longitude
FROM (
  SELECT k, CASE WHEN k % (25 * :scale) = 0 THEN 5
      ELSE demo_pick(demo_count('user'), demo_random(k, 751), 1.2) END AS u,
    demo_time(demo_random(k, 752)) + interval '7 hours' AS started_at,
    20 + (40 * demo_random(k, 753))::int AS size, c.latitude, c.longitude
  FROM generate_series(0, 300 * :scale - 1) k JOIN demo_city c ON c.city_i = k % 40
  ORDER BY started_at, k) s;

-- step: Activity tracks; table: activity_track(id, user_id, title, started_at, ended_at, distance,
--   path); rows: 300 * :scale
SELECT t.id, t.user_id, to_char(t.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
  t.started_at,
  t.started_at + interval '30 seconds' * t.size, p.distance, p.path
FROM demo_track t, LATERAL (
  SELECT sum(coalesce(12742000 * asin(sqrt(sin(radians(latitude - before_latitude) / 2) ^ 2
      + cos(radians(latitude)) * cos(radians(before_latitude))
      * sin(radians(longitude - before_longitude) / 2) ^ 2)), 0)) AS distance,
    jsonb_agg(jsonb_build_object(
      'at', to_char((t.started_at + interval '30 seconds' * n) AT TIME ZONE 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'latitude', latitude, 'longitude', longitude) ORDER BY n) AS path
  FROM (
    SELECT n, latitude, longitude, lag(latitude) OVER w AS before_latitude,
      lag(longitude) OVER w AS before_longitude
    FROM (SELECT n, round((t.latitude + 0.008 * sin(6.2832 * n / t.size)
          + 0.0002 * demo_random(t.k * 64 + n, 754))::numeric, 6)::float8 AS latitude,
        round((t.longitude + 0.008 * cos(6.2832 * n / t.size))::numeric, 6)::float8 AS longitude
      FROM generate_series(0, t.size) n) q
    WINDOW w AS (ORDER BY n)) s) p

-- step: Test results; table: test_result(user_id, test, recorded_at, value); rows: 1200 * :scale
SELECT demo_id('user', u), t.test, demo_time(0.4 + 0.3 * n), round((t.low
    + (t.high - t.low) * demo_random(u * 16 + t.i * 2 + n, 761))::numeric, 0)::float8
FROM generate_series(0, demo_count('user') - 1) u, generate_series(0, 1) n,
  (VALUES (0, 'MILE_TIME', 330, 720), (1, 'PUSH_UPS_PER_MINUTE', 8, 60),
    (2, 'SIT_UPS_PER_MINUTE', 10, 60),
    (3, 'LEG_PRESS', 60, 220), (4, 'BENCH_PRESS', 25, 120), (5, 'LAT_PULL', 25, 90))
  t(i, test, low, high)
WHERE u = 5 OR u % 10 = 2
