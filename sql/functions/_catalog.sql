-- The catalog: one call for each noun, and what it makes. This file comes first, as its name begins with a line, and
-- begins anew; after_functions in node.sql makes what takes all nouns together, when all files are through. A file that
-- is run once more by itself says the same again.

DELETE FROM noun;
DELETE FROM told;
DELETE FROM export_part;
DELETE FROM search_part;

-- Triggers are named for what the function does and what became of the rows: count_added,
-- log_edited, log_removed.
CREATE OR REPLACE PROCEDURE watch(of_table regclass, fates text[], called regproc, argument text DEFAULT '')
LANGUAGE plpgsql AS $$
DECLARE fate text;
BEGIN
  FOREACH fate IN ARRAY fates LOOP
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER %I AFTER %s ON %s REFERENCING %s TABLE AS changed '
      'FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)',
      split_part(called::text, '_', 1) || '_' || fate,
      CASE fate WHEN 'added' THEN 'INSERT' WHEN 'edited' THEN 'UPDATE'
        WHEN 'removed' THEN 'DELETE' END,
      of_table, CASE fate WHEN 'removed' THEN 'OLD' ELSE 'NEW' END, called,
      CASE WHEN argument <> '' THEN quote_literal(argument) END);
  END LOOP;
END $$;
COMMENT ON PROCEDURE watch IS
  'Creates triggers that call a function after each statement that inserts (added), updates (edited) or deletes '
  '(removed) rows of a table, with these rows in `changed`. For the files in sql/functions.';

-- How a change is told.

CREATE OR REPLACE FUNCTION touch_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ids bigint[];
BEGIN
  EXECUTE format('SELECT array_agg(%I) FROM changed', TG_ARGV[0]) INTO ids;
  PERFORM touch_nodes('node', ids, ids);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_changed IS 'Touches the nodes of changed rows. The argument names the column with their IDs.';

CREATE OR REPLACE FUNCTION touch_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('node', ARRAY[NEW.id], ARRAY[NEW.id]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_edited IS 'Touches an edited node. For tables whose updates are mostly counts.';

CREATE OR REPLACE FUNCTION tell_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  words text[] := string_to_array(TG_ARGV[0], ' ');
  word text;
  keys bigint[];
  nodes bigint[];
BEGIN
  FOREACH word IN ARRAY words[3:] LOOP
    EXECUTE format('SELECT array_agg(%I), array_agg(%I) FROM changed', word, words[2]) INTO keys, nodes;
    PERFORM touch_nodes(words[1], keys, nodes);
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_changed IS
  'Touches changed rows. The arguments name the topic, the column of the nodes, and the columns of the keys.';

CREATE OR REPLACE FUNCTION tell_anything() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes(TG_ARGV[0], '{0}', '{0}');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_anything IS 'Touches the topic that the argument names.';

CREATE OR REPLACE PROCEDURE told(relation text, topics text, columns text[] DEFAULT '{}', nouns text[] DEFAULT NULL,
  is_node boolean DEFAULT false, only_columns boolean DEFAULT false, is_own boolean DEFAULT false)
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM told t WHERE t.relation = told.relation AND t.topics IS NOT DISTINCT FROM told.topics
    AND t.is_node = told.is_node AND (t.attribute = ANY (told.columns) OR t.attribute IS NULL AND NOT only_columns);
  INSERT INTO told (relation, attribute, topics, nouns, is_node, is_own)
  SELECT told.relation, c.name, told.topics, CASE WHEN c.name IS NULL THEN told.nouns END,
    told.is_node AND c.name IS NOT NULL, told.is_own
  FROM unnest(CASE WHEN only_columns THEN told.columns ELSE NULL::text || told.columns END) c(name);
END $$;
COMMENT ON PROCEDURE told IS
  'Declares how changes of a table are reported: touches of these topics, about these nouns, whenever a row changes '
  'otherwise than by counting. With columns, their values are the keys of the touches, or their nodes (is_node). With '
  'is_own, the touches are only for the viewer with that ID. Topics NULL declares that changes are not reported. A '
  'query that reads a table without a declaration cannot be live.';

CREATE OR REPLACE PROCEDURE tell(relation text, topic text, node text, keys text[]) LANGUAGE plpgsql AS $$
BEGIN
  CALL watch(relation::regclass, '{added,edited,removed}', 'tell_changed',
    concat_ws(' ', topic, node, array_to_string(keys, ' ')));
  CALL told(relation, topic, keys);
END $$;
COMMENT ON PROCEDURE tell IS
  'Reports all changes of a table under a topic. node and keys: the columns of the nodes and of the keys, such as the '
  'owner.';

CREATE OR REPLACE PROCEDURE tell_of(relation text, node text, noun text, fates text[] DEFAULT '{added,edited,removed}')
LANGUAGE plpgsql AS $$
BEGIN
  CALL watch(relation::regclass, fates, 'touch_changed', node);
  CALL told(relation, 'node', ARRAY[node], ARRAY[noun]);
END $$;
COMMENT ON PROCEDURE tell_of IS
  'Reports changes of a table as changes of the node in a column, which the rows are part of.';

CREATE OR REPLACE PROCEDURE tell_part(relation text, node text DEFAULT 'post_id') LANGUAGE plpgsql AS $$
BEGIN
  CALL told(relation, 'post node', ARRAY[node], '{post}', is_node => true);
END $$;
COMMENT ON PROCEDURE tell_part IS
  'Declares that changes of a table are reported with the posts that its rows are part of, by updated_at or a trigger.';

-- What is said about a node goes with it.

CREATE OR REPLACE FUNCTION forget_subjects() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE gone bigint[] := ARRAY(SELECT id FROM changed);
BEGIN
  IF gone = '{}' THEN RETURN NULL; END IF;
  IF strpos(TG_ARGV[0], 'comments') > 0 THEN
    DELETE FROM comment WHERE subject_id = ANY (gone);
  END IF;
  IF strpos(TG_ARGV[0], 'reactions') > 0 THEN
    DELETE FROM reaction WHERE subject_id = ANY (gone);
  END IF;
  DELETE FROM flag WHERE subject_id = ANY (gone);
  PERFORM FROM notification WHERE about_id = ANY (gone) ORDER BY id FOR UPDATE;
  DELETE FROM notification WHERE about_id = ANY (gone);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION forget_subjects IS
  'Deletes everything that refers to deleted nodes. The argument states whether these may have comments or reactions.';

-- Nouns.

CREATE OR REPLACE PROCEDURE name_tag(name text, tag int, mask int) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION %I(id bigint) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE '
    'RETURN id & %s = %s', 'is_' || name, mask, tag);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', 'is_' || name,
    'Returns whether an ID is that of a node of the noun ' || name || '. Created by node or kind.');
