-- Conversations, contacts and notifications.

-- step: Settling conversations; run
CREATE UNLOGGED TABLE demo_conversation AS
SELECT new_node(tag_of('conversation')) AS id, k, members FROM (
  SELECT min(k) AS k, members FROM (
    SELECT k, ARRAY(SELECT DISTINCT demo_id('user', m) FROM unnest(CASE
        WHEN k % 12 = 0 THEN ARRAY[a, b, (a + b) % demo_count('user')] ELSE ARRAY[a, b] END) m
      ORDER BY 1) AS members
    FROM generate_series(0, 800 * :scale - 1) k,
      LATERAL (SELECT CASE WHEN k % (40 * :scale) = 1 THEN 5
          ELSE demo_pick(demo_count('user'), demo_random(k, 771), 1.3) END AS a,
        demo_pick(demo_count('user'), demo_random(k, 772), 1.5) AS b) p) s
  WHERE cardinality(members) > 1 GROUP BY members ORDER BY 1) s;
CREATE UNLOGGED TABLE demo_message AS
SELECT new_node(tag_of('message')) AS id, s.* FROM (
  SELECT c.id AS conversation_id, c.members[1 + (n
    + floor(1.4 * demo_random(c.k * 64 + n, 775)))::int % cardinality(c.members)] AS author_id,
    date_trunc('milliseconds', start + (demo_today() - start)
      * ((n + demo_random(c.k * 64 + n, 776)) / size) ^ 2) AS created_at,
    demo_random(c.k * 64 + n, 777) AS word, n = size - 1 - c.k % 3 AS is_read
  FROM demo_conversation c,
    LATERAL (SELECT demo_time(demo_random(c.k, 773)) AS start,
      3 + floor(30 * demo_random(c.k, 774) ^ 3)::int AS size) d,
    generate_series(0, size - 1) n
  ORDER BY created_at, c.id, n) s;
CREATE INDEX ON demo_message (conversation_id, id);

-- step: Conversations; table: conversation(id, member_key, updated_at); rows: 780 * :scale
SELECT c.id, array_to_string(c.members, ','), max(m.created_at)
FROM demo_conversation c JOIN demo_message m ON m.conversation_id = c.id GROUP BY c.id, c.members

-- step: Participants; table: conversation_member(conversation_id, user_id, last_read_id);
--   rows: 1650 * :scale
-- The first has read everything, the others up to one of the last three messages.
SELECT c.id, u.id, CASE WHEN u.position = 1 AND c.k % 3 = 0 THEN m.last_id ELSE m.read_id END
FROM demo_conversation c
  JOIN (SELECT conversation_id, max(id) AS last_id,
      coalesce(max(id) FILTER (WHERE is_read), 0) AS read_id
    FROM demo_message GROUP BY 1) m ON m.conversation_id = c.id,
  unnest(c.members) WITH ORDINALITY u(id, position)

-- step: Messages; table: message(id, conversation_id, author_id, body, created_at);
--   rows: 7700 * :scale
SELECT id, conversation_id, author_id, demo_word(ARRAY['Hi!', 'Are you coming on Friday?', 'Yes!',
    'I found the place you meant.', 'Ten minutes late, sorry.', 'Which bus was it?',
    'See the photo.',
    'Ha.', 'Let me ask her.', 'Good idea.', 'Thank you!', 'Tomorrow then.', 'Where did you buy it?',
    'At the market.', 'Sleep well.'], word), created_at
FROM demo_message

-- step: Settling contacts; run
CREATE UNLOGGED TABLE demo_contact AS
SELECT new_node(tag_of('external_contact')) AS id, s.* FROM (
  SELECT DISTINCT demo_id('user', i) AS owner_id,
    demo_pick(demo_count('user') * 2, demo_random(i * 64 + n, 782), 1) AS c
  FROM generate_series(0, demo_count('user') - 1) i,
    generate_series(1, CASE WHEN i = 5 THEN 60 WHEN demo_random(i, 221) < 0.4 THEN
      floor(12 * demo_random(i, 781))::int ELSE 0 END) n
  ORDER BY 1, 2) s;

-- step: Contacts; table: external_contact(id, owner_id, provider, external_id, name, name_key,
--   avatar_url); rows: 2000 * :scale
SELECT c.id, c.owner_id, 'FACEBOOK', 'fb-' || c.c, n.name, folded(n.name),
  p.urls[c.c % p.total + 1]
