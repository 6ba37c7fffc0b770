-- Who knows whom, from where the viewer stands. Set-returning functions here are one plain SELECT,
-- so the planner puts them in place of their call, and a literal argument leaves only the branch it
-- names. The others are called for few rows or for viewers who block somebody; they keep their
-- plans.

-- Few are hidden from nearly everyone, so each of them is looked up, however many rows there are; from whom very
-- many are hidden the rows are gone through.
CREATE OR REPLACE PROCEDURE count_hidden(name text, subject text, too_much text, rows text, person text)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION %1$I(viewer bigint, %4$I bigint) RETURNS int
LANGUAGE plpgsql STABLE AS $body$
DECLARE
  seen int;
  number int;
BEGIN
  SELECT count(*), count(n.id) INTO seen, number
  FROM (SELECT u.id FROM hidden_user(viewer) u LIMIT 100) h
    LEFT JOIN LATERAL (SELECT %3$s AS id FROM %2$s AND %3$s = h.id OFFSET 0) n ON true;
  IF seen < 100 THEN RETURN number; END IF;
  RETURN (SELECT count(*) FROM %2$s AND %3$s IN (SELECT h.id FROM hidden_user(viewer) h));
END $body$
$function$, name, rows, person, subject);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', name,
    'Returns the part of ' || too_much || ' by users hidden from the viewer. Created by count_hidden.');
END $$;
COMMENT ON PROCEDURE count_hidden IS
  'Creates a function that counts the rows of a subject by users whom the viewer does not see. rows: FROM and WHERE.';

CALL count_hidden('hidden_followers', 'followed', 'follower_count',
  'follow r WHERE r.followee_id = followed', 'r.follower_id');
CALL count_hidden('hidden_followees', 'follower', 'following_count',
  'follow r WHERE r.follower_id = follower', 'r.followee_id');
CALL count_hidden('hidden_members', 'circle', 'member_count',
  'circle_member r WHERE r.circle_id = circle', 'r.user_id');
CALL count_hidden('hidden_comments', 'subject', 'comment_count',
  'comment r WHERE r.subject_id = subject', 'r.author_id');
CALL count_hidden('hidden_posts', 'place', 'post_count',
  $$post r WHERE r.location_id = place AND r.visibility = 'PUBLIC'$$, 'r.author_id');

CREATE OR REPLACE FUNCTION network(viewer bigint, part text) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT f.followee_id FROM follow f WHERE part = 'FOLLOWING' AND f.follower_id = viewer
  UNION ALL
  SELECT b.followee_id
  FROM follow a JOIN follow b ON b.follower_id = a.followee_id
  WHERE part = 'FRIENDS_OF_FRIENDS' AND a.follower_id = viewer AND b.followee_id <> viewer
    AND b.followee_id NOT IN (SELECT m.followee_id FROM follow m WHERE m.follower_id = viewer)
    AND b.followee_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
  UNION ALL
  SELECT u.id FROM app_user u WHERE part = 'EVERYONE'
$$;
COMMENT ON FUNCTION network(bigint, text) IS
  'Returns the users in a part of the viewer''s network, some more than once. Use it as the `set` of a condition, '
  'which is built once and probed, not joined for every row.';

