-- What takes all nouns together: "any of several types". The functions after_functions makes by the catalog look at an
-- id's tag and do the same for each noun; Tests/Fixtures/catalog has them as they come out.
--
-- What hangs on "any of several types": reactions, comments, flags and notifications. No foreign key
-- can hold them, so they are kept whole here, and nowhere else: nothing is added to a node that is
-- not there or is being deleted, and what was added goes with it.
--
-- Who sees what. For each table with a rule a function gives the rows the viewer may see; every
-- read goes through it. The viewer is a user id, or 0 for somebody not signed in.
--
-- Each function is one plain SELECT, so the planner puts it in place of the call: the rows are
-- still found by the caller's conditions and the caller's index. What is alike for all rows (whom
-- the viewer blocks and who blocks them, whether they are staff) stands in sub-selects that do not
-- depend on the row and are read once per statement.
--
-- A row is hidden with whatever it cannot be shown without: a comment with its subject, a
-- follow-up with its post. People are the exception: where somebody must be named, named_user
-- gives their public name and picture, and nothing else, to those they are hidden from.
--
-- Locations, products, programs and class sessions are open to everyone and have no function.

CREATE OR REPLACE PROCEDURE make_lookup(name text, result text, value text, by_kind boolean, note text)
LANGUAGE plpgsql AS $make$
DECLARE branches text;
BEGIN
  EXECUTE format(
    $query$SELECT string_agg(format(E'\n    WHEN id & %%s = %%s THEN %%L::%s', n.mask, n.tag, n.value), ''
      ORDER BY n.mask, n.tag)
    FROM (SELECT n.mask, n.tag, %s AS value FROM noun n WHERE %s) n WHERE n.value IS NOT NULL$query$,
    result, value, CASE WHEN by_kind THEN 'n.mask = 255' ELSE 'n.kind_of IS NULL' END) INTO branches;
  EXECUTE format('CREATE OR REPLACE FUNCTION %I(id bigint) RETURNS %s LANGUAGE sql IMMUTABLE PARALLEL SAFE '
    'RETURN CASE%s END', name, result, branches);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', name, note);
END $make$;
COMMENT ON PROCEDURE make_lookup IS
  'Creates a function of an ID that returns a value of its noun, or of its kind. Null if there is no such noun.';

CREATE OR REPLACE FUNCTION tag_rule(attribute text, nouns text[]) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT string_agg(format('%s & %s = %s', attribute, n.mask, n.tag), ' OR ' ORDER BY n.mask, n.tag)
    FROM noun n WHERE n.name = ANY (nouns)), 'false');
END $$;
COMMENT ON FUNCTION tag_rule IS 'Returns the condition that the ID in a column is of one of these nouns.';

CREATE OR REPLACE PROCEDURE make_test(name text, nouns text[], note text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION %I(id bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE '
    'RETURN %s', name, tag_rule('id', nouns));
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', name, note);
END $$;
COMMENT ON PROCEDURE make_test IS 'Creates a function that returns whether an ID is of one of these nouns.';

CREATE OR REPLACE PROCEDURE make_switch(signature text, result text, branches text, otherwise text, note text)
LANGUAGE plpgsql AS $make$
BEGIN
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION %s RETURNS %s LANGUAGE plpgsql AS $body$
BEGIN
  CASE%s
  ELSE RETURN %s;
  END CASE;
END $body$
$function$, signature, result, branches, otherwise);
  EXECUTE format('COMMENT ON FUNCTION %s IS %L', split_part(signature, '(', 1), note);
END $make$;
COMMENT ON PROCEDURE make_switch IS
  'Creates a function of a node with a branch for each noun. Each branch is a separate statement, so that only those '
  'in use are planned.';

CREATE OR REPLACE FUNCTION node_branches(statement text, nouns text[] DEFAULT NULL) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT string_agg(format(E'\n  WHEN node & %s = %s THEN ', n.mask, n.tag)
      || format(statement, n.relation, n.visible, coalesce(n.owner, 'id')), '' ORDER BY n.mask, n.tag)
    FROM noun n WHERE n.kind_of IS NULL AND (n.owner IS NOT NULL OR strpos(statement, '%3$') = 0)
      AND (nouns IS NULL OR n.name = ANY (nouns)));
