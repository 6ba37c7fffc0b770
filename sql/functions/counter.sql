-- Counts that lists show or ranks use are stored, and kept right by triggers in the transaction
-- that changes what they count. Other counts are taken when they are read.
--
-- A trigger fires once per statement with all its rows: following fifty people is one update.
-- Before rows are updated they are locked in the order of their ids, and tables always in the
-- order post, comment, location, circle, product, app_user, so that writers wait for each other but
-- never in a ring. What changed is first summed into arrays: however many rows the first statement
-- of a connection had, the plans that are kept then look rows up by key.
-- card_post.response_count and class_session.booked_count are raised by the statements that respond
-- and book, which check the limit in the same update; triggers only take back what goes by itself.

-- Each counter is said once: CALL count_rows(of which table, what becomes of its rows, where). A place
-- is the table with its key and columns, and a SELECT from `changed` (the rows that came or went) of
-- the key and how much each column changes by. Places stand in the order in which they are locked.
CREATE OR REPLACE PROCEDURE count_rows(of_table regclass, fates text[], places text[])
LANGUAGE plpgsql AS $$
DECLARE
  name text := 'count_' || of_table;
  place text[];
  columns text[];
  declarations text := '';
  blocks text := '';
  i int := 0;
BEGIN
  FOREACH place SLICE 1 IN ARRAY places LOOP
    columns := string_to_array(place[3], ', ');
    blocks := blocks || format(
      $block$
  SELECT array_agg(s.id), %5$s INTO ids, %6$s FROM (
    SELECT e.id, %7$s FROM (%4$s) e(id, %3$s) WHERE e.id IS NOT NULL GROUP BY e.id) s;
  IF ids IS NOT NULL THEN
    PERFORM FROM %1$I WHERE %2$I = ANY (ids) ORDER BY %2$I FOR NO KEY UPDATE;
    UPDATE %1$I t SET %8$s
    FROM unnest(ids, %6$s) AS d(id, %3$s) WHERE t.%2$I = d.id;
  END IF;$block$,
      place[1], place[2], place[3], place[4],
      (SELECT string_agg(format('array_agg(s.%I)', c), ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)),
      (SELECT string_agg('sums_' || n, ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)),
      (SELECT string_agg(format('sum(e.%1$I) AS %1$I', c), ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)),
      (SELECT string_agg(format('%1$I = t.%1$I + sign * d.%1$I', c), ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)));
    i := greatest(i, cardinality(columns));
  END LOOP;
  SELECT string_agg(format('  sums_%s int[];', n), E'\n') INTO declarations
  FROM generate_series(1, i) n;
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
%s
BEGIN%s
  RETURN NULL;
END $body$
$function$, name, declarations, blocks);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', name,
    'Keeps what rows of ' || of_table || ' are counted in; made by count_rows.');
  CALL watch(of_table, fates, name::regproc);
END $$;
COMMENT ON PROCEDURE count_rows IS
  'Makes the triggers that keep counts of the rows of a table: places are rows of (table, key, '
  'columns, SELECT of the key and what to add).';

CALL count_rows('follow', '{added,removed}', ARRAY[
  ['app_user', 'id', 'follower_count, following_count',
    'SELECT followee_id, 1, 0 FROM changed UNION ALL SELECT follower_id, 0, 1 FROM changed']]);
CALL count_rows('post_tag', '{added,removed}', ARRAY[
  ['app_user', 'id', 'thank_you_score', 'SELECT user_id, 1 FROM changed WHERE post_id & 255 = 21 AND is_public']]);
CALL count_rows('circle_member', '{added,removed}', ARRAY[
  ['circle', 'id', 'member_count', 'SELECT circle_id, 1 FROM changed']]);
CALL count_rows('vote', '{added,removed}', ARRAY[
  ['votable_post', 'post_id', 'wear_it_count, change_it_count',
    $$SELECT post_id, (choice = 'WEAR_IT')::int, (choice = 'CHANGE_IT')::int FROM changed$$]]);
CALL count_rows('comment', '{added,removed}', ARRAY[
  ['post', 'id', 'comment_count', 'SELECT subject_id, 1 FROM changed WHERE subject_id & 240 = 16'],
  ['location', 'id', 'comment_count', 'SELECT subject_id, 1 FROM changed WHERE subject_id & 255 = 3'],
  ['circle', 'id', 'comment_count', 'SELECT subject_id, 1 FROM changed WHERE subject_id & 255 = 5']]);
