-- Posts of all nine kinds, with what people say about them. What posts are like is settled first;
-- reactions and comments then need only their nodes, and the posts themselves come in last, with
-- their counts.

-- step: Settling posts; run
-- Post j: which kind, by whom, where and when. Every hundredth of the year is busier than the last.
CREATE UNLOGGED TABLE demo_post AS
SELECT j, (demo_first('post') + j) << 8 | kind AS id, kind,
  demo_id('user', CASE WHEN channel IS NOT NULL THEN CASE WHEN channel % 5 = 4 THEN 8 ELSE 9 END
    WHEN circle IS NOT NULL THEN demo_member(circle,
      demo_pick(demo_group_size(circle), demo_random(j, 502), 1))
    ELSE demo_pick(demo_count('user'), demo_random(j, 503), 2) END) AS author_id,
  CASE WHEN channel IS NOT NULL THEN demo_id('channel', channel)
    WHEN circle IS NOT NULL THEN demo_id('group', circle) END AS circle_id,
  CASE WHEN circle IS NOT NULL THEN 'CIRCLE' WHEN is_invited THEN 'INVITED' ELSE 'PUBLIC'
    END::visibility AS visibility,
  CASE WHEN kind = 18 OR demo_random(j, 504) < CASE kind WHEN 23 THEN 0.8 WHEN 16 THEN 0.4
    ELSE 0.1 END
    THEN demo_id('place', demo_pick(demo_count('place'), demo_random(j, 505), 2))
    END AS location_id,
  demo_time((j + 0.5) / demo_count('post')) AS created_at
FROM generate_series(0, demo_count('post') - 1) j,
  LATERAL (SELECT demo_random(j, 501) AS r, demo_random(j, 506) AS s, demo_random(j, 507) AS t) d,
  LATERAL (SELECT CASE WHEN r < 0.38 THEN 18 WHEN r < 0.53 THEN 16 WHEN r < 0.59 THEN 17
    WHEN r < 0.66 THEN 19 WHEN r < 0.72 THEN 20 WHEN r < 0.77 THEN 21 WHEN r < 0.79 THEN 22
    WHEN r < 0.85 THEN 23 ELSE 24 END AS kind) k,
  LATERAL (SELECT
    CASE WHEN kind = 22 AND s < 0.7 OR kind = 23 AND s < 0.3
      THEN 1 + demo_pick(demo_count('channel') - 1, t, 2) END AS channel,
    CASE WHEN kind = 23 AND s > 0.85 OR kind = 24 AND s > 0.94
      OR kind NOT IN (22, 23, 24) AND s > 0.98
      THEN CASE WHEN t < 0.01 THEN 0 ELSE demo_pick(demo_count('group'), t, 1) END END AS circle,
    kind = 23 AND s BETWEEN 0.65 AND 0.85 AS is_invited) c;
-- Meals of the days around today, in the dining channel: breakfast, lunch and dinner.
INSERT INTO demo_post
SELECT demo_count('post') + n, demo_id('meal', n), 23, demo_id('user', 9), demo_id('channel', 0),
  'PUBLIC', NULL, demo_today() - interval '5 days' + interval '1 minute' * n
FROM generate_series(0, demo_count('meal') - 1) n;
CREATE UNIQUE INDEX ON demo_post (j);
CREATE INDEX ON demo_post (id);
ANALYZE demo_post;

-- step: Photos of posts; table: photo(id, owner_id, url, width, height, moderation,
--   created_at); rows: 7500 * :scale
SELECT demo_id('post_photo', j * 3 + n), author_id, p.urls[s.place], p.widths[s.place], p.heights[s.place],
  CASE WHEN demo_random(j * 3 + n, 513) < 0.995 THEN 'APPROVED'
    ELSE 'PENDING' END::moderation_state,
  created_at
