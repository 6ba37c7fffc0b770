-- empty: SELECT NOT EXISTS (SELECT FROM app_user)
--
-- A graph to look at and to measure: a thousand people for each unit of :scale, made from :seed
-- and nothing else, so that the same numbers give the same graph. Times count back from the start
-- of today (or of the day in the setting sociograph.demo_day), so that there are events to come.
--
-- These files are steps. A step with a table streams the rows of its one SELECT into it; a step
-- marked `run` is plain SQL; the last one shows where to begin. Each stands on what the earlier
-- ones have committed; a load that was broken off is begun anew from an empty graph.
--
-- Things are numbered from 0 within each range of demo_range, and what number i is like is drawn
-- from demo_random(i, salt). Where some are popular those are the low numbers, and a random number
-- raised to a power picks them most. Counts are computed set by set instead of by trigger.

-- step: Clearing what an earlier load left; run
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM every_node) THEN ALTER SEQUENCE node_seq RESTART; END IF;
END $$;
DO $$
DECLARE left_aside text;
BEGIN
  IF to_regclass('demo_aside') IS NOT NULL THEN
    FOR left_aside IN SELECT back FROM demo_aside ORDER BY position LOOP EXECUTE left_aside; END LOOP;
    DROP TABLE demo_aside;
  END IF;
END $$;
DROP TABLE IF EXISTS demo_range, demo_picture, demo_city, demo_post, demo_vote, demo_response, demo_follow_up,
  demo_invitation, demo_program, demo_session, demo_booking, demo_conversation, demo_message,
  demo_notification, demo_contact, demo_track;

-- step: Numbering what is to come; run
CREATE UNLOGGED TABLE demo_range (what text PRIMARY KEY, tag int, count bigint, first bigint);
WITH start AS MATERIALIZED (SELECT nextval('node_seq') AS n)
INSERT INTO demo_range
SELECT what, tag, count, start.n + sum(count) OVER (ORDER BY position) - count
FROM start, (VALUES
  (1, 'country', 3, 40), (2, 'region', 3, 60), (3, 'city', 3, 60),
  (4, 'place', 3, 200 + 200 * :scale),
  (5, 'user', 1, 1000 * :scale),
  (6, 'product', 4, 100 + 50 * :scale),
  (7, 'channel', 5, 14 + :scale),
  (8, 'group', 5, 60 * :scale),
  (9, 'avatar', 2, 1000 * :scale),
  (10, 'product_photo', 2, 100 + 50 * :scale),
  (11, 'post', NULL, 7000 * :scale),
  (12, 'meal', 23, 48),
  (13, 'post_photo', 2, 3 * 7000 * :scale),
  (14, 'comment', 32, 10000 * :scale)) v(position, what, tag, count);
DO $$ BEGIN
  PERFORM setval('node_seq', (SELECT max(first + count) FROM demo_range));
END $$;