END $$;
COMMENT ON PROCEDURE name_tag IS 'Creates the function is_<name>(id), which the planner inlines.';

CREATE OR REPLACE PROCEDURE tag_column(relation text, attribute text, mask int, tags int[]) LANGUAGE plpgsql AS $$
DECLARE name text := relation || '_' || regexp_replace(attribute, '_id$', '') || '_tag';
BEGIN
  IF NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = relation::regclass AND c.conname = name) THEN
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I & %s IN (%s))',
      relation, name, attribute, mask, array_to_string(tags, ', '));
  END IF;
END $$;
COMMENT ON PROCEDURE tag_column IS 'Restricts a column to IDs with these tags. An existing constraint is kept.';

CREATE OR REPLACE PROCEDURE takes(relation text, attribute text, nouns text[]) LANGUAGE plpgsql AS $$
DECLARE tags int[] := ARRAY(SELECT n.tag FROM noun n WHERE n.name = ANY (nouns) ORDER BY n.tag);
BEGIN
  CALL tag_column(relation, attribute, 255, tags);
END $$;
COMMENT ON PROCEDURE takes IS 'Restricts a column to IDs of these nouns, which a file has declared with node or kind.';

CREATE OR REPLACE PROCEDURE number_by(relation text, tag int, numbers text DEFAULT 'node_seq') LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
      WHERE d.adrelid = relation::regclass AND a.attname = 'id') THEN
    EXECUTE format('ALTER TABLE %I ALTER id SET DEFAULT nextval(%L) << 8 | %s', relation, numbers, tag);
  END IF;
  CALL tag_column(relation, 'id', 255, ARRAY[tag]);
END $$;
COMMENT ON PROCEDURE number_by IS
  'Gives the rows of a table IDs with the tag of a noun, or, with their own sequence, with the tag of something that '
  'is not a node.';