FROM demo_post d, generate_series(0, 2) n, demo_picture p, LATERAL (SELECT (j + n) % p.total + 1) AS s(place)
WHERE p.kind = 'post' AND j < demo_count('post') AND n < CASE WHEN d.kind IN (16, 18)
    THEN 1 + floor(3 * demo_random(j, 511) ^ 3) WHEN d.kind = 17 THEN 0
  ELSE floor(1.25 * demo_random(j, 511)) END

-- step: Reactions; table: reaction(subject_id, user_id, kind, created_at); rows: 38000 * :scale
-- Few posts get most of them, some a reaction from one in three; most come soon.
SELECT r.subject_id, r.user_id, r.kind, min(r.created_at)
FROM (
  SELECT p.id AS subject_id,
    demo_id('user', demo_pick(demo_count('user'), demo_random(k, 522), 1.2)) AS user_id,
    CASE WHEN p.kind IN (16, 17)
        THEN CASE WHEN demo_random(k, 523) < 0.9 THEN 'HEART' ELSE 'LIKE' END
      WHEN p.kind = 18 THEN CASE WHEN demo_random(k, 523) < 0.85 THEN 'TOP'
        WHEN demo_random(k, 523) < 0.95 THEN 'LIKE' ELSE 'HEART' END
      ELSE CASE WHEN demo_random(k, 523) < 0.9 THEN 'LIKE' ELSE 'HEART' END
    END::reaction_kind AS kind,
    date_trunc('milliseconds', p.created_at
      + (demo_today() - p.created_at) * demo_random(k, 524) ^ 3) AS created_at
  FROM generate_series(0, 30000 * :scale - 1) k
    JOIN demo_post p ON p.j = demo_shuffle(
      demo_pick(demo_count('post'), demo_random(k, 521), 3), demo_count('post'))
  WHERE p.visibility = 'PUBLIC'
  UNION ALL
  SELECT demo_id('place', demo_pick(demo_count('place'), demo_random(k, 525), 2.2)),
    demo_id('user', demo_pick(demo_count('user'), demo_random(k, 526), 1.2)), 'TOP',
    demo_time(demo_random(k, 527))
  FROM generate_series(0, 6000 * :scale - 1) k
  UNION ALL
  SELECT demo_id('product', demo_pick(demo_count('product'), demo_random(k, 528), 2)),
    demo_id('user', demo_pick(demo_count('user'), demo_random(k, 529), 1.2)), 'HEART',
    demo_time(demo_random(k, 530))
  FROM generate_series(0, 2000 * :scale - 1) k
  UNION ALL
  SELECT demo_id('comment', c),
    demo_id('user', demo_pick(demo_count('user'), demo_random(k, 532), 1.2)), 'AGREE',
    demo_time((c + 0.5 + (demo_count('comment') - c - 1) * demo_random(k, 533) ^ 3)
      / demo_count('comment'))
  FROM generate_series(0, 3000 * :scale - 1) k,
    LATERAL (SELECT demo_pick(demo_count('comment'), demo_random(k, 531), 0.7)) s(c)) r
GROUP BY r.subject_id, r.user_id, r.kind

-- step: Comments; table: comment(id, subject_id, author_id, body, agree_count, created_at,
--   updated_at); rows: 10000 * :scale
-- Comments are numbered as time goes, so each is on a post that was there; two in three are on the
-- latest posts, the others on the popular ones, on places and in groups.
SELECT demo_id('comment', c), coalesce(p.id, o.subject_id), CASE
    WHEN p.id IS NULL AND o.author IS NOT NULL THEN demo_id('user', o.author)
    WHEN p.visibility <> 'PUBLIC' THEN p.author_id
    ELSE demo_id('user', demo_pick(demo_count('user'), demo_random(c, 545), 1.3)) END,
  CASE WHEN is_location(o.subject_id)
    THEN demo_word(ARRAY[
      'Go early, before the buses.', 'Worth every step.', 'Smaller than it looks.',
      'Bring water and a hat.', 'The best light is at seven.', 'Closed on Mondays!',
      'We stayed the whole day.', 'Nice, but crowded.'], demo_random(c, 546))
    ELSE demo_word(ARRAY['Love this.', 'Where is that?', 'Count me in!', 'I had the same thought.',
      'Try it with the other shoes.', 'So good.', 'Can you bring one for me?', 'Wear it, always.',
      'The colour is perfect.', 'Thank you for sharing.', 'See you there.',
      'Not sure about the hat.',
      'This made my day.', 'How long does it take?'], demo_random(c, 546)) END,
  coalesce(a.n, 0)::int, demo_time((c + 0.5) / demo_count('comment')),
  demo_time((c + 0.5) / demo_count('comment'))
