-- Counts that lists show or ranks use are stored, and kept right by triggers in the transaction
-- that changes what they count. Other counts are taken when they are read.
--
-- A count stands in the row of what it is about, in a column without an index, so that raising it
-- leaves the indexes alone. Whoever finds somebody else counting there takes a slot instead, a part of
-- the count in a row of its own, as long as the other's commit would take; only where there is no free
-- slot does a writer wait, and leaves one behind. Who counts where is said by an advisory lock, which is
-- not written to the log as the lock of a row is; for a transaction with many rows there is no room in
-- memory, and their own locks are tried. A row some of whose counts have slots is_hot. Slots come and go,
-- and is_hot changes, under the row's lock, and nobody waits for a slot: so a pass may add up at any
-- time those that nobody holds. exact_post() and the like give the rows with their slots added; what
-- readers see goes through them.
--
-- What lists are ordered by is copied into narrow tables of ranks, where the indexes are. fold_counts,
-- called every second or so, brings them up to date and puts slots back. It looks at what was touched
-- since it did so last, as those who watch do, and notes how far it came in its own transaction: when
-- it ends half-way nothing was done, and whoever calls it next begins anew.
--
-- A trigger fires once per statement with all its rows. Rows are updated in the order of their ids,
-- and tables always in the order post, comment, location, circle, product, app_user, so that writers
-- who wait never do so in a ring. What changed is first summed into arrays: however many rows the
-- first statement of a connection had, the plans that are kept then look rows up by key.
-- card_post.response_count and class_session.booked_count are raised by the statements that respond
-- and book, which check the limit in the same update: these are queues, and have no slots. Triggers
-- only take back what goes by itself.

-- with the row whose count they are part of
CALL told('count_slot', '');

CREATE OR REPLACE FUNCTION slot_sum(subject bigint, VARIADIC counters text[]) RETURNS int
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT coalesce(sum(s.amount), 0) FROM count_slot s
    WHERE s.subject_id = subject AND s.counter = ANY (counters));
END $$;
COMMENT ON FUNCTION slot_sum IS
  'Returns the sum of these counters in the slots of a row. Only rows with is_hot have slots.';