CREATE OR REPLACE PROCEDURE kind(name text, tag int, of_noun text DEFAULT 'post', phrase text DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM noun n WHERE n.name = kind.name;
  INSERT INTO noun (name, tag, mask, kind_of, phrase)
  VALUES (kind.name, kind.tag, 255, of_noun, coalesce(kind.phrase, replace(kind.name, '_', ' ')));
  CALL name_tag(name, tag, 255);
END $$;
COMMENT ON PROCEDURE kind IS 'Declares a kind of a noun: its name, its tag, and its words for notifications.';

CREATE OR REPLACE PROCEDURE node(
  name text, tag int, mask int DEFAULT 255, relation text DEFAULT NULL, owner text DEFAULT NULL,
  phrase text DEFAULT NULL, path text DEFAULT '/nodes/',
  commentable boolean DEFAULT false, flaggable boolean DEFAULT false, reactions text[] DEFAULT '{}',
  changes text[] DEFAULT NULL, topic text DEFAULT NULL, is_told boolean DEFAULT true,
  exported text DEFAULT NULL, sought text DEFAULT NULL,
  leaving text DEFAULT NULL, lock_place int DEFAULT 25, is_going boolean DEFAULT true)
LANGUAGE plpgsql AS $$
DECLARE rows text := coalesce(relation, name);
BEGIN
  DELETE FROM noun n WHERE n.name = node.name;
  INSERT INTO noun (name, tag, mask, relation, owner, phrase, path, is_commentable, is_flaggable, reactions,
    leaving, lock_place, is_going)
  VALUES (node.name, node.tag, node.mask, rows, node.owner, coalesce(node.phrase, replace(node.name, '_', ' ')),
    node.path, commentable, flaggable, node.reactions,
    coalesce(node.leaving, CASE WHEN node.owner IS NOT NULL AND (commentable OR node.reactions <> '{}')
      THEN format('SELECT t.id FROM %I t WHERE t.%I = $1', rows, node.owner) END), node.lock_place, node.is_going);
  CALL name_tag(name, tag, mask);
  IF mask = 255 THEN CALL number_by(rows, tag);
  ELSE CALL tag_column(rows, 'id', mask, ARRAY[tag]); END IF;
  CALL watch(rows::regclass, '{removed}', 'forget_subjects', CASE WHEN commentable THEN 'comments ' ELSE '' END
    || CASE WHEN node.reactions <> '{}' THEN 'reactions ' ELSE '' END);
  IF is_told THEN
    CALL watch(rows::regclass, array_remove(ARRAY['removed', CASE WHEN topic IS NULL THEN 'added' END,
      CASE WHEN changes IS NULL THEN 'edited' END], NULL), 'touch_changed', 'id');
    IF changes <> '{}' THEN
      EXECUTE (SELECT format('CREATE OR REPLACE TRIGGER touch_edited AFTER UPDATE OF %s ON %I FOR EACH ROW '
        'WHEN ((%s) IS DISTINCT FROM (%s)) EXECUTE FUNCTION touch_edited()',
        string_agg(quote_ident(c), ', '), rows,
        string_agg('OLD.' || quote_ident(c), ', '), string_agg('NEW.' || quote_ident(c), ', '))
        FROM unnest(changes) c);
    END IF;
    CALL told(rows, concat_ws(' ', topic, 'node'), '{id}', ARRAY[name], is_node => topic IS NOT NULL);
  END IF;
  IF exported IS NOT NULL THEN CALL exported(exported, exported_rows(rows, owner)); END IF;
  IF sought IS NOT NULL THEN CALL sought(upper(name), sought, is_name => true); END IF;
END $$;
COMMENT ON PROCEDURE node IS
  'Declares a noun: its name, its tag, its table if that has another name, and the column of its owner. Notifications '
  'use its phrase, and its pages have the path. It may be commentable and flaggable, and have reactions. Changes of '
  'the columns in changes are reported (NULL: of all, {}: of none), and new rows under the topic, unless CALL tell '
  'does so (is_told). Its member in the export and the text that searches find are exported and sought. For leaving, '
  'lock_place, and is_going, see the table noun. Its rows get IDs, and what refers to them is deleted with them.';

-- What somebody takes with them, and what is found.

CREATE OR REPLACE FUNCTION exported_rows(relation text, owner text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT format('SELECT jsonb_build_object(%s) FROM %I t WHERE t.%I = $1 ORDER BY t.id',
      string_agg(format(CASE a.atttypid WHEN 'bigint'::regtype THEN '%L, wire_id(t.%I)'
          WHEN 'timestamptz'::regtype THEN '%L, wire_time(t.%I)' ELSE '%L, t.%I' END,
        lower(left(c.name, 1)) || substr(replace(initcap(replace(c.name, '_', ' ')), ' ', ''), 2), a.attname),
        ', ' ORDER BY a.attnum), relation, owner)
    FROM pg_attribute a,
      LATERAL (SELECT CASE WHEN a.attname = 'id' THEN 'id' ELSE regexp_replace(a.attname, '_id$', '') END) c(name)
    WHERE a.attrelid = relation::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> owner);
END $$;
COMMENT ON FUNCTION exported_rows IS
  'Returns a SELECT of all rows of an owner as jsonb: each column except the owner''s, with its name in camel case and '
  'external IDs.';

CREATE OR REPLACE PROCEDURE exported(member text, items text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO export_part (member, items) VALUES (exported.member, exported.items)
  ON CONFLICT ON CONSTRAINT export_part_member_primary DO UPDATE SET items = EXCLUDED.items;
END $$;
COMMENT ON PROCEDURE exported IS
  'Adds a list to the export of an account: its member, and a SELECT for the account $1.';

CREATE OR REPLACE PROCEDURE sought(type text, words text, source text DEFAULT NULL, id text DEFAULT 'id',
  is_name boolean DEFAULT false, newest int DEFAULT 500, joined text DEFAULT '', besides text DEFAULT '')
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_part p WHERE p.type = sought.type AND p.source = coalesce(sought.source, lower(sought.type));
  INSERT INTO search_part (type, source, id, words, is_name, newest, joined, besides)
  VALUES (sought.type, coalesce(sought.source, lower(sought.type)), sought.id, sought.words, sought.is_name,
    sought.newest, sought.joined, sought.besides);
END $$;
COMMENT ON PROCEDURE sought IS
  'Adds rows to those that searches read (search_part). An index on the expression finds them: name_vector(words) for '
  'a name, otherwise words, a tsvector.';
