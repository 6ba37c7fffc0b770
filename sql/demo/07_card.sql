-- Cards offered, asked for and owed.

-- step: Settling who responds; run
-- Nobody responds twice: the respondents of a post stand a fixed distance apart.
CREATE UNLOGGED TABLE demo_response AS
SELECT p.j, p.id AS post_id, p.kind, p.author_id, demo_id('user', u) AS user_id,
  limit_ AS response_limit,
  date_trunc('milliseconds', p.created_at
    + (demo_today() - p.created_at) * (n + demo_random(p.j * 64 + n, 604))
      / (size + 1)) AS created_at,
  demo_random(p.j * 64 + n, 605) AS fate
FROM demo_post p,
  LATERAL (SELECT CASE WHEN kind = 19 AND demo_random(p.j, 601) < 0.5
    THEN 1 + floor(10 * demo_random(p.j, 602))::int END AS limit_) l,
  LATERAL (SELECT least(limit_, floor(12 * demo_random(p.j, 603) ^ 3)::int) AS size) s,
  generate_series(0, size - 1) n,
  LATERAL (SELECT (floor(demo_random(p.j, 606) ^ 2 * demo_count('user'))::bigint + n * 37)
    % demo_count('user') AS u) u
WHERE p.kind IN (19, 20) AND p.visibility = 'PUBLIC' AND demo_id('user', u) <> p.author_id;
-- A response to an offer is owed by its author at once; one to a request is an information
-- request, and once that is accepted, owed by whoever asked.
CREATE UNLOGGED TABLE demo_follow_up AS
SELECT nextval('node_seq') << 8 | tag AS id, s.* FROM (
  SELECT 35 AS tag, post_id, author_id AS sender_id, user_id AS recipient_id,
    CASE WHEN fate < 0.5 THEN 'OPEN' WHEN fate < 0.9 THEN 'COMPLETED' ELSE 'UNABLE' END AS state,
    created_at FROM demo_response WHERE kind = 19
  UNION ALL SELECT 35, post_id, user_id, author_id,
    CASE WHEN fate < 0.3 THEN 'OPEN' WHEN fate < 0.45 THEN 'COMPLETED' ELSE 'UNABLE' END,
    created_at + interval '1 hour' FROM demo_response WHERE kind = 20 AND fate < 0.5
  UNION ALL SELECT 34, post_id, author_id, user_id,
    CASE WHEN fate < 0.5 THEN 'ACCEPTED' WHEN fate < 0.65 THEN 'DECLINED' ELSE 'PENDING' END,
    created_at FROM demo_response WHERE kind = 20
  ORDER BY created_at, post_id, recipient_id, tag) s;

-- step: Offers and requests; table: card_post(post_id, closed_at, response_limit, response_count);
--   rows: 900 * :scale
SELECT p.id, CASE WHEN demo_random(p.j, 607) >= 0.8
    THEN least(p.created_at + interval '7 days', demo_today()) END,
  l.response_limit, coalesce(r.n, 0)::int
FROM demo_post p
  LEFT JOIN (SELECT j, count(*) AS n FROM demo_response GROUP BY 1) r USING (j),
  LATERAL (SELECT CASE WHEN kind = 19 AND demo_random(p.j, 601) < 0.5
    THEN 1 + floor(10 * demo_random(p.j, 602))::int END AS response_limit) l
WHERE p.kind IN (19, 20)

-- step: Where offers go; table: card_offer_region(post_id, location_id); rows: 300 * :scale
SELECT DISTINCT p.id, CASE WHEN demo_random(p.j * 4 + n, 613) < 0.7
    THEN demo_id('country', demo_pick(demo_count('country'), demo_random(p.j * 4 + n, 612), 1))
    ELSE demo_id('region', demo_pick(demo_count('region'), demo_random(p.j * 4 + n, 612), 1)) END
FROM demo_post p, generate_series(1, floor(5 * demo_random(p.j, 611) - 2)::int) n
WHERE p.kind = 19

-- step: Information requests; table: info_request(id, post_id, owner_id, requester_id, status,
--   created_at); rows: 1000 * :scale
SELECT id, post_id, sender_id, recipient_id, state, created_at FROM demo_follow_up WHERE tag = 34

-- step: Follow-ups; table: follow_up(id, post_id, sender_id, recipient_id, state, created_at,
--   resolved_at); rows: 1500 * :scale
SELECT id, post_id, sender_id, recipient_id, state, created_at,
  CASE WHEN state <> 'OPEN' THEN least(created_at + interval '3 days', demo_today()) END
FROM demo_follow_up WHERE tag = 35