FROM generate_series(0, demo_count('comment') - 1) c
  CROSS JOIN LATERAL (SELECT demo_random(c, 541) AS r, demo_random(c, 542) AS s,
    (c + 0.5) / demo_count('comment') AS part) d
  CROSS JOIN LATERAL (SELECT demo_shuffle(
    demo_pick(demo_count('post'), demo_random(c, 543), 3), demo_count('post')) AS popular) h
  CROSS JOIN LATERAL (SELECT demo_pick(demo_count('group'), demo_random(c, 544), 1) AS g) g
  CROSS JOIN LATERAL (SELECT
    CASE WHEN r > 0.96 THEN demo_id('group', g)
      WHEN r > 0.86 THEN demo_id('place', demo_pick(demo_count('place'), s, 2)) END AS subject_id,
    CASE WHEN r > 0.96 THEN demo_member(g, demo_pick(demo_group_size(g), s, 1)) END AS author) o
  LEFT JOIN demo_post p ON r <= 0.86 AND p.j = CASE
    WHEN r < 0.6 THEN floor(demo_count('post') * part * (1 - s ^ 4))
    WHEN popular < demo_count('post') * part - 1 THEN popular
    ELSE floor(demo_count('post') * part * s) END::bigint
  LEFT JOIN (SELECT subject_id, count(*) AS n FROM reaction WHERE kind = 'AGREE' GROUP BY 1) a
    ON a.subject_id = demo_id('comment', c)

-- step: Posts; table: post(id, author_id, body, location_id, circle_id, visibility, heart_count,
--   like_count, top_count, comment_count, created_at, updated_at); rows: 7000 * :scale
SELECT p.id, p.author_id, CASE p.kind
    WHEN 16 THEN demo_word(ARRAY['For the gallery tonight.', 'First day at work. Too much?',
      'Found at the flea market.', 'Rain coat weather.', 'Wedding on Saturday: yes or no?',
      'All in blue.', 'My sister says no.'], demo_random(p.j, 551))
    WHEN 17 THEN demo_word(ARRAY['Should I?', 'In green or in grey?', 'On my list for months.', '',
      'Would go with everything.'], demo_random(p.j, 551))
    WHEN 18 THEN demo_word(ARRAY['Golden hour.', 'Took the long way up.', 'Nobody here but us.',
      'The view nobody told us about.', 'Market day.', 'After the storm.', 'Worth the early train.',
      'One more from the bridge.', ''], demo_random(p.j, 551))
    WHEN 19 THEN demo_word(ARRAY['I have a stack of cards and a pen.', 'Printed my own this year.',
      'Writing to anyone who asks.', 'Hand drawn, one of each.', 'Say where to.',
      'First come, first written to.'], demo_random(p.j, 551))
      || ' ' || demo_word(ARRAY['A postcard from the coast.', 'Birthday cards.', 'New Year cards.',
      'Pressed flowers inside.', 'Old maps folded into envelopes.', 'Linocuts of birds.',
      'Tell me your favourite colour.', 'In any language I can copy.', 'With a recipe.',
      'With a poem.', 'Cats, mostly.', 'Lighthouses.', 'Trains of the fifties.', 'Watercolours.',
      'One letter of the alphabet each.', 'Stamps from four countries.'], demo_random(p.j, 552))
    WHEN 20 THEN demo_word(ARRAY['My grandmother turns ninety and loves mail.',
      'A class of eight-year-olds would like a card from your country.',
      'Recovering at home, mail helps.', 'For the wall of our library.',
      'My brother starts school on Monday.'], demo_random(p.j, 551))
      || ' ' || demo_word(ARRAY['A postcard from every coast, if it can be.', 'Anything with dogs.',
      'Large letters, please.', 'Snow, if you have any.', 'A line is enough.', 'Old ones welcome.',
      'Your town hall, your bakery, your bus.', 'A joke helps.', 'No glitter!', 'Stickers count.',
      'We answer every one.', 'Until the end of the month.'], demo_random(p.j, 552))
    WHEN 21 THEN demo_word(ARRAY['Thank you for the card!', 'It arrived today. Thank you!',
      'The nicest mail this month.', 'Your postcard hangs over my desk.'], demo_random(p.j, 551))
    WHEN 22 THEN demo_word(ARRAY[
      'The library opens late this week.', 'Registration ends on Friday.',
      'Tickets for the spring concert are out.', 'The pool is closed until Monday.',
      'Lost and found has moved to the ground floor.'], demo_random(p.j, 551))
    WHEN 23 THEN demo_word(ARRAY['Everyone is welcome.', 'Bring a friend.', 'Snacks will be there.',
      'Please be on time.', ''], demo_random(p.j, 551))
    ELSE demo_word(ARRAY['What a week.', 'Reading list for the holidays, please!',
      'Today I learned how bread works.', 'Does anyone have a spare bicycle pump?',
      'Moved to a new place, boxes everywhere.', 'Half marathon done.', 'Good morning, sea.',
      'Looking for a fourth for chess.'], demo_random(p.j, 551)) END,
  p.location_id, p.circle_id, p.visibility,
  coalesce(r.hearts, 0)::int, coalesce(r.likes, 0)::int, coalesce(r.tops, 0)::int,
  coalesce(c.n, 0)::int, p.created_at, p.created_at