CREATE OR REPLACE FUNCTION count_lock(subject bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT hashtextextended('count', subject) $$;
COMMENT ON FUNCTION count_lock IS 'Returns the key of the advisory lock for changing the counts of a row.';

CREATE OR REPLACE FUNCTION add_to_slot(subject bigint, name text, number int) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE free smallint;
BEGIN
  -- In a statement of its own, as in add_to_<table>.
  SELECT o.slot INTO free FROM count_slot o WHERE o.subject_id = subject AND o.counter = name
  ORDER BY o.slot LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
  UPDATE count_slot s SET amount = s.amount + number
  WHERE s.subject_id = subject AND s.counter = name AND s.slot = free;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION add_to_slot IS 'Adds to a slot that is not locked, and returns whether there was one.';

CREATE OR REPLACE FUNCTION make_slot(subject bigint, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO count_slot (subject_id, counter, slot, amount)
  SELECT subject, name, n, 0 FROM generate_series(1, 16) n
  WHERE NOT EXISTS (SELECT FROM count_slot s
    WHERE s.subject_id = subject AND s.counter = name AND s.slot = n)
  ORDER BY n LIMIT 1;
END $$;
COMMENT ON FUNCTION make_slot IS
  'Creates one more slot, up to sixteen, for later writers. Call it under the lock of the row.';

-- A table with counts has one line: CALL keep_counts(table, key, counters, a column that is the sum of some of
-- them, its table of ranks, the columns of that table that are counts). The other columns of a table of ranks,
-- except the first, are copies of the columns with the same names. Tests/Fixtures/counters shows what the
-- procedures below make.
CREATE OR REPLACE PROCEDURE make_exact(of_table regclass, key text, counters text[], sum_column text,
  summed text[])
LANGUAGE plpgsql AS $$
DECLARE columns text;
BEGIN
  SELECT string_agg(CASE
      WHEN a.attname = ANY (counters) THEN format(
        't.%1$I + CASE WHEN t.is_hot THEN slot_sum(t.%2$I, %1$L) ELSE 0 END', a.attname, key)
      WHEN a.attname = sum_column THEN format(
        't.%1$I + CASE WHEN t.is_hot THEN slot_sum(t.%2$I, VARIADIC %3$L) ELSE 0 END',
        a.attname, key, summed)
      ELSE format('t.%I', a.attname) END, ', ' ORDER BY a.attnum)
  INTO columns FROM pg_attribute a
  WHERE a.attrelid = of_table AND a.attnum > 0 AND NOT a.attisdropped;
  EXECUTE format(
    -- qualified, as PostgreSQL has a type circle of its own
    'CREATE OR REPLACE FUNCTION %I() RETURNS SETOF %I.%s LANGUAGE sql STABLE PARALLEL SAFE AS '
    '$body$ SELECT %s FROM %s t $body$', 'exact_' || of_table, current_schema(), of_table, columns,
    of_table);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', 'exact_' || of_table,
    'Returns the rows of ' || of_table || ' with their current counts. Created by keep_counts.');
END $$;
COMMENT ON PROCEDURE make_exact IS
  'Creates exact_T, which returns the rows of a table with their slots added. For keep_counts.';

CREATE OR REPLACE PROCEDURE make_addition(of_table regclass, key text, counters text[])
LANGUAGE plpgsql AS $$
DECLARE
  arguments text;
  amounts text;
  additions text;
  meetings text;
BEGIN
  SELECT string_agg(format('%I int[] DEFAULT NULL', c), ', ' ORDER BY n),
    string_agg(format('coalesce(u.%1$I, 0) AS %1$I', c), ', ' ORDER BY n),
    string_agg(format('%1$I = t.%1$I + d.%1$I', c), ', ' ORDER BY n),
    string_agg(format($part$
    IF d.%1$I <> 0 AND NOT add_to_slot(d.id, %1$L, d.%1$I) THEN
      UPDATE %2$s t SET %1$I = t.%1$I + d.%1$I, is_hot = true WHERE t.%3$I = d.id;
      PERFORM make_slot(d.id, %1$L);
    END IF;$part$, c, of_table, key), '' ORDER BY n)
  INTO arguments, amounts, additions, meetings
  FROM unnest(counters) WITH ORDINALITY u(c, n);
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION %1$I(ids bigint[], %2$s)
RETURNS void LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  d record;
  is_free boolean;
  -- A transaction that counted in many rows before has said so in what it touched.
  are_few boolean := cardinality(ids) <= 32
    AND coalesce(length(current_setting('sociograph.touched', true)), 0) < 1000;
BEGIN
  FOR d IN SELECT u.id, %3$s FROM unnest(ids, %4$s) AS u(id, %5$s)
    WHERE u.id IS NOT NULL ORDER BY u.id
  LOOP
    IF are_few THEN
      is_free := pg_try_advisory_xact_lock(count_lock(d.id));
    ELSE
      -- Two statements: the second one sees the row as it was locked. Within one it would start from the version
      -- before, which somebody holds who waits here although told to skip, as locking follows a row's versions.
      PERFORM FROM %6$s t WHERE t.%8$I = d.id FOR NO KEY UPDATE SKIP LOCKED;
      is_free := FOUND;
    END IF;
    IF is_free THEN
      UPDATE %6$s t SET %7$s WHERE t.%8$I = d.id;
      CONTINUE;
    END IF;
    -- Whoever has a slot keeps the row from being deleted: who deletes it waits for no slots.
    PERFORM FROM %6$s t WHERE t.%8$I = d.id FOR KEY SHARE;
    CONTINUE WHEN NOT FOUND;%9$s
  END LOOP;
  PERFORM touch_nodes('node', %10$s, ids);
END $body$
$function$, 'add_to_' || of_table, arguments, amounts,
    (SELECT string_agg(format('%I.%I', 'add_to_' || of_table, c), ', ' ORDER BY n)
      FROM unnest(counters) WITH ORDINALITY u(c, n)),
    array_to_string(counters, ', '), of_table, additions, key, meetings,
    -- not everybody may see how many they are
    CASE of_table::text WHEN 'votable_post' THEN 'ARRAY(SELECT verdict_key(u.id) FROM unnest(ids) AS u(id))'
      ELSE 'ids' END);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', 'add_to_' || of_table,
    'Adds to counts in ' || of_table || '. Each array has the amounts for the IDs. Created by keep_counts.');
END $$;
COMMENT ON PROCEDURE make_addition IS 'Creates add_to_T, which adds to counts of rows of a table. For keep_counts.';

CREATE OR REPLACE PROCEDURE make_ranks(of_table regclass, key text, rank_table regclass,
  rank_columns text[], copies text[])
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE gone bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO %2$s (%3$s) SELECT %4$s FROM changed;
  ELSE
    gone := ARRAY(SELECT %5$I FROM changed);
    DELETE FROM %2$s WHERE %6$I = ANY (gone);
  END IF;
  RETURN NULL;
