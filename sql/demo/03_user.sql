-- People, whom they follow and block, and how they sign in.

-- step: People; table: app_user(id, username, display_name, name_key, email, email_verified, bio,
--   website, home_id, address, card_preference, roles, joined_at); rows: 1000 * :scale
SELECT demo_id('user', i), u.username, u.display_name, folded(u.display_name),
  CASE WHEN demo_random(i, 203) < 0.9 THEN u.username || '@example.org' END,
  demo_random(i, 204) < 0.6,
  CASE WHEN demo_random(i, 205) < 0.7 THEN demo_word(ARRAY['Collects maps and small museums.',
    'Somewhere between the sea and a good book.', 'Photographs doors. Only doors.',
    'Sends postcards from everywhere.', 'Runs before breakfast.', 'Looking for the best mango.',
    'Paints, cooks, forgets where the keys are.', 'Studies rivers.', 'Three cats, one bicycle.',
    'Will try it on first.'], demo_random(i, 206)) ELSE '' END,
  CASE WHEN demo_random(i, 207) < 0.2 THEN 'https://example.org/' || u.username END,
  CASE WHEN demo_random(i, 208) < 0.8
    THEN demo_id('city', demo_pick(demo_count('city'), demo_random(i, 209), 1.6)) END,
  CASE WHEN i < 8 OR demo_random(i, 210) < 0.7
    THEN u.display_name || E'\n' || (1 + i % 200) || ' Harbour Road' END,
  CASE WHEN demo_random(i, 211) < 0.5
    THEN demo_word(ARRAY['CARDS', 'POSTCARDS', 'EITHER'], demo_random(i, 212)) END,
  CASE WHEN i = 8 THEN '{MEMBER,STAFF}' WHEN i = 9 THEN '{MEMBER,SERVICE}'
    WHEN i BETWEEN 10 AND 15 + 2 * :scale THEN '{MEMBER,TRAINER}' ELSE '{MEMBER}' END::text[],
  demo_time(0) - interval '1 day' * (400 * demo_random(i, 213))
FROM generate_series(0, demo_count('user') - 1) i,
  LATERAL (SELECT
    demo_word(ARRAY['Ana', 'Marco', 'Yuki', 'Elena', 'Omar', 'Lucía', 'Peter', 'Amina', 'João',
      'Sofía', 'Arjun', 'Mei', 'Karin', 'David', 'Zoë', 'Tomás', 'Nadia', 'Erik', 'Chloe', 'Mateo',
      'Hana', 'Ivan', 'Leila', 'Björn', 'Marta', 'Samuel', 'Priya', 'Felix', 'Rosa', 'Kofi',
      'Marina', 'Daniel', 'Aylin', 'Hugo', 'Mara', 'Julian', 'Noa', 'Andrés', 'Freya', 'Kenta'],
      demo_random(i, 201)) AS first_name,
    demo_word(ARRAY['Silva', 'Tanaka', 'Moreau', 'Rossi', 'Okafor', 'Novak', 'Jensen', 'García',
      'Marín', 'Haddad', 'Kim', 'Weber', 'Lopes', 'Singh', 'Duarte', 'Petrov', 'Larsen', 'Castillo',
      'Demir', 'Murphy', 'Costa', 'Nakamura', 'Fischer', 'Mendoza', 'Svensson', 'Papadakis',
      'Martins', 'Chen', 'Adeyemi', 'Vargas', 'Marek', 'Horvat', 'Torres', 'Byrne', 'Molina',
      'Ito'],
      demo_random(i, 202)) AS last_name) n,
  LATERAL (SELECT
    CASE i WHEN 0 THEN 'aurora' WHEN 1 THEN 'kenji' WHEN 2 THEN 'amara' WHEN 3 THEN 'lucas'
      WHEN 4 THEN 'noor' WHEN 5 THEN 'marisol' WHEN 6 THEN 'tom' WHEN 7 THEN 'ines'
      WHEN 8 THEN 'staff' WHEN 9 THEN 'campus_bot'
      ELSE folded(n.first_name || '_' || n.last_name) || i END AS username,
    CASE i WHEN 0 THEN 'Aurora Vidal' WHEN 1 THEN 'Kenji Mori' WHEN 2 THEN 'Amara Diallo'
      WHEN 3 THEN 'Lucas Prado' WHEN 4 THEN 'Noor Rahman' WHEN 5 THEN 'Marisol Reyes'
      WHEN 6 THEN 'Tom Hartley' WHEN 7 THEN 'Inês Cardoso' WHEN 8 THEN 'House Staff'
      WHEN 9 THEN 'Campus Calendar' ELSE n.first_name || ' ' || n.last_name END AS display_name) u