FROM demo_post p
  LEFT JOIN (SELECT subject_id, count(*) FILTER (WHERE kind = 'HEART') AS hearts,
      count(*) FILTER (WHERE kind = 'LIKE') AS likes, count(*) FILTER (WHERE kind = 'TOP') AS tops
    FROM reaction WHERE is_post(subject_id) GROUP BY 1) r ON r.subject_id = p.id
  LEFT JOIN (SELECT subject_id, count(*) AS n FROM comment WHERE is_post(subject_id) GROUP BY 1) c
    ON c.subject_id = p.id

-- step: Visits; table: visit(location_id, user_id, visited_at); rows: 2900 * :scale
SELECT location_id, author_id, max(created_at) FROM post
WHERE location_id IS NOT NULL AND visibility = 'PUBLIC' GROUP BY location_id, author_id

-- step: Photos on posts; table: post_photo(post_id, position, photo_id); rows: 7500 * :scale
SELECT id, n::smallint, demo_id('post_photo', j * 3 + n) FROM demo_post, generate_series(0, 2) n
WHERE j < demo_count('post') AND n < CASE WHEN kind IN (16, 18)
    THEN 1 + floor(3 * demo_random(j, 511) ^ 3) WHEN kind = 17 THEN 0
  ELSE floor(1.25 * demo_random(j, 511)) END

-- step: Tags; table: post_tag(post_id, user_id); rows: 700 * :scale
SELECT DISTINCT id, user_id FROM demo_post, generate_series(1, 1 + j % 3) n,
  LATERAL (SELECT demo_id('user', demo_pick(demo_count('user'), demo_random(j * 4 + n, 561), 1.5))
  ) u(user_id)
WHERE kind = 21 AND user_id <> author_id AND j < demo_count('post')
UNION SELECT id, demo_id('user', CASE author_id WHEN demo_id('user', 7) THEN 6 ELSE 7 END)
FROM demo_post WHERE kind = 21 AND j < demo_count('post')
  AND j % 40 = 0   -- somebody is thanked by everyone