END $body$
$function$, 'rank_' || of_table, rank_table, array_to_string(rank_columns, ', '),
    array_to_string(key || rank_columns[2:], ', '), key, rank_columns[1]);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', 'rank_' || of_table,
    'Adds and deletes the ranks of rows of ' || of_table || '. Created by keep_counts.');
  CALL watch(of_table, '{added,removed}', ('rank_' || of_table)::regproc);
  IF copies <> '{}' THEN
    EXECUTE format(
      $function$CREATE OR REPLACE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  UPDATE %2$s r SET %3$s WHERE r.%4$I = NEW.%5$I;
  RETURN NULL;
END $body$
$function$, 'copy_' || of_table, rank_table,
      (SELECT string_agg(format('%1$I = NEW.%1$I', c), ', ') FROM unnest(copies) c),
      rank_columns[1], key);
    EXECUTE format('COMMENT ON FUNCTION %I IS %L', 'copy_' || of_table,
      'Copies the changes of a row of ' || of_table || ' to its ranks. Created by keep_counts.');
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER copy_edited AFTER UPDATE OF %1$s ON %2$s FOR EACH ROW '
      'WHEN (%3$s) EXECUTE FUNCTION %4$I()', array_to_string(copies, ', '), of_table,
      (SELECT string_agg(format('OLD.%1$I IS DISTINCT FROM NEW.%1$I', c), ' OR ')
        FROM unnest(copies) c), 'copy_' || of_table);
  END IF;
END $$;
COMMENT ON PROCEDURE make_ranks IS
  'Creates the triggers that add, delete, and update the rows of a table of ranks. For keep_counts.';

CREATE OR REPLACE FUNCTION rank_folding(of_table regclass, key text, rank_table regclass,
  rank_column text, ranks text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN format($part$
  -- Only this pass raises ranks; somebody else locks them only to move or delete.
  held := ARRAY(SELECT r.%2$I FROM %1$s r JOIN %3$I() t ON t.%4$I = r.%2$I
    WHERE r.%2$I = ANY (ids) AND (%5$s) ORDER BY r.%2$I FOR NO KEY UPDATE OF r SKIP LOCKED);
  UPDATE %1$s r SET %6$s FROM %3$I() t WHERE t.%4$I = r.%2$I AND r.%2$I = ANY (held);
  IF held <> '{}' THEN PERFORM touch_nodes(%1$L, '{0}', '{0}'); END IF;
  again := again || ARRAY(SELECT r.%2$I FROM %1$s r JOIN %3$I() t ON t.%4$I = r.%2$I
    WHERE r.%2$I = ANY (ids) AND (%5$s));$part$, rank_table, rank_column,
      'exact_' || of_table, key,
      (SELECT string_agg(format('r.%1$I <> t.%1$I', c), ' OR ') FROM unnest(ranks) c),
      (SELECT string_agg(format('%1$I = t.%1$I', c), ', ') FROM unnest(ranks) c));
END $$;
COMMENT ON FUNCTION rank_folding IS
  'Returns the statements of fold_T that bring the ranks of its table up to date. For keep_counts.';

CREATE OR REPLACE PROCEDURE make_folding(of_table regclass, key text, counters text[], rank_foldings text)
LANGUAGE plpgsql AS $$
DECLARE folded text;
BEGIN
  SELECT string_agg(format('coalesce(sum(g.amount) FILTER (WHERE g.counter = %1$L), 0) AS %1$I', c), ', '
      ORDER BY n)
  INTO folded FROM unnest(counters) WITH ORDINALITY u(c, n);
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION %1$I(ids bigint[], is_held boolean DEFAULT false)
RETURNS bigint[] LANGUAGE plpgsql AS $body$
#variable_conflict use_column
DECLARE
  hot bigint[];
  row_id bigint;
  s record;
  stays boolean;
  held bigint[];
  again bigint[] := '{}';
BEGIN
  hot := ARRAY(SELECT t.%3$I FROM %2$s t WHERE t.%3$I = ANY (ids) AND t.is_hot ORDER BY 1);
  again := hot[1001:];
  FOREACH row_id IN ARRAY hot[:1000] LOOP
    IF is_held THEN
      WITH g AS (
        DELETE FROM count_slot o WHERE o.subject_id = row_id AND o.counter = ANY (%4$L::text[])
        RETURNING o.counter, o.amount)
      SELECT %5$s INTO s FROM g;
    ELSE
      -- So that nobody who counts waits for this.
      IF NOT pg_try_advisory_xact_lock(count_lock(row_id)) THEN
        again := again || row_id;
        CONTINUE;
      END IF;
      PERFORM FROM %2$s t WHERE t.%3$I = row_id FOR NO KEY UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        again := again || row_id;
        CONTINUE;
      END IF;
      WITH f AS MATERIALIZED (
        SELECT o.counter, o.slot FROM count_slot o
        WHERE o.subject_id = row_id AND o.counter = ANY (%4$L::text[])
        ORDER BY o.counter, o.slot FOR UPDATE SKIP LOCKED),
      g AS (
        DELETE FROM count_slot o USING f
        WHERE o.subject_id = row_id AND o.counter = f.counter AND o.slot = f.slot
        RETURNING o.counter, o.amount)
      SELECT %5$s INTO s FROM g;
    END IF;
    UPDATE %2$s t SET %6$s, is_hot = EXISTS (
      SELECT FROM count_slot o WHERE o.subject_id = row_id AND o.counter = ANY (%4$L::text[]))
    WHERE t.%3$I = row_id RETURNING t.is_hot INTO stays;
    IF stays THEN again := again || row_id; END IF;
  END LOOP;
  IF is_held THEN RETURN again; END IF;%7$s
  RETURN again;
END $body$
$function$, 'fold_' || of_table, of_table, key, counters, folded,
    (SELECT string_agg(format('%1$I = t.%1$I + s.%1$I', c), ', ' ORDER BY n)
      FROM unnest(counters) WITH ORDINALITY u(c, n)), rank_foldings);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', 'fold_' || of_table,
    'Moves the unlocked slots of rows of ' || of_table || ' back into them, and brings their ranks up to date. '
    'Does not wait, and returns the rows that it left. For the holder of a row, waits for all of its slots and '
    'leaves the ranks. Created by keep_counts.');
