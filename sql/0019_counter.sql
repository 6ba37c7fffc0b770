-- Counts that lists show or ranks use are stored, and kept right by triggers in the transaction
-- that changes what they count. Other counts are taken when they are read.
--
-- A trigger fires once per statement with all its rows: following fifty people is one update.
-- Before rows are updated they are locked in the order of their ids, and tables always in the
-- order post, comment, location, product, so that writers wait for each other but never in a ring.
-- What changed is first summed into arrays: however many rows the first statement of a connection
-- had, the plans that are kept then look rows up by key.
-- card_post.response_count and class_session.booked_count are raised by the statements that respond
-- and book, which check the limit in the same update; triggers only take back what goes by itself.

-- Has the function called after each statement that inserts, updates or deletes rows of the table,
-- with these rows in `changed`. Triggers are named for what the function does and what became of the
-- rows: count_added, log_edited, log_removed.
CREATE PROCEDURE watch(of_table regclass, fates text[], called regproc, argument text DEFAULT '')
LANGUAGE plpgsql AS $$
DECLARE fate text;
BEGIN
  FOREACH fate IN ARRAY fates LOOP
    EXECUTE format(
      'CREATE TRIGGER %I AFTER %s ON %s REFERENCING %s TABLE AS changed '
      'FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)',
      split_part(called::text, '_', 1) || '_' || fate,
      CASE fate WHEN 'added' THEN 'INSERT' WHEN 'edited' THEN 'UPDATE'
        WHEN 'removed' THEN 'DELETE' END,
      of_table, CASE fate WHEN 'removed' THEN 'OLD' ELSE 'NEW' END, called,
      CASE WHEN argument <> '' THEN quote_literal(argument) END);
  END LOOP;
END $$;

-- app_user: follower_count, following_count
CREATE FUNCTION count_follows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
  followers int[];
  followings int[];