-- step: Pictures that the server has; table: upload(owner_id, path, width, height, moderation,
--   uploaded_at); rows: 12
-- Many photos show the same one, and none is the one that was made of it: they are never forgotten.
SELECT demo_id('user', 8), u.*, 'APPROVED'::moderation_state, 'infinity'::timestamptz
FROM demo_picture p, unnest(p.urls, p.widths, p.heights) u

-- step: Pictures of people and products; table: photo(id, owner_id, url, width, height, moderation,
--   created_at); rows: 1000 * :scale
SELECT demo_id('avatar', i), demo_id('user', i), p.urls[place], p.widths[place], p.heights[place],
  'APPROVED'::moderation_state, demo_time(0)
FROM generate_series(0, demo_count('user') - 1) i, demo_picture p, LATERAL (SELECT i % p.total + 1) AS s(place)
WHERE i % 8 <> 3 AND p.kind = 'person'
UNION ALL
SELECT demo_id('product_photo', i), demo_id('user', 8), p.urls[place], p.widths[place], p.heights[place],
  'APPROVED', demo_time(0)
FROM generate_series(0, demo_count('product_photo') - 1) i, demo_picture p,
  LATERAL (SELECT i % p.total + 1) AS s(place)
WHERE p.kind = 'product'

-- step: Sessions; table: session(token_hash, user_id, created_at, expires_at); rows: 1000
SELECT sha256(convert_to('demo-' || username, 'UTF8')), id, demo_today(),
  demo_today() + interval '10 years'
FROM app_user WHERE id < demo_id('user', 1000)

-- step: Identities; table: identity(provider, external_id, user_id); rows: 400 * :scale
SELECT 'FACEBOOK', 'fb-' || i, demo_id('user', i)
FROM generate_series(0, demo_count('user') - 1) i WHERE i = 5 OR demo_random(i, 221) < 0.4

-- step: Where cards are sent; table: user_ships_to(user_id, location_id); rows: 1200 * :scale
SELECT DISTINCT demo_id('user', i),
  demo_id('country', demo_pick(demo_count('country'), demo_random(i * 4 + n, 223), 1))
FROM generate_series(0, demo_count('user') - 1) i,
  generate_series(1, floor(demo_random(i, 222) * 3.4)::int) n

-- step: Blocks; table: block(blocker_id, blocked_id, created_at); rows: 20 * :scale
SELECT demo_id('user', 5), demo_id('user', 40), demo_time(1)
UNION SELECT demo_id('user', 41), demo_id('user', 5), demo_time(1)
UNION SELECT demo_id('user', 10 + a), demo_id('user', 10 + b), demo_time(1) FROM (
  SELECT demo_pick(demo_count('user') - 10, demo_random(k, 231), 1) AS a,
    demo_pick(demo_count('user') - 10, demo_random(k, 232), 1.5) AS b
  FROM generate_series(1, 20 * :scale) k) s
WHERE a <> b

-- step: Who is hidden; table: hidden(viewer_id, user_id, since); rows: 40 * :scale
SELECT s.viewer_id, s.user_id, min(s.since)
FROM (SELECT blocker_id, blocked_id, created_at FROM block
  UNION ALL SELECT blocked_id, blocker_id, created_at FROM block) s(viewer_id, user_id, since)
GROUP BY s.viewer_id, s.user_id

-- step: Follows; table: follow(follower_id, followee_id, follower_name, followed_at);
--   rows: 50000 * :scale
-- Half of the people somebody follows live next door, half are the ones everybody follows; how
-- many varies as e to a normal distribution, with a median of about 40.
SELECT u.id, demo_id('user', f.b), u.name_key,
  demo_time(demo_random(f.a * demo_count('user') + f.b, 244))
FROM (
  SELECT i AS a, CASE WHEN demo_random(i * 4096 + n, 241) < 0.5
      THEN i / 100 * 100 + floor(100 * demo_random(i * 4096 + n, 242))::bigint
      ELSE demo_pick(demo_count('user'), demo_random(i * 4096 + n, 242), 2.5) END AS b
  FROM generate_series(0, demo_count('user') - 1) i,
    generate_series(1, least(2000, demo_count('user') / 4, 44 * exp(0.8 * sqrt(-2 * ln(1 -
      demo_random(i, 245))) * cos(2 * pi() * demo_random(i, 246))))::int) n
  WHERE i NOT IN (8, 9)
  UNION SELECT i, c FROM generate_series(0, demo_count('user') - 1) i, generate_series(0, 4) c
  WHERE i NOT IN (8, 9) AND demo_random(i * 5 + c, 243) < 0.97 - 0.12 * c) f
  JOIN app_user u ON u.id = demo_id('user', f.a)
WHERE f.a <> f.b AND f.b NOT IN (8, 9) AND NOT EXISTS (
  SELECT FROM hidden WHERE viewer_id = demo_id('user', f.a) AND user_id = demo_id('user', f.b))
ORDER BY f.a, f.b