END $$;
COMMENT ON PROCEDURE make_folding IS
  'Creates fold_T, which moves the slots of rows of a table back into their rows. For keep_counts.';

CREATE OR REPLACE PROCEDURE keep_counts(of_table regclass, key text, counters text[],
  sum_column text DEFAULT NULL, summed text[] DEFAULT '{}', rank_table regclass DEFAULT NULL,
  ranks text[] DEFAULT '{}')
LANGUAGE plpgsql AS $$
DECLARE
  rank_columns text[] := ARRAY(SELECT a.attname::text FROM pg_attribute a
    WHERE a.attrelid = rank_table AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum);
  copies text[] := ARRAY(SELECT c FROM unnest(rank_columns[2:]) c WHERE c <> ALL (ranks));
BEGIN
  CALL make_exact(of_table, key, counters, sum_column, summed);
  CALL make_addition(of_table, key, counters);
  IF rank_table IS NULL THEN
    CALL make_folding(of_table, key, counters, NULL);
  ELSE
    CALL make_ranks(of_table, key, rank_table, rank_columns, copies);
    CALL make_folding(of_table, key, counters,
      rank_folding(of_table, key, rank_table, rank_columns[1], ranks));
  END IF;
END $$;
COMMENT ON PROCEDURE keep_counts IS
  'Creates the functions that keep the counts of a table, exact_T, add_to_T, and fold_T, and the triggers of its table '
  'of ranks.';

CALL keep_counts('post', 'id', '{heart_count,like_count,top_count,comment_count}',
  'score', '{heart_count,like_count,top_count}', 'post_rank', '{score}');
CALL keep_counts('votable_post', 'post_id', '{wear_it_count,change_it_count}');
CALL keep_counts('comment', 'id', '{agree_count}');
CALL keep_counts('location', 'id', '{top_count,post_count,post_reaction_count,comment_count}',
  'popularity', '{top_count,post_reaction_count}', 'location_rank', '{popularity,comment_count}');
CALL keep_counts('circle', 'id', '{member_count,comment_count}');
CALL keep_counts('product', 'id', '{heart_count}', NULL, '{}', 'product_rank', '{heart_count}');
CALL keep_counts('app_user', 'id', '{follower_count,following_count,thank_you_score}');

CREATE OR REPLACE FUNCTION counted_since(since pg_snapshot) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- The numbers of transactions begin anew where a dump was restored.
  IF pg_snapshot_xmax(since) > pg_snapshot_xmax(pg_current_snapshot()) THEN since := '1:1:'; END IF;
  RETURN QUERY SELECT DISTINCT t.node FROM touched t
    WHERE t.xid >= pg_snapshot_xmin(since) AND NOT pg_visible_in_snapshot(t.xid, since)
      AND t.topic = 'node';