-- step: Settling votes; run
CREATE UNLOGGED TABLE demo_vote AS
SELECT DISTINCT ON (post_id, user_id) post_id, user_id, choice, created_at FROM (
  SELECT p.id AS post_id, p.author_id,
    demo_id('user', demo_pick(demo_count('user'), demo_random(k, 572), 1.2)) AS user_id,
    CASE WHEN demo_random(k, 573) < 0.25 + 0.6 * demo_random(p.j, 574)
      THEN 'WEAR_IT' ELSE 'CHANGE_IT' END AS choice,
    p.created_at + (demo_today() - p.created_at) * demo_random(k, 575) ^ 3 AS created_at
  FROM generate_series(0, 24000 * :scale - 1) k
    JOIN demo_post p ON p.j = demo_shuffle(
      demo_pick(demo_count('post'), demo_random(k, 571), 2), demo_count('post'))
  WHERE p.kind IN (16, 17) AND p.visibility = 'PUBLIC' AND demo_random(p.j, 576) < 0.8) v
WHERE user_id <> author_id
ORDER BY post_id, user_id, created_at, choice;

-- step: Outfits and products to vote on; table: votable_post(post_id, brands, product_id,
--   voting_enabled, wear_it_count, change_it_count); rows: 1500 * :scale
SELECT p.id, CASE WHEN p.kind = 16 AND demo_random(p.j, 577) < 0.7 THEN ARRAY[
      demo_word(ARRAY['Solana', 'Northwind', 'Atelier Bo'], demo_random(p.j, 578)),
      demo_word(ARRAY['Hem & Co', 'Lumen', 'Fjord', 'Paloma'], demo_random(p.j, 579))]
    ELSE '{}' END::text[],
  CASE p.kind WHEN 17
    THEN demo_id('product', demo_pick(demo_count('product'), demo_random(p.j, 580), 2)) END,
  demo_random(p.j, 576) < 0.8, coalesce(v.wear_it, 0)::int, coalesce(v.change_it, 0)::int
FROM demo_post p
  LEFT JOIN (SELECT post_id, count(*) FILTER (WHERE choice = 'WEAR_IT') AS wear_it,
      count(*) FILTER (WHERE choice = 'CHANGE_IT') AS change_it
    FROM demo_vote GROUP BY 1) v ON v.post_id = p.id
WHERE p.kind IN (16, 17)

-- step: Votes; table: vote(post_id, user_id, choice, created_at); rows: 4000 * :scale
SELECT post_id, user_id, choice, created_at FROM demo_vote

-- step: Product suggestions; table: product_suggestion(sender_id, recipient_id, product_id,
--   post_id, created_at); rows: 500 * :scale
SELECT DISTINCT ON (s.follower_id, s.followee_id, s.product_id) s.follower_id, s.followee_id,
  s.product_id, NULL::bigint, s.created_at
FROM (SELECT follower_id, followee_id,
    demo_id('product', demo_pick(demo_count('product'), demo_random(followee_id, 582), 2))
      AS product_id,
    demo_time(demo_random(follower_id + followee_id, 583)) AS created_at
  FROM follow WHERE demo_random(follower_id * 31 + followee_id, 581) < 0.01) s

-- step: Flags; table: flag(subject_id, user_id, reason, note, created_at); rows: 40 * :scale
SELECT DISTINCT ON (p.id, u.user_id) p.id, u.user_id,
  demo_word(ARRAY['INAPPROPRIATE', 'SPAM', 'NSFW', 'HARASSMENT', 'OTHER'], demo_random(k, 593)),
  NULL::text, p.created_at + interval '1 hour'
FROM generate_series(0, 40 * :scale - 1) k
  JOIN demo_post p ON p.j = demo_pick(demo_count('post'), demo_random(k, 591), 1),
  LATERAL (SELECT demo_id('user', demo_pick(demo_count('user'), demo_random(k, 592), 1))) u(user_id)
WHERE p.visibility = 'PUBLIC' AND p.author_id <> u.user_id