END $$;
COMMENT ON FUNCTION node_branches IS
  'Returns a branch for each noun, or each of these. %1$ is its table, %2$ its visible rows, and %3$ the column of its '
  'owner. With %3$, nouns without an owner have no branch.';

CREATE OR REPLACE PROCEDURE keep_rule(relation text, name text, rule text, error text DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
  old text := (SELECT regexp_replace(pg_get_constraintdef(c.oid), ' NOT VALID$', '') FROM pg_constraint c
    WHERE c.conrelid = relation::regclass AND c.conname = name);
  new text;
BEGIN
  EXECUTE format('CREATE TEMP TABLE rule_probe (LIKE %I) ON COMMIT DROP', relation);
  EXECUTE format('ALTER TABLE rule_probe ADD CONSTRAINT %I CHECK (%s)', name, rule);
  new := (SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c
    WHERE c.conrelid = 'rule_probe'::regclass AND c.conname = name);
  DROP TABLE rule_probe;
  IF old = new THEN RETURN; END IF;
  EXECUTE format('ALTER TABLE %1$I DROP CONSTRAINT IF EXISTS %2$I, ADD CONSTRAINT %2$I CHECK (%3$s)%4$s',
    relation, name, rule, CASE WHEN old IS NOT NULL THEN ' NOT VALID' ELSE '' END);
  IF error IS NOT NULL THEN EXECUTE format('COMMENT ON CONSTRAINT %I ON %I IS %L', name, relation, error); END IF;
END $$;
COMMENT ON PROCEDURE keep_rule IS
  'Adds a constraint with its user error to a table, or replaces one of the same name that differs.';

CREATE OR REPLACE PROCEDURE make_lookups() LANGUAGE plpgsql AS $$
DECLARE
  commentable text[] := ARRAY(SELECT n.name FROM noun n WHERE n.is_commentable);
  flaggable text[] := ARRAY(SELECT n.name FROM noun n WHERE n.is_flaggable);
  counted text[] := ARRAY(SELECT n.name FROM noun n WHERE to_regproc('add_to_' || n.relation) IS NOT NULL);
BEGIN
  CALL make_lookup('node_type', 'text', 'n.name', true, 'Returns the noun or kind of a node, as its CALL names it.');
  CALL make_lookup('node_table', 'text', 'n.relation', false,
    'Returns the table of the node with this ID. Null if no type has its tag.');
  CALL make_lookup('node_path', 'text', 'n.path', false, 'Returns the path of the pages of such nodes.');
  CALL make_lookup('node_phrase', 'text', 'n.phrase', true, 'Returns the words for such a node in notifications.');
  CALL make_lookup('reactions_to', 'text[]', 'nullif(n.reactions, ''{}'')', false,
    'Returns the kinds of reaction to such a node. Null if there are none.');
  CALL make_test('is_commentable', commentable, 'Returns whether users can comment on such a node.');
  CALL make_test('is_counted', counted,
    'Returns whether the row of such a node counts its comments and reactions.');
  CALL make_test('is_flaggable', flaggable, 'Returns whether users can flag such a node.');
  EXECUTE format('CREATE OR REPLACE FUNCTION tag_of(noun text) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE '
    'RETURN CASE noun%s END',
    (SELECT string_agg(format(E'\n    WHEN %L THEN %s', n.name, n.tag), '' ORDER BY n.tag)
      FROM noun n WHERE n.mask = 255));
  COMMENT ON FUNCTION tag_of IS 'Returns the tag of a noun or kind by its name. Null if there is no such noun.';
END $$;
COMMENT ON PROCEDURE make_lookups IS 'Creates the functions that need only an ID.';

CREATE OR REPLACE PROCEDURE make_switches() LANGUAGE plpgsql AS $$
DECLARE
  hidden text[] := ARRAY(SELECT n.name FROM noun n WHERE n.is_commentable AND n.visible ~ '[(]person[)]$');
  counted text[] := ARRAY(SELECT n.name FROM noun n
    WHERE (n.is_commentable OR n.reactions <> '{}') AND is_counted(n.tag));
BEGIN
  CALL make_switch('sees(person bigint, node bigint)', 'boolean STABLE',
    node_branches('RETURN EXISTS (SELECT FROM %2$s v WHERE v.id = node);'), 'false',
    'Returns whether a user may see a node.');
  CALL make_switch('sees_commented(person bigint, node bigint)', 'boolean STABLE',
    node_branches('RETURN EXISTS (SELECT FROM %2$s v WHERE v.id = node);', hidden), 'true',
    'Returns whether a user may see a node that has comments.');
  CALL make_switch('lock_subject(node bigint)', 'boolean',
    node_branches('PERFORM FROM %1$I t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;'), 'false',
    'Locks a node against deletion until the transaction ends, and returns whether it exists. Call it before '
    'adding anything to a node. A trigger ensures it otherwise.');
  CALL make_switch('owner_of(node bigint)', 'bigint STABLE',
    node_branches('RETURN (SELECT t.%3$I FROM %1$I t WHERE t.id = node);'), 'NULL',
    'Returns the owner of a node. Null if it has none.');
  CALL make_switch('is_counted_there(node bigint)', 'boolean STABLE',
    node_branches('RETURN EXISTS (SELECT FROM %1$I t WHERE t.id = node);', counted), 'NULL',
    'Returns whether a node whose row counts comments or reactions exists. Null for other nodes.');
  EXECUTE 'CREATE OR REPLACE VIEW every_node AS ' || (SELECT string_agg(format('SELECT id FROM %I', n.relation),
    ' UNION ALL ' ORDER BY n.tag) FROM noun n WHERE n.kind_of IS NULL);
  COMMENT ON VIEW every_node IS 'One node of any type. For checks; no request reads it.';
END $$;
COMMENT ON PROCEDURE make_switches IS 'Creates the functions that read the table of a node.';

CREATE OR REPLACE PROCEDURE after_functions() LANGUAGE plpgsql AS $$
DECLARE
  comments text;
  reactions text;
BEGIN
  UPDATE noun n SET visible = CASE WHEN to_regproc('visible_' || n.name) IS NULL THEN quote_ident(n.relation)
    ELSE format('visible_%s(person)', n.name) END WHERE n.kind_of IS NULL;
  CALL make_lookups();
  CALL make_switches();
  CALL make_searches();
  CALL make_export();
  comments := tag_rule('subject_id', ARRAY(SELECT n.name FROM noun n WHERE n.is_commentable));
  reactions := (SELECT string_agg(format(' WHEN %L THEN %s', e.label, tag_rule('subject_id', ARRAY(
      SELECT n.name FROM noun n WHERE e.label = ANY (n.reactions)))), '')
    FROM unnest(enum_range(NULL::reaction_kind)::text[]) e(label));
  IF EXISTS (SELECT FROM noun n WHERE n.is_commentable AND NOT is_counted(n.tag)) THEN
    CALL watch('comment', '{added,removed}', 'notice_uncounted');
  END IF;
  IF EXISTS (SELECT FROM noun n WHERE n.reactions <> '{}' AND NOT is_counted(n.tag)) THEN
    CALL watch('reaction', '{added,removed}', 'notice_uncounted');
  END IF;
  CALL keep_rule('comment', 'comment_subject_tag', comments);
  CALL keep_rule('reaction', 'reaction_kind_fits', 'CASE kind' || reactions || ' ELSE false END', 'kind: INVALID');
END $$;
COMMENT ON PROCEDURE after_functions IS
  'Creates everything that covers all nouns. The program calls it at the end, whenever it has applied the functions.';

CREATE OR REPLACE FUNCTION hold_subjects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  subjects bigint[];
  subject bigint;
  is_there boolean;
BEGIN
  IF TG_TABLE_NAME = 'notification' THEN
    subjects := ARRAY(SELECT DISTINCT about_id FROM changed WHERE about_id IS NOT NULL ORDER BY 1);
  ELSE
    subjects := ARRAY(SELECT DISTINCT subject_id FROM changed ORDER BY 1);
  END IF;
  FOREACH subject IN ARRAY subjects LOOP
    -- Reactions and comments have been counted in the row they are about, if it is there, which holds it.
    is_there := CASE WHEN TG_TABLE_NAME IN ('reaction', 'comment') THEN is_counted_there(subject) END;
    IF NOT coalesce(is_there, lock_subject(subject)) THEN
      RAISE EXCEPTION 'There is no node % for % to be about.', subject, TG_TABLE_NAME
        USING ERRCODE = 'foreign_key_violation', TABLE = TG_TABLE_NAME,
          CONSTRAINT = TG_TABLE_NAME || '_subject_exists';
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION hold_subjects IS
  'Locks the subjects of new rows. Fails if one does not exist, as a foreign key would.';
CALL watch('reaction', '{added}', 'hold_subjects');
CALL watch('comment', '{added}', 'hold_subjects');
CALL watch('flag', '{added}', 'hold_subjects');
CALL watch('notification', '{added}', 'hold_subjects');

CREATE OR REPLACE FUNCTION notice_uncounted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ids bigint[] := ARRAY(SELECT DISTINCT c.subject_id FROM changed c WHERE NOT is_counted(c.subject_id));
BEGIN
  PERFORM touch_nodes('node', ids, ids);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION notice_uncounted IS
  'Touches nodes whose rows hold no counts, when comments or reactions are added or deleted.';

CREATE OR REPLACE FUNCTION keep_subject() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Two locations become one (move_said).
  IF current_setting('sociograph.moving', true) = 'on' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'What a row of % is about does not change.', TG_TABLE_NAME
    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME,
      CONSTRAINT = TG_TABLE_NAME || '_subject_kept';
END $$;
COMMENT ON FUNCTION keep_subject IS 'Fails if the subject of a row is changed, unless locations are merged.';
CREATE OR REPLACE TRIGGER keep_subject AFTER UPDATE OF subject_id ON reaction
  FOR EACH ROW WHEN (OLD.subject_id <> NEW.subject_id) EXECUTE FUNCTION keep_subject();
CREATE OR REPLACE TRIGGER keep_subject AFTER UPDATE OF subject_id ON comment
  FOR EACH ROW WHEN (OLD.subject_id <> NEW.subject_id) EXECUTE FUNCTION keep_subject();
CREATE OR REPLACE TRIGGER keep_subject AFTER UPDATE OF subject_id ON flag
  FOR EACH ROW WHEN (OLD.subject_id <> NEW.subject_id) EXECUTE FUNCTION keep_subject();

CREATE OR REPLACE FUNCTION lock_what_goes(posts bigint[], circles bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE said bigint[];
BEGIN
  PERFORM FROM post p WHERE p.id = ANY (posts) ORDER BY p.id FOR UPDATE;
  PERFORM FROM circle c WHERE c.id = ANY (circles) ORDER BY c.id FOR UPDATE;
  said := ARRAY(SELECT c.id FROM comment c WHERE c.subject_id = ANY (posts || circles));
  PERFORM FROM comment c WHERE c.id = ANY (said) ORDER BY c.id FOR UPDATE;
  PERFORM FROM notification n WHERE n.about_id = ANY (posts || circles || said
      || ARRAY(SELECT r.id FROM info_request r WHERE r.post_id = ANY (posts))
      || ARRAY(SELECT f.id FROM follow_up f WHERE f.post_id = ANY (posts))
      || ARRAY(SELECT i.id FROM invitation i WHERE i.event_id = ANY (posts)))
  ORDER BY n.id FOR UPDATE;
END $$;
COMMENT ON FUNCTION lock_what_goes IS
  'Locks posts and circles before their deletion, and everything deleted with them that others lock by itself, in the '
  'common order.';

CREATE OR REPLACE FUNCTION delete_node(node bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE number bigint;
BEGIN
  IF node_table(node) IS NULL THEN RETURN false; END IF;
  EXECUTE format('DELETE FROM %I WHERE id = $1', node_table(node)) USING node;
  GET DIAGNOSTICS number = ROW_COUNT;
  RETURN number > 0;
END $$;
COMMENT ON FUNCTION delete_node IS
  'Deletes a node of any type with everything that refers to it, and returns whether it existed.';

CREATE OR REPLACE FUNCTION verify_subjects() RETURNS TABLE (table_name text, subject_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT s.table_name, s.id FROM (
    SELECT DISTINCT 'reaction' AS table_name, r.subject_id AS id FROM reaction r
    UNION ALL SELECT DISTINCT 'comment', c.subject_id FROM comment c
    UNION ALL SELECT DISTINCT 'flag', f.subject_id FROM flag f
    UNION ALL SELECT DISTINCT 'notification', n.about_id FROM notification n
      WHERE n.about_id IS NOT NULL) s
  WHERE NOT EXISTS (SELECT FROM every_node e WHERE e.id = s.id)
  ORDER BY 1, 2
$$;
COMMENT ON FUNCTION verify_subjects IS
  'Returns the rows that refer to a node that does not exist. Empty unless a trigger is wrong. For `sociograph '
  'verify`.';