END $$;
COMMENT ON FUNCTION counted_since IS 'Returns the nodes that were touched since a snapshot, including by counting.';

CREATE OR REPLACE VIEW count_to_fold AS
  SELECT d.subject_id FROM count_due d
  UNION SELECT counted_since(m.snapshot) FROM fold_mark m;
COMMENT ON VIEW count_to_fold IS 'One node that the next pass of fold_counts handles.';

CREATE OR REPLACE FUNCTION fold_counts(most int DEFAULT 20000) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  now_committed pg_snapshot;
  subjects bigint[];
  home text;
  ids bigint[];
  again bigint[];
BEGIN
  -- one at a time; whoever comes second leaves it to the first
  IF NOT pg_try_advisory_xact_lock(hashtext('fold_counts')) THEN RETURN 0; END IF;
  -- One statement, so that what it finds is all that its snapshot has.
  SELECT pg_current_snapshot(), array_agg(f.subject_id) INTO now_committed, subjects FROM count_to_fold f;
  UPDATE fold_mark m SET snapshot = now_committed
  WHERE EXISTS (SELECT FROM touch t
    WHERE t.xid >= pg_snapshot_xmin(m.snapshot) AND NOT pg_visible_in_snapshot(t.xid, m.snapshot))
    OR pg_snapshot_xmax(m.snapshot) > pg_snapshot_xmax(now_committed);
  IF subjects IS NULL THEN RETURN 0; END IF;
  DELETE FROM count_due;
  INSERT INTO count_due (subject_id) SELECT e.id FROM unnest(subjects[most + 1:]) AS e(id);
  subjects := subjects[:most];
  -- What is read from here on is at least as new.
  FOR home, ids IN
    SELECT h.name, array_agg(s.id) FROM unnest(subjects) AS s(id), LATERAL (VALUES
      (node_table(s.id)),
      (CASE WHEN is_votable(s.id) THEN 'votable_post' END)) h(name)
    WHERE to_regproc('fold_' || h.name) IS NOT NULL GROUP BY h.name
  LOOP
    EXECUTE format('SELECT %I($1)', 'fold_' || home) INTO again USING ids;
    INSERT INTO count_due (subject_id) SELECT e.id FROM unnest(again) AS e(id);
  END LOOP;
  RETURN cardinality(subjects);
END $$;
COMMENT ON FUNCTION fold_counts IS
  'Brings the ranks up to date and moves slots back into their rows, for the nodes of count_to_fold. Returns the '
  'number of handled nodes. Call it every second, from any number of servers.';

CREATE OR REPLACE FUNCTION sweep_slots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE gone bigint[] := ARRAY(SELECT id FROM changed);
BEGIN
  DELETE FROM count_slot WHERE subject_id = ANY (gone);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sweep_slots IS 'Deletes the slots of deleted nodes, after everything counted in them is deleted.';
CALL watch('post', '{removed}', 'sweep_slots');
CALL watch('comment', '{removed}', 'sweep_slots');
CALL watch('location', '{removed}', 'sweep_slots');
CALL watch('circle', '{removed}', 'sweep_slots');
CALL watch('product', '{removed}', 'sweep_slots');
CALL watch('app_user', '{removed}', 'sweep_slots');

-- Each count is said once: CALL count_rows(of which table, what becomes of its rows, where). A place
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
  SELECT array_agg(s.id), %3$s INTO ids, %4$s FROM (
    SELECT e.id, %5$s FROM (%2$s) e(id, %1$s) WHERE e.id IS NOT NULL GROUP BY e.id) s;
  IF ids IS NOT NULL THEN%6$s
  END IF;$block$,
      place[3], place[4],
      (SELECT string_agg(format('array_agg(s.%I)', c), ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)),
      (SELECT string_agg('sums_' || n, ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)),
      (SELECT string_agg(format('sign * sum(e.%1$I) AS %1$I', c), ', ' ORDER BY n)
        FROM unnest(columns) WITH ORDINALITY u(c, n)),
      CASE WHEN to_regproc('add_to_' || place[1]) IS NOT NULL THEN
        (SELECT format(E'\n    PERFORM %I(ids, %s);', 'add_to_' || place[1],
            string_agg(format('%I => sums_%s', c, n), ', ' ORDER BY n))
          FROM unnest(columns) WITH ORDINALITY u(c, n))
      ELSE
        (SELECT format($queue$
    PERFORM FROM %1$I WHERE %2$I = ANY (ids) ORDER BY %2$I FOR NO KEY UPDATE;
    UPDATE %1$I t SET %3$s FROM unnest(ids, %4$s) AS d(id, %5$s) WHERE t.%2$I = d.id;$queue$,
            place[1], place[2], string_agg(format('%1$I = t.%1$I + d.%1$I', c), ', ' ORDER BY n),
            string_agg('sums_' || n, ', ' ORDER BY n), place[3])
          FROM unnest(columns) WITH ORDINALITY u(c, n)) END);
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
    'Keeps the counts of rows of ' || of_table || '. Created by count_rows.');
  CALL watch(of_table, fates, name::regproc);