-- How many there are, the number of the first one's node, and the id of number i. They are called
-- immutable so that they are computed once per statement; the ranges do not change.
CREATE OR REPLACE FUNCTION demo_count(what text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT count FROM demo_range r WHERE r.what = demo_count.what
$$;
CREATE OR REPLACE FUNCTION demo_first(what text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT first FROM demo_range r WHERE r.what = demo_first.what
$$;
CREATE OR REPLACE FUNCTION demo_tag(what text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT tag FROM demo_range r WHERE r.what = demo_tag.what
$$;
CREATE OR REPLACE FUNCTION demo_id(what text, i bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ((demo_first(what) + i) << 8) | demo_tag(what)
$$;

-- A number from 0 to below 1 for each key and salt.
CREATE OR REPLACE FUNCTION demo_random(key bigint, salt int) RETURNS float8
LANGUAGE sql IMMUTABLE AS $$
  SELECT (hashint8extended(key, (:seed)::bigint * 1000 + salt) & 9007199254740991)::float8
    / 9007199254740992
$$;
-- One of `number` things, the low ones more often the greater the power.
CREATE OR REPLACE FUNCTION demo_pick(number bigint, random float8, power float8) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT floor(number * random ^ power)::bigint $$;
-- Another order of `number` things, so that popular ones are spread over time.
CREATE OR REPLACE FUNCTION demo_shuffle(i bigint, number bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT (i * 2147483629 + 12345) % number $$;
CREATE OR REPLACE FUNCTION demo_word(words text[], random float8) RETURNS text
LANGUAGE sql IMMUTABLE AS $$ SELECT words[1 + floor(random * cardinality(words))::int] $$;

-- The start of today, and the moment reached after this part of the last year. There is more and
-- more going on: each day brings a little more than the one before.
DO $$ BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION demo_today() RETURNS timestamptz
    LANGUAGE sql IMMUTABLE AS $f$ SELECT timestamptz %L $f$',
    date_trunc('day', coalesce(
      nullif(current_setting('sociograph.demo_day', true), '')::timestamptz, now()), 'UTC'));
END $$;
CREATE OR REPLACE FUNCTION demo_time(part float8) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT demo_today() - interval '1 second' * (31536000 * (1 - part) ^ 1.5)
$$;

-- The pictures in photos/: a row for what stands before the first - of their names.
CREATE UNLOGGED TABLE demo_picture AS
SELECT split_part(name, '-', 1) AS kind, count(*) AS total,
  array_agg('/photos/' || file ORDER BY number) AS urls,
  array_agg(width ORDER BY number) AS widths, array_agg(height ORDER BY number) AS heights
FROM ROWS FROM (jsonb_to_recordset(current_setting('sociograph.demo_pictures')::jsonb)
  AS (name text, file text, width int, height int))
  WITH ORDINALITY AS p(name, file, width, height, number)
GROUP BY 1;

-- Member m of group g: people who live next door to each other. The first is the owner.
CREATE OR REPLACE FUNCTION demo_member(g bigint, m bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
  SELECT g % (10 * :scale) * 100 + (m * 7 + CASE g WHEN 0 THEN 5 WHEN 10 * :scale THEN 98
    ELSE floor(demo_random(g, 801) * 100)::bigint END) % 100
$$;
CREATE OR REPLACE FUNCTION demo_group_size(g bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT 3 + floor(10 * demo_random(g, 802) ^ 1.5)::bigint $$;

-- step: Setting counters and logs aside; run
ALTER TABLE app_user DISABLE TRIGGER USER;
ALTER TABLE follow DISABLE TRIGGER USER;
ALTER TABLE block DISABLE TRIGGER USER;
ALTER TABLE location DISABLE TRIGGER USER;
ALTER TABLE circle DISABLE TRIGGER USER;
ALTER TABLE circle_member DISABLE TRIGGER USER;
ALTER TABLE post DISABLE TRIGGER USER;
ALTER TABLE post_tag DISABLE TRIGGER USER;
ALTER TABLE card_post DISABLE TRIGGER USER;
ALTER TABLE event DISABLE TRIGGER USER;
ALTER TABLE event_venue DISABLE TRIGGER USER;
ALTER TABLE attendance DISABLE TRIGGER USER;
ALTER TABLE invitation DISABLE TRIGGER USER;
ALTER TABLE reaction DISABLE TRIGGER USER;
ALTER TABLE vote DISABLE TRIGGER USER;
ALTER TABLE comment DISABLE TRIGGER USER;
ALTER TABLE class_session DISABLE TRIGGER USER;
ALTER TABLE booking DISABLE TRIGGER USER;
ALTER TABLE notification DISABLE TRIGGER USER;
ALTER TABLE message DISABLE TRIGGER USER;

-- step: Setting indexes and foreign keys aside; run
-- Of the largest tables: made at the end, from all rows at once, they take the less time the larger the
-- graph is.
CREATE UNLOGGED TABLE demo_aside AS
SELECT 1 AS position, format('DROP INDEX %s', i.indexrelid::regclass) AS away,
  pg_get_indexdef(i.indexrelid) AS back
FROM pg_index i
WHERE i.indrelid = ANY ('{follow,circle_member,reaction,comment,post,post_photo,vote,attendance,message}'::regclass[])
  AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
UNION ALL
SELECT 2, format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname),
  format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
FROM pg_constraint c
WHERE c.contype = 'f' AND c.conrelid = ANY ('{follow,circle_member,reaction,comment,post,post_photo,vote,
    attendance,message}'::regclass[]);
DO $$
DECLARE statement text;
BEGIN
  FOR statement IN SELECT away FROM demo_aside ORDER BY position DESC LOOP EXECUTE statement; END LOOP;
END $$;
