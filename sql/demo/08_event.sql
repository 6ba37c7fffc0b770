-- Events, meals, who is invited and who comes.

-- step: Events; table: event(post_id, title, starts_at, ends_at, category, circle_id, external_id,
--   source_url); rows: 420 * :scale
SELECT p.id, demo_word(ARRAY['Open mic', 'Film night', 'Guest lecture', 'Board games', 'Group run',
    'Garden day', 'Swap market', 'Star gazing', 'Choir rehearsal', 'Picnic', 'Code and cake',
    'Life drawing'], demo_random(p.j, 701)), t.starts_at,
  CASE WHEN demo_random(p.j, 702) < 0.8 THEN t.starts_at + interval '90 minutes' END,
  'GENERAL', p.circle_id,
  CASE WHEN p.circle_id IS NOT NULL AND p.visibility = 'PUBLIC' THEN 'calendar-' || p.j END,
  CASE WHEN p.circle_id IS NOT NULL AND p.visibility = 'PUBLIC'
    THEN 'https://calendar.example.edu/events/' || p.j END
FROM demo_post p, LATERAL (SELECT date_trunc('day', p.created_at, 'UTC')
  + interval '1 day' * (1 + floor(21 * demo_random(p.j, 703)))
  + interval '30 minutes' * floor(18 + 26 * demo_random(p.j, 704))) t(starts_at)
WHERE p.kind = 23 AND p.j < demo_count('post')
UNION ALL
SELECT p.id, (ARRAY['Breakfast', 'Lunch', 'Dinner'])[n % 3 + 1], t.starts_at,
  t.starts_at + interval '2 hours', 'DINING', p.circle_id, 'meal-' || n, NULL
FROM demo_post p, LATERAL (SELECT p.j - demo_count('post')) m(n),
  LATERAL (SELECT demo_today() + interval '1 day' * (n / 3 - 4)
    + (ARRAY[interval '7 hours', '12 hours', '18 hours'])[n % 3 + 1]) t(starts_at)
WHERE p.j >= demo_count('post')

-- step: Places that serve meals; table: event_venue(event_id, location_id, opens_at, closes_at,
--   note); rows: 150
SELECT DISTINCT ON (e.post_id, l.id) e.post_id, l.id, e.starts_at + interval '15 minutes' * (n - 1),
  e.ends_at, demo_word(ARRAY['Vegetarian', 'Grill', 'Soup and salad', NULL],
    demo_random(e.post_id + n, 711))
FROM event e, generate_series(1, 3) n,
  LATERAL (SELECT id FROM location WHERE place_type = 'DINING' ORDER BY id OFFSET n - 1 LIMIT 1) l
WHERE e.category = 'DINING'
ORDER BY e.post_id, l.id, n

-- step: Settling who is invited; run
-- The invited ones of an event stand a fixed distance apart, so nobody is invited twice.
CREATE UNLOGGED TABLE demo_invitation AS
SELECT new_node(tag_of('invitation')) AS id, s.* FROM (
  SELECT p.author_id AS inviter_id, p.id AS event_id, demo_id('user', u) AS invitee_id,
    NULL::text AS contact, NULL::text AS channel,
    CASE WHEN demo_random(p.j * 16 + n, 724) < 0.5 THEN 'ACCEPTED'
      WHEN demo_random(p.j * 16 + n, 724) < 0.65 THEN 'DECLINED' ELSE 'PENDING' END AS status,
    p.created_at + interval '1 minute' AS created_at
  FROM demo_post p,
    generate_series(0, floor(12 * demo_random(p.j, 721))::int) n,
    LATERAL (SELECT CASE WHEN n = 0 AND demo_random(p.j, 723) * :scale <
        CASE WHEN p.created_at > demo_today() - interval '6 days' THEN 0.5 ELSE 0.05 END THEN 5
      ELSE (100 + floor(demo_random(p.j, 722) ^ 1.5 * demo_count('user'))::bigint + n * 41)
        % demo_count('user') END AS u) u
  WHERE p.kind = 23 AND p.visibility = 'INVITED' AND demo_id('user', u) <> p.author_id
    AND (u <> 5 OR n = 0)
  UNION ALL
  SELECT demo_id('user', demo_pick(demo_count('user'), demo_random(k, 725), 1.5)), NULL, NULL,
    CASE WHEN k % 3 > 0 THEN 'friend' || k || '@example.net' END,
    CASE WHEN k % 3 > 0 THEN 'EMAIL' ELSE 'FACEBOOK' END, 'PENDING', demo_time(demo_random(k, 726))
  FROM generate_series(0, 50 * :scale - 1) k
  ORDER BY created_at, event_id, invitee_id, contact) s;

-- step: Invitations; table: invitation(id, inviter_id, event_id, invitee_id, contact, channel,
--   status, created_at); rows: 800 * :scale
SELECT id, inviter_id, event_id, invitee_id, contact, channel, status, created_at
FROM demo_invitation

-- step: Attendance; table: attendance(event_id, user_id, status, updated_at); rows: 7500 * :scale
-- Whoever is invited says what the invitation says; public events draw a crowd, some a large one.
SELECT event_id, invitee_id, CASE status WHEN 'ACCEPTED' THEN 'GOING' ELSE 'NOT_GOING' END,
  created_at + interval '2 hours'
FROM demo_invitation WHERE event_id IS NOT NULL AND status <> 'PENDING'
UNION ALL
SELECT DISTINCT ON (p.id, u) p.id, demo_id('user', u),
  CASE WHEN demo_random(p.j * 256 + n, 733) < 0.7 THEN 'GOING'
    WHEN demo_random(p.j * 256 + n, 733) < 0.9 THEN 'MAYBE' ELSE 'NOT_GOING' END,
  date_trunc('milliseconds', p.created_at
    + (demo_today() - p.created_at) * demo_random(p.j * 256 + n, 734))
FROM demo_post p, generate_series(1, 2 + (100 * demo_random(p.j, 731) ^ 4)::int) n,
  LATERAL (SELECT demo_pick(demo_count('user'), demo_random(p.j * 256 + n, 732), 1.4) AS u) u
WHERE p.kind = 23 AND p.visibility = 'PUBLIC'
UNION ALL
SELECT p.id, m.user_id, 'GOING', p.created_at + interval '1 hour'
FROM demo_post p JOIN circle_member m USING (circle_id)
WHERE p.kind = 23 AND p.visibility = 'CIRCLE' AND demo_random(m.user_id + p.j, 735) < 0.5