END $$;
COMMENT ON PROCEDURE count_rows IS
  'Creates the triggers that count the rows of a table. places: rows of (table, key, columns, SELECT of the key and '
  'the amounts to add).';

CALL count_rows('follow', '{added,removed}', ARRAY[
  ['app_user', 'id', 'follower_count, following_count',
    'SELECT followee_id, 1, 0 FROM changed UNION ALL SELECT follower_id, 0, 1 FROM changed']]);
CALL count_rows('post_tag', '{added,removed}', ARRAY[
  ['app_user', 'id', 'thank_you_score', 'SELECT user_id, 1 FROM changed WHERE is_thank_you(post_id) AND is_public']]);
CALL count_rows('circle_member', '{added,removed}', ARRAY[
  ['circle', 'id', 'member_count', 'SELECT circle_id, 1 FROM changed']]);
CALL count_rows('vote', '{added,removed}', ARRAY[
  ['votable_post', 'post_id', 'wear_it_count, change_it_count',
    $$SELECT post_id, (choice = 'WEAR_IT')::int, (choice = 'CHANGE_IT')::int FROM changed$$]]);
CALL count_rows('comment', '{added,removed}', ARRAY[
  ['post', 'id', 'comment_count', 'SELECT subject_id, 1 FROM changed WHERE is_post(subject_id)'],
  ['location', 'id', 'comment_count', 'SELECT subject_id, 1 FROM changed WHERE is_location(subject_id)'],
  ['circle', 'id', 'comment_count', 'SELECT subject_id, 1 FROM changed WHERE is_circle(subject_id)']]);
-- The post, or a slot of it, is locked when its location is looked up: it does not move meanwhile, as
-- who moves it waits for its slots.
CALL count_rows('reaction', '{added,removed}', ARRAY[
  ['post', 'id', 'heart_count, like_count, top_count',
    $$SELECT subject_id, (kind = 'HEART')::int, (kind = 'LIKE')::int, (kind = 'TOP')::int
      FROM changed WHERE is_post(subject_id)$$],
  ['comment', 'id', 'agree_count', 'SELECT subject_id, 1 FROM changed WHERE is_comment(subject_id)'],
  ['location', 'id', 'top_count, post_reaction_count',
    $$SELECT subject_id, 1, 0 FROM changed WHERE is_location(subject_id)
      UNION ALL
      SELECT (SELECT p.location_id FROM post p
        WHERE p.id = c.subject_id AND p.visibility = 'PUBLIC'), 0, 1
      FROM changed c WHERE is_post(c.subject_id)$$],
  ['product', 'id', 'heart_count', 'SELECT subject_id, 1 FROM changed WHERE is_product(subject_id)']]);
CALL count_rows('post', '{added,removed}', ARRAY[
  ['location', 'id', 'post_count, post_reaction_count',
    $$SELECT location_id, 1, score + CASE WHEN is_hot
        THEN slot_sum(id, 'heart_count', 'like_count', 'top_count') ELSE 0 END
      FROM changed WHERE visibility = 'PUBLIC'$$]]);
-- A response to an offer is a follow-up, one to a request asks for the address.
CALL count_rows('follow_up', '{removed}', ARRAY[
  ['card_post', 'post_id', 'response_count',
    'SELECT post_id, 1 FROM changed WHERE is_card_offer(post_id)']]);
CALL count_rows('info_request', '{removed}', ARRAY[
  ['card_post', 'post_id', 'response_count',
    $$SELECT post_id, 1 FROM changed WHERE is_card_request(post_id) AND status <> 'WITHDRAWN'$$]]);
CALL count_rows('booking', '{removed}', ARRAY[
  ['class_session', 'id', 'booked_count',
    'SELECT session_id, 1 FROM changed WHERE cancelled_at IS NULL']]);

CREATE OR REPLACE FUNCTION count_moved_post() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  left_id bigint := CASE WHEN OLD.visibility = 'PUBLIC' THEN OLD.location_id END;
  joined_id bigint := CASE WHEN NEW.visibility = 'PUBLIC' THEN NEW.location_id END;
  number int;
