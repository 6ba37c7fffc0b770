-- What applications show, the counts that are left, and where to begin.

-- step: Applications; table: app_config(app, intro_images, voting_enabled_by_default,
--   support_email, quick_add_user_ids); rows: 5
SELECT app, p.urls[1:4], true, app || '@example.org',
  ARRAY(SELECT demo_id('user', i) FROM generate_series(0, 7) i)
FROM unnest(ARRAY['gtio', 'happymail', 'sailor', 'peck', 'c7fit']) app, demo_picture p
WHERE p.kind = 'post'

-- step: Something for each day; table: daily_item(list, position, value); rows: 17
SELECT 'VIDEO', n::int, 'https://videos.sociograph.example/workout-' || n || '.mp4'
FROM generate_series(0, 9) n
UNION ALL
SELECT 'MOTIVATION', (position - 1)::int, phrase FROM unnest(ARRAY['Begin where you stand.',
  'Slow is still forward.', 'Rest is part of it.', 'One more, then tea.', 'Bring a friend.',
  'Stretch first.', 'Nobody regrets a walk.']) WITH ORDINALITY AS p(phrase, position)

-- step: Indexes and foreign keys back in place; run
DO $$
DECLARE statement text;
BEGIN
  FOR statement IN SELECT back FROM demo_aside ORDER BY position LOOP EXECUTE statement; END LOOP;
END $$;
DROP TABLE demo_aside;

-- step: Thanks among members; run
UPDATE post_tag t SET is_public = false FROM post p WHERE p.id = t.post_id AND p.visibility <> 'PUBLIC';

-- step: Counts of people; run
UPDATE app_user u SET follower_count = coalesce(c.followers, 0),
  following_count = coalesce(c.followings, 0), thank_you_score = coalesce(c.thanks, 0),
  avatar_id = p.id
FROM app_user v
  LEFT JOIN (
    SELECT id, sum(followers)::int AS followers, sum(followings)::int AS followings,
      sum(thanks)::int AS thanks
    FROM (SELECT followee_id AS id, count(*) AS followers, 0 AS followings, 0 AS thanks
        FROM follow GROUP BY 1
      UNION ALL SELECT follower_id, 0, count(*), 0 FROM follow GROUP BY 1
      UNION ALL SELECT user_id, 0, 0, count(*) FROM post_tag WHERE is_thank_you(post_id) AND is_public GROUP BY 1) s
    GROUP BY 1) c USING (id)
  LEFT JOIN photo p ON p.owner_id = v.id AND p.id < demo_id('product_photo', 0)
WHERE u.id = v.id;

-- step: Counts of places, products and circles; run
UPDATE location l SET top_count = coalesce(t.n, 0), post_count = coalesce(p.n, 0),
  post_reaction_count = coalesce(p.score, 0), comment_count = coalesce(c.n, 0)
FROM location k
  LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM reaction WHERE is_location(subject_id)
    GROUP BY 1) t USING (id)
  LEFT JOIN (SELECT location_id AS id, count(*) AS n, sum(score) AS score FROM post
    WHERE visibility = 'PUBLIC' GROUP BY 1) p USING (id)
  LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM comment WHERE is_location(subject_id)
    GROUP BY 1) c USING (id)
WHERE l.id = k.id;
UPDATE product p SET heart_count = r.n
FROM (SELECT subject_id, count(*) AS n FROM reaction WHERE is_product(subject_id) GROUP BY 1) r
WHERE p.id = r.subject_id;
UPDATE circle o SET member_count = coalesce(m.n, 0), comment_count = coalesce(c.n, 0)
FROM circle q
  LEFT JOIN (SELECT circle_id AS id, count(*) AS n FROM circle_member GROUP BY 1) m USING (id)
  LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM comment WHERE is_circle(subject_id)
    GROUP BY 1) c USING (id)
WHERE o.id = q.id;

-- step: Ranks; run
SELECT fill_ranks();

-- step: Counters and logs back in place; run
ALTER TABLE app_user ENABLE TRIGGER USER;
ALTER TABLE follow ENABLE TRIGGER USER;
ALTER TABLE block ENABLE TRIGGER USER;
ALTER TABLE location ENABLE TRIGGER USER;
ALTER TABLE circle ENABLE TRIGGER USER;
ALTER TABLE circle_member ENABLE TRIGGER USER;
ALTER TABLE post ENABLE TRIGGER USER;
ALTER TABLE post_tag ENABLE TRIGGER USER;
ALTER TABLE card_post ENABLE TRIGGER USER;
ALTER TABLE event ENABLE TRIGGER USER;
ALTER TABLE event_venue ENABLE TRIGGER USER;
ALTER TABLE attendance ENABLE TRIGGER USER;
ALTER TABLE invitation ENABLE TRIGGER USER;
ALTER TABLE reaction ENABLE TRIGGER USER;
ALTER TABLE vote ENABLE TRIGGER USER;
ALTER TABLE comment ENABLE TRIGGER USER;
ALTER TABLE class_session ENABLE TRIGGER USER;
ALTER TABLE booking ENABLE TRIGGER USER;
ALTER TABLE notification ENABLE TRIGGER USER;
ALTER TABLE message ENABLE TRIGGER USER;

-- step: Statistics; run
VACUUM ANALYZE;

-- step: Putting the dice away; run
DROP TABLE demo_city, demo_post, demo_vote, demo_response, demo_follow_up, demo_invitation,
  demo_program, demo_session, demo_booking, demo_conversation, demo_message, demo_notification,
  demo_contact, demo_track;
DROP FUNCTION demo_group_size(bigint), demo_member(bigint, bigint), demo_time(float8), demo_today(),
  demo_word(text[], float8), demo_shuffle(bigint, bigint),
  demo_pick(bigint, float8, float8), demo_random(bigint, int), demo_id(text, bigint),
  demo_tag(text), demo_first(text), demo_count(text);
DROP TABLE demo_range, demo_picture;

-- step: Where to begin; print
SELECT name, id, token, note FROM (
  SELECT 1 AS part, u.id AS number, display_name AS name, wire_id(u.id) AS id,
    'demo-' || username AS token, CASE username WHEN 'marisol' THEN 'has a little of everything'
      WHEN 'aurora' THEN 'most followed' WHEN 'staff' THEN 'staff'
      WHEN 'campus_bot' THEN 'scraper account' ELSE follower_count || ' followers' END AS note
  FROM app_user u
  WHERE lower(username) IN ('marisol', 'tom', 'ines', 'aurora', 'staff', 'campus_bot')
  UNION ALL (SELECT 2, id, name, wire_id(id), NULL, 'the most popular place' FROM location
    WHERE level = 'PLACE' ORDER BY popularity DESC, id DESC LIMIT 1)
  UNION ALL (SELECT 3, id, body, wire_id(id), NULL, 'the most popular outfit' FROM post
    WHERE kind = 16 AND visibility = 'PUBLIC' ORDER BY score DESC, id DESC LIMIT 1)
  UNION ALL (SELECT 4, id, name, wire_id(id), NULL, 'the most popular product' FROM product
    ORDER BY heart_count DESC, id DESC LIMIT 1)
  UNION ALL (SELECT 5, id, name, wire_id(id), NULL, 'a default channel' FROM circle
    WHERE is_default ORDER BY id LIMIT 1)) shown
ORDER BY part, number