BEGIN
  SELECT array_agg(id), array_agg(s.followers), array_agg(s.followings)
  INTO ids, followers, followings FROM (
    SELECT e.id, sum(e.followers) AS followers, sum(e.followings) AS followings FROM (
      SELECT followee_id AS id, 1 AS followers, 0 AS followings FROM changed
      UNION ALL SELECT follower_id, 0, 1 FROM changed) e
    GROUP BY e.id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM app_user WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE app_user SET follower_count = follower_count + sign * d.followers,
    following_count = following_count + sign * d.followings
  FROM unnest(ids, followers, followings) AS d(id, followers, followings)
  WHERE app_user.id = d.id;
  RETURN NULL;
END $$;
CALL watch('follow', '{added,removed}', 'count_follows');

-- app_user: thank_you_score, the thank-yous (kind 21) that tag somebody
CREATE FUNCTION count_thanks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
  numbers int[];
BEGIN
  SELECT array_agg(user_id), array_agg(n) INTO ids, numbers FROM (
    SELECT user_id, count(*) AS n FROM changed WHERE post_id & 255 = 21 GROUP BY user_id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM app_user WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE app_user SET thank_you_score = thank_you_score + sign * d.n
  FROM unnest(ids, numbers) AS d(id, n) WHERE app_user.id = d.id;
  RETURN NULL;
END $$;
CALL watch('post_tag', '{added,removed}', 'count_thanks');

-- post: heart_count, like_count, top_count. comment: agree_count.
-- location: top_count, and post_reaction_count for its public posts. product: heart_count.
CREATE FUNCTION count_reactions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  subject_type int;
  ids bigint[];
  hearts int[];
  likes int[];
  tops int[];
  numbers int[];
BEGIN
  FOR subject_type, ids, hearts, likes, tops, numbers IN
    SELECT s.type, array_agg(subject_id), array_agg(s.hearts), array_agg(s.likes),
      array_agg(s.tops), array_agg(s.n)
    FROM (
      SELECT CASE WHEN subject_id & 240 = 16 THEN 16 ELSE subject_id & 255 END AS type, subject_id,
        count(*) FILTER (WHERE kind = 'HEART') AS hearts,
        count(*) FILTER (WHERE kind = 'LIKE') AS likes,
        count(*) FILTER (WHERE kind = 'TOP') AS tops, count(*) AS n
      FROM changed GROUP BY subject_id) s
    GROUP BY s.type ORDER BY array_position(ARRAY[16, 32, 3, 4]::bigint[], s.type)
  LOOP
    CASE subject_type
    WHEN 16 THEN
      PERFORM FROM post WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      PERFORM FROM location WHERE id IN (
        SELECT location_id FROM post WHERE id = ANY (ids) AND visibility = 'PUBLIC')
      ORDER BY id FOR NO KEY UPDATE;
      WITH p AS (
        UPDATE post SET heart_count = heart_count + sign * d.hearts,
          like_count = like_count + sign * d.likes, top_count = top_count + sign * d.tops
        FROM unnest(ids, hearts, likes, tops, numbers) AS d(id, hearts, likes, tops, n)
        WHERE post.id = d.id
        RETURNING post.location_id, post.visibility, d.n)
      UPDATE location SET post_reaction_count = post_reaction_count + sign * s.n
      FROM (SELECT location_id, sum(n) AS n FROM p WHERE visibility = 'PUBLIC'
        GROUP BY location_id) s
      WHERE location.id = s.location_id;
    WHEN 32 THEN
      PERFORM FROM comment WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE comment SET agree_count = agree_count + sign * d.n
      FROM unnest(ids, numbers) AS d(id, n) WHERE comment.id = d.id;
    WHEN 3 THEN
      PERFORM FROM location WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE location SET top_count = top_count + sign * d.n
      FROM unnest(ids, numbers) AS d(id, n) WHERE location.id = d.id;
    WHEN 4 THEN
      PERFORM FROM product WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE product SET heart_count = heart_count + sign * d.n
      FROM unnest(ids, numbers) AS d(id, n) WHERE product.id = d.id;
    END CASE;
  END LOOP;
  RETURN NULL;
END $$;
CALL watch('reaction', '{added,removed}', 'count_reactions');

-- location: post_count, and what a post that comes, goes or moves brings to post_reaction_count
CREATE FUNCTION count_posts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
  numbers int[];
  scores int[];
BEGIN
  SELECT array_agg(location_id), array_agg(n), array_agg(score) INTO ids, numbers, scores FROM (
    SELECT location_id, count(*) AS n, sum(score) AS score FROM changed
    WHERE visibility = 'PUBLIC' AND location_id IS NOT NULL GROUP BY location_id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM location WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE location SET post_count = post_count + sign * d.n,
    post_reaction_count = post_reaction_count + sign * d.score
  FROM unnest(ids, numbers, scores) AS d(id, n, score) WHERE location.id = d.id;
  RETURN NULL;
END $$;
CALL watch('post', '{added,removed}', 'count_posts');

CREATE FUNCTION count_moved_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  left_id bigint := CASE WHEN OLD.visibility = 'PUBLIC' THEN OLD.location_id END;
  joined_id bigint := CASE WHEN NEW.visibility = 'PUBLIC' THEN NEW.location_id END;
BEGIN
  IF left_id IS NOT DISTINCT FROM joined_id THEN RETURN NULL; END IF;
  PERFORM FROM location WHERE id IN (left_id, joined_id) ORDER BY id FOR NO KEY UPDATE;
  UPDATE location SET post_count = post_count - 1,
    post_reaction_count = post_reaction_count - OLD.score WHERE id = left_id;
  UPDATE location SET post_count = post_count + 1,
    post_reaction_count = post_reaction_count + NEW.score WHERE id = joined_id;
  RETURN NULL;
END $$;
CREATE TRIGGER count_moved AFTER UPDATE OF location_id, visibility ON post
  FOR EACH ROW EXECUTE FUNCTION count_moved_post();

-- post, location, circle: comment_count
CREATE FUNCTION count_comments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  subject_type int;
  ids bigint[];
  numbers int[];
BEGIN
  FOR subject_type, ids, numbers IN
    SELECT s.type, array_agg(subject_id), array_agg(n) FROM (
      SELECT CASE WHEN subject_id & 240 = 16 THEN 16 ELSE subject_id & 255 END AS type, subject_id,
        count(*) AS n
      FROM changed GROUP BY subject_id) s
    GROUP BY s.type ORDER BY array_position(ARRAY[16, 3, 5]::bigint[], s.type)
  LOOP
    CASE subject_type
    WHEN 16 THEN
      PERFORM FROM post WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE post SET comment_count = comment_count + sign * d.n
      FROM unnest(ids, numbers) AS d(id, n) WHERE post.id = d.id;
    WHEN 3 THEN
      PERFORM FROM location WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE location SET comment_count = comment_count + sign * d.n
      FROM unnest(ids, numbers) AS d(id, n) WHERE location.id = d.id;
    WHEN 5 THEN
      PERFORM FROM circle WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
      UPDATE circle SET comment_count = comment_count + sign * d.n
      FROM unnest(ids, numbers) AS d(id, n) WHERE circle.id = d.id;
    END CASE;
  END LOOP;
  RETURN NULL;
END $$;
CALL watch('comment', '{added,removed}', 'count_comments');

-- votable_post: wear_it_count, change_it_count
CREATE FUNCTION count_votes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
  wear_it int[];
  change_it int[];
BEGIN
  SELECT array_agg(post_id), array_agg(s.wear_it), array_agg(s.change_it)
  INTO ids, wear_it, change_it FROM (
    SELECT post_id, count(*) FILTER (WHERE choice = 'WEAR_IT') AS wear_it,
      count(*) FILTER (WHERE choice = 'CHANGE_IT') AS change_it
    FROM changed GROUP BY post_id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM votable_post WHERE post_id = ANY (ids) ORDER BY post_id FOR NO KEY UPDATE;
  UPDATE votable_post SET wear_it_count = wear_it_count + sign * d.wear_it,
    change_it_count = change_it_count + sign * d.change_it
  FROM unnest(ids, wear_it, change_it) AS d(id, wear_it, change_it)
  WHERE votable_post.post_id = d.id;
  RETURN NULL;
END $$;
CALL watch('vote', '{added,removed}', 'count_votes');

-- circle: member_count
CREATE FUNCTION count_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
  numbers int[];
BEGIN
  SELECT array_agg(circle_id), array_agg(n) INTO ids, numbers
  FROM (SELECT circle_id, count(*) AS n FROM changed GROUP BY circle_id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM circle WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE circle SET member_count = member_count + sign * d.n
  FROM unnest(ids, numbers) AS d(id, n) WHERE circle.id = d.id;
  RETURN NULL;
END $$;
CALL watch('circle_member', '{added,removed}', 'count_members');

-- card_post: response_count, less the responses that go with an account
CREATE FUNCTION count_lost_responses() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
  numbers int[];
BEGIN
  SELECT array_agg(post_id), array_agg(n) INTO ids, numbers FROM (
    SELECT post_id, count(*) AS n FROM changed
    WHERE post_id & 255 = TG_ARGV[0]::int GROUP BY post_id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM card_post WHERE post_id = ANY (ids) ORDER BY post_id FOR NO KEY UPDATE;
  UPDATE card_post SET response_count = response_count - d.n
  FROM unnest(ids, numbers) AS d(id, n) WHERE card_post.post_id = d.id;
  RETURN NULL;
END $$;
-- a response to an offer is a follow-up, one to a request asks for the address
CALL watch('follow_up', '{removed}', 'count_lost_responses', '19');
CALL watch('info_request', '{removed}', 'count_lost_responses', '20');

-- class_session: booked_count, less the seats that go with an account
CREATE FUNCTION count_lost_bookings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
  numbers int[];
BEGIN
  SELECT array_agg(session_id), array_agg(n) INTO ids, numbers FROM (
    SELECT session_id, count(*) AS n FROM changed
    WHERE cancelled_at IS NULL GROUP BY session_id) s;
  IF ids IS NULL THEN RETURN NULL; END IF;
  PERFORM FROM class_session WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  UPDATE class_session SET booked_count = booked_count - d.n
  FROM unnest(ids, numbers) AS d(id, n) WHERE class_session.id = d.id;
  RETURN NULL;
END $$;
CALL watch('booking', '{removed}', 'count_lost_bookings');

-- Every stored count beside the one a recount gives.
CREATE VIEW counted AS
  SELECT 'app_user' AS table_name, u.id, c.column_name, c.stored, c.actual
  FROM app_user u
    LEFT JOIN (SELECT followee_id AS id, count(*) AS n FROM follow GROUP BY 1) a USING (id)
    LEFT JOIN (SELECT follower_id AS id, count(*) AS n FROM follow GROUP BY 1) b USING (id)
    LEFT JOIN (SELECT user_id AS id, count(*) AS n FROM post_tag
      WHERE post_id & 255 = 21 GROUP BY 1) t USING (id),
    LATERAL (VALUES ('follower_count', u.follower_count, coalesce(a.n, 0)),
      ('following_count', u.following_count, coalesce(b.n, 0)),
      ('thank_you_score', u.thank_you_score, coalesce(t.n, 0))) c (column_name, stored, actual)
UNION ALL
  SELECT 'post', p.id, c.column_name, c.stored, c.actual
  FROM post p
    LEFT JOIN (SELECT subject_id AS id, count(*) FILTER (WHERE kind = 'HEART') AS hearts,
        count(*) FILTER (WHERE kind = 'LIKE') AS likes, count(*) FILTER (WHERE kind = 'TOP') AS tops
      FROM reaction GROUP BY 1) r USING (id)
    LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM comment GROUP BY 1) m USING (id),
    LATERAL (VALUES ('heart_count', p.heart_count, coalesce(r.hearts, 0)),
      ('like_count', p.like_count, coalesce(r.likes, 0)),
      ('top_count', p.top_count, coalesce(r.tops, 0)),
      ('comment_count', p.comment_count, coalesce(m.n, 0))) c (column_name, stored, actual)
UNION ALL
  SELECT 'location', l.id, c.column_name, c.stored, c.actual
  FROM location l
    LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM reaction
      WHERE kind = 'TOP' GROUP BY 1) r USING (id)
    LEFT JOIN (SELECT location_id AS id, count(*) AS n FROM post
      WHERE visibility = 'PUBLIC' GROUP BY 1) p USING (id)
    LEFT JOIN (SELECT p.location_id AS id, count(*) AS n
      FROM post p JOIN reaction r ON r.subject_id = p.id
      WHERE p.visibility = 'PUBLIC' GROUP BY 1) pr USING (id)
    LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM comment GROUP BY 1) m USING (id),
    LATERAL (VALUES ('top_count', l.top_count, coalesce(r.n, 0)),
      ('post_count', l.post_count, coalesce(p.n, 0)),
      ('post_reaction_count', l.post_reaction_count, coalesce(pr.n, 0)),
      ('comment_count', l.comment_count, coalesce(m.n, 0))) c (column_name, stored, actual)
UNION ALL
  SELECT 'circle', o.id, c.column_name, c.stored, c.actual
  FROM circle o
    LEFT JOIN (SELECT circle_id AS id, count(*) AS n FROM circle_member GROUP BY 1) r USING (id)
    LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM comment GROUP BY 1) m USING (id),
    LATERAL (VALUES ('member_count', o.member_count, coalesce(r.n, 0)),
      ('comment_count', o.comment_count, coalesce(m.n, 0))) c (column_name, stored, actual)
UNION ALL
  SELECT 'votable_post', p.post_id, c.column_name, c.stored, c.actual
  FROM votable_post p
    LEFT JOIN (SELECT post_id, count(*) FILTER (WHERE choice = 'WEAR_IT') AS wear_it,
        count(*) FILTER (WHERE choice = 'CHANGE_IT') AS change_it
      FROM vote GROUP BY 1) v USING (post_id),
    LATERAL (VALUES ('wear_it_count', p.wear_it_count, coalesce(v.wear_it, 0)),
      ('change_it_count', p.change_it_count, coalesce(v.change_it, 0))
    ) c (column_name, stored, actual)
UNION ALL
  SELECT 'product', p.id, 'heart_count', p.heart_count, coalesce(r.n, 0)
  FROM product p LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM reaction
    WHERE kind = 'HEART' GROUP BY 1) r USING (id)
UNION ALL
  SELECT 'comment', m.id, 'agree_count', m.agree_count, coalesce(r.n, 0)
  FROM comment m LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM reaction
    WHERE kind = 'AGREE' GROUP BY 1) r USING (id)
UNION ALL
  SELECT 'class_session', s.id, 'booked_count', s.booked_count, coalesce(b.n, 0)
  FROM class_session s LEFT JOIN (SELECT session_id AS id, count(*) AS n FROM booking
    WHERE cancelled_at IS NULL GROUP BY 1) b USING (id)
UNION ALL
  SELECT 'card_post', p.post_id, 'response_count', p.response_count,
    coalesce(f.n, 0) + coalesce(i.n, 0)
  FROM card_post p
    LEFT JOIN (SELECT post_id, count(*) AS n FROM follow_up
      WHERE post_id & 255 = 19 GROUP BY 1) f USING (post_id)
    LEFT JOIN (SELECT post_id, count(*) AS n FROM info_request GROUP BY 1) i USING (post_id);

-- Counts that are wrong; none, unless a trigger is. For `sociograph verify`.
CREATE FUNCTION verify_counters()
RETURNS TABLE (table_name text, id bigint, column_name text, stored bigint, actual bigint)
LANGUAGE sql STABLE AS $$
  SELECT table_name, id, column_name, stored, actual FROM counted
  WHERE stored <> actual ORDER BY table_name, id, column_name
$$;