BEGIN
  IF left_id IS NOT DISTINCT FROM joined_id THEN RETURN NULL; END IF;
  PERFORM fold_post(ARRAY[NEW.id], is_held := true);
  number := (SELECT p.score FROM post p WHERE p.id = NEW.id);
  PERFORM add_to_location(ARRAY[left_id, joined_id], post_count => ARRAY[-1, 1],
    post_reaction_count => ARRAY[-number, number]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION count_moved_post IS
  'Moves a post that gets another location or visibility from the counts of one location to those of the other.';
CREATE OR REPLACE TRIGGER count_moved AFTER UPDATE OF location_id, visibility ON post
  FOR EACH ROW EXECUTE FUNCTION count_moved_post();

-- Thanks among the members of a group are in nobody's score.
CREATE OR REPLACE FUNCTION look_at_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_public := (SELECT p.visibility = 'PUBLIC' FROM post p WHERE p.id = NEW.post_id);
  NEW.is_public := coalesce(NEW.is_public, false);
  RETURN NEW;
END $$;
COMMENT ON FUNCTION look_at_tag IS 'Sets on a new tag whether everyone may see its post.';
CREATE OR REPLACE TRIGGER look_at_tag BEFORE INSERT ON post_tag
  FOR EACH ROW EXECUTE FUNCTION look_at_tag();

CREATE OR REPLACE FUNCTION count_shown_thanks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE is_shown boolean := NEW.visibility = 'PUBLIC';
BEGIN
  IF NOT is_thank_you(NEW.id) OR is_shown = (OLD.visibility = 'PUBLIC') THEN RETURN NULL; END IF;
  UPDATE post_tag t SET is_public = is_shown WHERE t.post_id = NEW.id;
  PERFORM FROM app_user u WHERE u.id IN (SELECT t.user_id FROM post_tag t WHERE t.post_id = NEW.id)
  ORDER BY u.id FOR NO KEY UPDATE;
  UPDATE app_user u SET thank_you_score = u.thank_you_score + CASE WHEN is_shown THEN 1 ELSE -1 END
  WHERE u.id IN (SELECT t.user_id FROM post_tag t WHERE t.post_id = NEW.id);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION count_shown_thanks IS
  'Adds a thank-you that becomes visible to everyone to the score, or removes one that no longer is.';
CREATE OR REPLACE TRIGGER count_shown AFTER UPDATE OF visibility ON post
  FOR EACH ROW EXECUTE FUNCTION count_shown_thanks();

CREATE OR REPLACE VIEW counted AS
  SELECT 'app_user' AS table_name, u.id, c.column_name, c.stored, c.actual
  FROM exact_app_user() u
    LEFT JOIN (SELECT followee_id AS id, count(*) AS n FROM follow GROUP BY 1) a USING (id)
    LEFT JOIN (SELECT follower_id AS id, count(*) AS n FROM follow GROUP BY 1) b USING (id)
    LEFT JOIN (SELECT user_id AS id, count(*) AS n FROM post_tag
      WHERE is_thank_you(post_id) AND is_public GROUP BY 1) t USING (id),
    LATERAL (VALUES ('follower_count', u.follower_count, coalesce(a.n, 0)),
      ('following_count', u.following_count, coalesce(b.n, 0)),
      ('thank_you_score', u.thank_you_score, coalesce(t.n, 0))) c (column_name, stored, actual)
UNION ALL
  SELECT 'post', p.id, c.column_name, c.stored, c.actual
  FROM exact_post() p
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
  FROM exact_location() l
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
  FROM exact_circle() o
    LEFT JOIN (SELECT circle_id AS id, count(*) AS n FROM circle_member GROUP BY 1) r USING (id)
    LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM comment GROUP BY 1) m USING (id),
    LATERAL (VALUES ('member_count', o.member_count, coalesce(r.n, 0)),
      ('comment_count', o.comment_count, coalesce(m.n, 0))) c (column_name, stored, actual)
UNION ALL
  SELECT 'votable_post', p.post_id, c.column_name, c.stored, c.actual
  FROM exact_votable_post() p
    LEFT JOIN (SELECT post_id, count(*) FILTER (WHERE choice = 'WEAR_IT') AS wear_it,
        count(*) FILTER (WHERE choice = 'CHANGE_IT') AS change_it
      FROM vote GROUP BY 1) v USING (post_id),
    LATERAL (VALUES ('wear_it_count', p.wear_it_count, coalesce(v.wear_it, 0)),
      ('change_it_count', p.change_it_count, coalesce(v.change_it, 0))
    ) c (column_name, stored, actual)
