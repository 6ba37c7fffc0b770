-- Channels anyone subscribes to, and groups of people who live next door to each other.

-- step: Circles; table: circle(id, name, description, kind, is_default, owner_id, created_at);
--   rows: 74 * :scale
SELECT demo_id('channel', i),
  coalesce((ARRAY['Dining', 'Campus News', 'Computer Science', 'Biology', 'Music', 'History',
    'Athletics', 'Library', 'Theatre', 'Physics', 'Art', 'Languages', 'Career Center',
    'Film Society'])[i + 1], 'Society ' || i - 13),
  CASE i WHEN 0 THEN 'Every meal, and where it is served.' WHEN 1 THEN 'What everybody should know.'
    ELSE '' END, 'CHANNEL', i < 2, demo_id('user', CASE WHEN i % 5 = 4 THEN 8 ELSE 9 END),
  demo_time(0)
FROM generate_series(0, demo_count('channel') - 1) i
UNION ALL
SELECT demo_id('group', i), CASE i WHEN 0 THEN 'Sunday Hikers' WHEN 10 * :scale THEN 'Book Club'
    ELSE demo_word(ARRAY['Study Group', 'Old Friends', 'Roommates', 'Chess Evenings', 'Family',
      'Trip Planning', 'Potluck', 'Band Practice'], demo_random(i, 401)) || ' ' || i END,
  '', 'GROUP', false, demo_id('user', demo_member(i, 0)), demo_time(demo_random(i, 402) * 0.2)
FROM generate_series(0, demo_count('group') - 1) i

-- step: Memberships; table: circle_member(circle_id, user_id, role, joined_at, name_key);
--   rows: 5400 * :scale
SELECT s.*, u.name_key FROM (
SELECT demo_id('channel', c) AS circle_id, demo_id('user', u) AS user_id,
  CASE WHEN u = CASE WHEN c % 5 = 4 THEN 8 ELSE 9 END THEN 'OWNER' ELSE 'MEMBER' END,
  demo_time(demo_random(u * 1000 + c, 411))
FROM (
  SELECT c, u FROM generate_series(0, 1) c, generate_series(0, demo_count('user') - 1) u
  WHERE u < 10 OR demo_random(u * 2 + c, 412) < 0.96
  UNION SELECT 2 + demo_pick(demo_count('channel') - 2, demo_random(u * 8 + n, 413), 1.5), u
  FROM generate_series(0, demo_count('user') - 1) u, generate_series(1, 3) n
  UNION SELECT c, CASE WHEN c % 5 = 4 THEN 8 ELSE 9 END
  FROM generate_series(0, demo_count('channel') - 1) c) s
UNION ALL
SELECT demo_id('group', g), demo_id('user', demo_member(g, m)),
  CASE m WHEN 0 THEN 'OWNER' ELSE 'MEMBER' END, demo_time(0.2 + demo_random(g * 16 + m, 414) * 0.2)
FROM generate_series(0, demo_count('group') - 1) g, generate_series(0, demo_group_size(g) - 1) m
) s JOIN app_user u ON u.id = s.user_id