FROM demo_contact c JOIN demo_picture p ON p.kind = 'person' LEFT JOIN app_user u ON u.id = demo_id('user', c.c)
  AND c.c < demo_count('user'),
  LATERAL (SELECT coalesce(u.display_name, demo_word(ARRAY['Bea', 'Carl', 'Dora', 'Emil', 'Gina',
    'Ugo', 'Vera', 'Walt'], demo_random(c.c, 783)) || ' ' || demo_word(ARRAY['Abbott', 'Brandt',
    'Conti', 'Dubois', 'Estrada', 'Flores', 'Grau', 'Hall'], demo_random(c.c, 784)))) n(name)

-- step: Settling notifications; run
-- What happened to people in the last two months, or a part of it.
CREATE UNLOGGED TABLE demo_notification AS
SELECT new_node(tag_of('notification')) AS id, s.* FROM (
  SELECT followee_id AS recipient_id, 'FOLLOWED' AS reason, follower_id AS actor_id,
    follower_id AS about_id, followed_at AS created_at
  FROM follow WHERE followed_at > demo_today() - interval '60 days'
    AND demo_random(follower_id * 31 + followee_id, 791) < 0.1
  UNION ALL SELECT p.author_id, 'REACTED', r.user_id, p.id, r.created_at
  FROM reaction r JOIN demo_post p ON p.id = r.subject_id
  WHERE r.created_at > demo_today() - interval '60 days' AND r.user_id <> p.author_id
    AND demo_random(r.user_id * 31 + p.id, 792) < 0.3
  UNION ALL SELECT p.author_id, 'COMMENTED', c.author_id, p.id, c.created_at
  FROM comment c JOIN demo_post p ON p.id = c.subject_id
  WHERE c.created_at > demo_today() - interval '60 days' AND c.author_id <> p.author_id
  UNION ALL SELECT t.user_id, 'TAGGED', p.author_id, p.id, p.created_at
  FROM post_tag t JOIN demo_post p ON p.id = t.post_id
  WHERE p.created_at > demo_today() - interval '60 days'
  UNION ALL SELECT invitee_id, 'EVENT_INVITED', inviter_id, event_id, created_at
  FROM demo_invitation WHERE event_id IS NOT NULL
  UNION ALL SELECT sender_id, 'INFO_REQUESTED', recipient_id, id, created_at
  FROM demo_follow_up WHERE tag = 34
  UNION ALL SELECT sender_id, 'OFFER_ANSWERED', recipient_id, id, created_at
  FROM demo_follow_up WHERE tag = 35 AND is_card_offer(post_id)
  UNION ALL SELECT recipient_id, 'FOLLOW_UP_UNABLE', sender_id, id, created_at + interval '3 days'
  FROM demo_follow_up WHERE tag = 35 AND state = 'UNABLE'
  UNION ALL SELECT m.user_id, 'CIRCLE_ADDED', o.owner_id, o.id, m.joined_at
  FROM circle_member m JOIN circle o ON o.id = m.circle_id
  WHERE o.kind = 'GROUP' AND m.role = 'MEMBER'
  UNION ALL SELECT recipient_id, 'PRODUCT_SUGGESTED', sender_id, product_id, created_at
  FROM product_suggestion
  ORDER BY created_at, recipient_id, reason, actor_id, about_id) s
WHERE s.created_at <= demo_today();

-- step: Notifications; table: notification(id, recipient_id, reason, actor_id, about_id, phrase,
--   args, number, destination, action_kind, action_url, action_performed_at, read_at, created_at);
--   rows: 11000 * :scale
SELECT n.id, n.recipient_id, n.reason, n.actor_id, n.about_id,
  n.reason || CASE n.reason WHEN 'REACTED' THEN '.LIKE.' || node_type(n.about_id) ELSE '' END,
  ARRAY['<b>' || escaped(u.display_name) || '</b>', escaped(coalesce(e.title, c.name, p.name, 'Well done')),
    escaped(p.brand)], NULL::int, node_link(n.about_id), a.kind, NULL::text, NULL::timestamptz,
  CASE WHEN n.created_at < demo_today() - interval '4 days' OR demo_random(n.id, 793) < 0.3
    THEN least(n.created_at + interval '7 hours', demo_today()) END, n.created_at
FROM demo_notification n JOIN app_user u ON u.id = n.actor_id
  LEFT JOIN event e ON e.post_id = n.about_id LEFT JOIN circle c ON c.id = n.about_id
  LEFT JOIN product p ON p.id = n.about_id
  LEFT JOIN (VALUES ('FOLLOWED', 'FOLLOW_BACK'), ('EVENT_INVITED', 'ATTEND'),
    ('INFO_REQUESTED', 'APPROVE_INFO_REQUEST')) a(reason, kind) USING (reason)