UNION ALL
  SELECT 'product', p.id, 'heart_count', p.heart_count, coalesce(r.n, 0)
  FROM exact_product() p LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM reaction
    WHERE kind = 'HEART' GROUP BY 1) r USING (id)
UNION ALL
  SELECT 'comment', m.id, 'agree_count', m.agree_count, coalesce(r.n, 0)
  FROM exact_comment() m LEFT JOIN (SELECT subject_id AS id, count(*) AS n FROM reaction
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
      WHERE is_card_offer(post_id) GROUP BY 1) f USING (post_id)
    LEFT JOIN (SELECT post_id, count(*) AS n FROM info_request
      WHERE status <> 'WITHDRAWN' GROUP BY 1) i USING (post_id);
COMMENT ON VIEW counted IS 'One stored count with the result of counting again.';

CREATE OR REPLACE FUNCTION verify_counters()
RETURNS TABLE (table_name text, id bigint, column_name text, stored bigint, actual bigint)
LANGUAGE sql STABLE AS $$
  WITH due AS MATERIALIZED (SELECT f.subject_id FROM count_to_fold f)
  SELECT table_name, id, column_name, stored, actual FROM counted WHERE stored <> actual
  UNION ALL
  SELECT 'post_rank', coalesce(p.id, r.post_id), 'score', r.score, p.score
  FROM exact_post() p FULL JOIN post_rank r ON r.post_id = p.id
  WHERE r.kind IS DISTINCT FROM p.kind OR r.author_id IS DISTINCT FROM p.author_id
    OR r.location_id IS DISTINCT FROM p.location_id OR r.visibility IS DISTINCT FROM p.visibility
    OR r.score <> p.score AND NOT EXISTS (SELECT FROM due d WHERE d.subject_id = p.id)
  UNION ALL
  SELECT 'location_rank', coalesce(l.id, r.location_id), c.column_name, c.stored, c.actual
  FROM exact_location() l FULL JOIN location_rank r ON r.location_id = l.id,
    LATERAL (VALUES ('popularity', r.popularity, l.popularity),
      ('comment_count', r.comment_count, l.comment_count)) c (column_name, stored, actual)
  WHERE r.location_id IS NULL OR l.id IS NULL OR r.level <> l.level
    OR r.place_type IS DISTINCT FROM l.place_type OR r.latitude IS DISTINCT FROM l.latitude
    OR r.longitude IS DISTINCT FROM l.longitude OR r.ancestor_ids <> l.ancestor_ids OR c.stored <> c.actual
    AND NOT EXISTS (SELECT FROM due d WHERE d.subject_id = l.id)
  UNION ALL
  SELECT 'product_rank', coalesce(p.id, r.product_id), 'heart_count', r.heart_count, p.heart_count
  FROM exact_product() p FULL JOIN product_rank r ON r.product_id = p.id
  WHERE r.product_id IS NULL OR p.id IS NULL OR r.heart_count <> p.heart_count
    AND NOT EXISTS (SELECT FROM due d WHERE d.subject_id = p.id)
  UNION ALL
  SELECT 'count_slot', s.subject_id, s.counter, s.amount, 0 FROM count_slot s
  WHERE NOT EXISTS (SELECT FROM every_node e WHERE e.id = s.subject_id)
  ORDER BY 1, 2, 3
$$;
COMMENT ON FUNCTION verify_counters IS
  'Returns the counts that are wrong, and the ranks that no pass will correct. Empty unless a trigger is wrong. For '
  '`sociograph verify`.';

CREATE OR REPLACE FUNCTION fill_ranks() RETURNS void LANGUAGE sql AS $$
  TRUNCATE post_rank, location_rank, product_rank;
  INSERT INTO post_rank (post_id, score, kind, author_id, location_id, visibility)
  SELECT p.id, p.score, p.kind, p.author_id, p.location_id, p.visibility FROM exact_post() p ORDER BY p.id;
  INSERT INTO location_rank (location_id, popularity, comment_count, level, place_type, latitude,
    longitude, ancestor_ids)
  SELECT l.id, l.popularity, l.comment_count, l.level, l.place_type, l.latitude, l.longitude, l.ancestor_ids
  FROM exact_location() l ORDER BY l.id;
  INSERT INTO product_rank (product_id, heart_count)
  SELECT p.id, p.heart_count FROM exact_product() p ORDER BY p.id;
$$;
COMMENT ON FUNCTION fill_ranks IS
  'Rebuilds all ranks, after rows were loaded without triggers. Blocks writers meanwhile.';