-- The post is locked when its location is looked up, so it does not move meanwhile.
CALL count_rows('reaction', '{added,removed}', ARRAY[
  ['post', 'id', 'heart_count, like_count, top_count',
    $$SELECT subject_id, (kind = 'HEART')::int, (kind = 'LIKE')::int, (kind = 'TOP')::int
      FROM changed WHERE subject_id & 240 = 16$$],
  ['comment', 'id', 'agree_count', 'SELECT subject_id, 1 FROM changed WHERE subject_id & 255 = 32'],
  ['location', 'id', 'top_count, post_reaction_count',
    $$SELECT subject_id, 1, 0 FROM changed WHERE subject_id & 255 = 3
      UNION ALL
      SELECT (SELECT p.location_id FROM post p
        WHERE p.id = c.subject_id AND p.visibility = 'PUBLIC'), 0, 1
      FROM changed c WHERE c.subject_id & 240 = 16$$],
  ['product', 'id', 'heart_count', 'SELECT subject_id, 1 FROM changed WHERE subject_id & 255 = 4']]);
CALL count_rows('post', '{added,removed}', ARRAY[
  ['location', 'id', 'post_count, post_reaction_count',
    $$SELECT location_id, 1, score FROM changed WHERE visibility = 'PUBLIC'$$]]);
-- A response to an offer is a follow-up, one to a request asks for the address.
CALL count_rows('follow_up', '{removed}', ARRAY[
  ['card_post', 'post_id', 'response_count',
    'SELECT post_id, 1 FROM changed WHERE post_id & 255 = 19']]);
CALL count_rows('info_request', '{removed}', ARRAY[
  ['card_post', 'post_id', 'response_count',
    'SELECT post_id, 1 FROM changed WHERE post_id & 255 = 20']]);
CALL count_rows('booking', '{removed}', ARRAY[
  ['class_session', 'id', 'booked_count',
    'SELECT session_id, 1 FROM changed WHERE cancelled_at IS NULL']]);

CREATE OR REPLACE FUNCTION count_moved_post() RETURNS trigger LANGUAGE plpgsql AS $$
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
COMMENT ON FUNCTION count_moved_post IS
  'Takes a post that moves, or is shown to others than before, from one location to another.';
CREATE OR REPLACE TRIGGER count_moved AFTER UPDATE OF location_id, visibility ON post
  FOR EACH ROW EXECUTE FUNCTION count_moved_post();

-- Thanks among the members of a group are in nobody's score.
CREATE OR REPLACE FUNCTION look_at_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_public := (SELECT p.visibility = 'PUBLIC' FROM post p WHERE p.id = NEW.post_id);
  NEW.is_public := coalesce(NEW.is_public, false);
  RETURN NEW;
END $$;
COMMENT ON FUNCTION look_at_tag IS 'Notes with a tag whether everyone may see its post.';
CREATE OR REPLACE TRIGGER look_at_tag BEFORE INSERT ON post_tag
  FOR EACH ROW EXECUTE FUNCTION look_at_tag();

CREATE OR REPLACE FUNCTION count_shown_thanks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE is_shown boolean := NEW.visibility = 'PUBLIC';
BEGIN
  IF NEW.kind <> 21 OR is_shown = (OLD.visibility = 'PUBLIC') THEN RETURN NULL; END IF;
  UPDATE post_tag t SET is_public = is_shown WHERE t.post_id = NEW.id;
  PERFORM FROM app_user u WHERE u.id IN (SELECT t.user_id FROM post_tag t WHERE t.post_id = NEW.id)
  ORDER BY u.id FOR NO KEY UPDATE;
  UPDATE app_user u SET thank_you_score = u.thank_you_score + CASE WHEN is_shown THEN 1 ELSE -1 END
  WHERE u.id IN (SELECT t.user_id FROM post_tag t WHERE t.post_id = NEW.id);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION count_shown_thanks IS
  'Counts a thank-you that is shown to everyone from now on, or not any more.';
CREATE OR REPLACE TRIGGER count_shown AFTER UPDATE OF visibility ON post
  FOR EACH ROW EXECUTE FUNCTION count_shown_thanks();

CREATE OR REPLACE VIEW counted AS
  SELECT 'app_user' AS table_name, u.id, c.column_name, c.stored, c.actual
  FROM app_user u
    LEFT JOIN (SELECT followee_id AS id, count(*) AS n FROM follow GROUP BY 1) a USING (id)
    LEFT JOIN (SELECT follower_id AS id, count(*) AS n FROM follow GROUP BY 1) b USING (id)
    LEFT JOIN (SELECT user_id AS id, count(*) AS n FROM post_tag
      WHERE post_id & 255 = 21 AND is_public GROUP BY 1) t USING (id),
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
COMMENT ON VIEW counted IS 'Every stored count beside the one a recount gives.';

CREATE OR REPLACE FUNCTION verify_counters()
RETURNS TABLE (table_name text, id bigint, column_name text, stored bigint, actual bigint)
LANGUAGE sql STABLE AS $$
  SELECT table_name, id, column_name, stored, actual FROM counted
  WHERE stored <> actual ORDER BY table_name, id, column_name
$$;
COMMENT ON FUNCTION verify_counters IS
  'Counts that are wrong; none, unless a trigger is. For `sociograph verify`.';