CREATE OR REPLACE FUNCTION follower(followed bigint)
RETURNS TABLE (id bigint, name_key text, followed_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT f.follower_id, f.follower_name, f.followed_at FROM follow f WHERE f.followee_id = followed
$$;
COMMENT ON FUNCTION follower IS
  'Returns the followers of a user. Their names are in the same rows, so that a page reads only its own rows.';

CREATE OR REPLACE FUNCTION followee(following bigint)
RETURNS TABLE (id bigint, name_key text, followed_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT f.followee_id, u.name_key, f.followed_at
  FROM follow f JOIN app_user u ON u.id = f.followee_id WHERE f.follower_id = following
$$;
COMMENT ON FUNCTION followee IS 'Returns the users whom a user follows, with their names.';

CREATE OR REPLACE FUNCTION known_follower(viewer bigint, followed bigint)
RETURNS TABLE (id bigint, followed_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT theirs.follower_id, theirs.followed_at
  FROM follow mine JOIN follow theirs ON theirs.follower_id = mine.followee_id
  WHERE mine.follower_id = viewer AND theirs.followee_id = followed
$$;
COMMENT ON FUNCTION known_follower IS 'Returns the followers of a user whom the viewer follows.';

CREATE OR REPLACE FUNCTION suggested_user(viewer bigint, seed int, number int)
RETURNS TABLE (id bigint, "position" bigint) LANGUAGE plpgsql STABLE ROWS 20 AS $$
DECLARE
  wanted int := least(greatest(coalesce(number, 20), 0), 100);
  known bigint[] := viewer || ARRAY(SELECT f.followee_id FROM follow f WHERE f.follower_id = viewer)
    || ARRAY(SELECT h.id FROM hidden_user(viewer) h);
  chosen bigint[];
  is_apart boolean := EXISTS (SELECT FROM hidden_user(viewer));
BEGIN
  IF viewer = 0 THEN RETURN; END IF;
  SELECT array_agg(c.id ORDER BY CASE seed WHEN 0 THEN -c.common ELSE hashint8extended(c.id, seed) END, c.id)
  INTO chosen FROM (
    SELECT b.id, b.common FROM (
      SELECT theirs.followee_id AS id, count(*) AS common
      FROM (SELECT f.followee_id FROM follow f WHERE f.follower_id = viewer
          ORDER BY f.followed_at DESC LIMIT 500) mine
        JOIN follow theirs ON theirs.follower_id = mine.followee_id
      GROUP BY theirs.followee_id
      HAVING NOT EXISTS (SELECT FROM unnest(known) k WHERE k = theirs.followee_id)
      ORDER BY 2 DESC, 1 LIMIT wanted * CASE seed WHEN 0 THEN 1 ELSE 5 END) b
    ORDER BY CASE seed WHEN 0 THEN -b.common ELSE hashint8extended(b.id, seed) END, b.id
    LIMIT wanted) c;
  IF coalesce(cardinality(chosen), 0) < wanted THEN
    SELECT chosen || array_agg(m.id ORDER BY
      CASE seed WHEN 0 THEN -m.follower_count ELSE hashint8extended(m.id, seed) END, m.id) INTO chosen FROM (
      SELECT u.id, u.follower_count FROM (
        -- of those the viewer may know of
        SELECT a.id, a.follower_count - CASE WHEN is_apart THEN hidden_followers(viewer, a.id) ELSE 0 END
          AS follower_count
        FROM app_user a
        WHERE a.id <> ALL (known || coalesce(chosen, '{}')) ORDER BY a.id DESC LIMIT 1000) u
      ORDER BY CASE seed WHEN 0 THEN -u.follower_count ELSE hashint8extended(u.id, seed) END, u.id
      LIMIT wanted - coalesce(cardinality(chosen), 0)) m;
  END IF;
  RETURN QUERY SELECT c.id, c.position FROM unnest(chosen) WITH ORDINALITY c(id, position);
END $$;
COMMENT ON FUNCTION suggested_user IS
  'Returns users to follow: those followed by most of the users whom the viewer follows. A seed other than 0 selects '
  'among five times as many and shuffles them, always the same for one seed. If these are too '
  'few, adds recently joined users with many followers.';

CREATE OR REPLACE FUNCTION quick_add_user(viewer bigint, application text DEFAULT NULL)
RETURNS TABLE (id bigint, "position" bigint)
LANGUAGE sql STABLE ROWS 20 AS $$
  SELECT q.id, min(q.position) FROM (
    SELECT u.id, row_number() OVER (ORDER BY c.app, u.position) AS position
    FROM (SELECT a.app, a.quick_add_user_ids FROM app_config a
        WHERE application IS NULL OR a.app = lower(application)) c
      CROSS JOIN LATERAL unnest(c.quick_add_user_ids) WITH ORDINALITY u(id, position)) q
  WHERE q.id <> viewer
    AND NOT EXISTS (SELECT FROM follow f WHERE f.follower_id = viewer AND f.followee_id = q.id)
  GROUP BY q.id
$$;
COMMENT ON FUNCTION quick_add_user IS
  'Returns the users that staff suggest to everyone, in their order, without those whom the viewer follows.';

CREATE OR REPLACE FUNCTION follow_summary(language text, field text, number int, name text, is_own boolean)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN phrase(language, concat_ws('.', field, 'summary', CASE WHEN is_own THEN 'own' ELSE 'other' END),
    jsonb_build_object('count', number, 'name', name));
END $$;
COMMENT ON FUNCTION follow_summary IS
  'Returns the line above a list of followers or followed users, as the field is called.';
