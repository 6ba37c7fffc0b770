-- namespace: graph
--
-- Identity. Every node of the graph has an id of one sequence, so ids sort by age. The low byte of an id is the tag of
-- its type: it says which table the node is in. Each type names its tag once, in its CALL node(...) in sql/functions,
-- which gives its table the default and the check of the id. Posts have a tag for each kind, from 16 on.
--
-- References to "any of several types" (what a comment is on, what a notification is about) are no
-- foreign keys: functions/node.sql keeps them whole.

-- The high byte of an id is free: a graph on several clusters could keep there which of them has the node.
CREATE SEQUENCE node_seq MAXVALUE 281474976710655;
COMMENT ON SEQUENCE node_seq IS
  'The numbers of nodes, of 48 bits. An ID is the number, with the tag of its type in the low byte.';

CREATE FUNCTION new_node(tag int) RETURNS bigint LANGUAGE sql VOLATILE
  RETURN nextval('node_seq'::regclass) << 8 | tag;
COMMENT ON FUNCTION new_node IS 'Returns a new ID for a node of the type with this tag.';

CREATE FUNCTION wire_id(id bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rtrim(translate(encode(ltrim(int8send(id), '\x00'), 'base64'), '+/', '-_'), '=')
$$;
COMMENT ON FUNCTION wire_id IS 'Returns the external form of an ID: its significant bytes, big-endian, in base64url.';

CREATE FUNCTION folded(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(translate(
    lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g')),
    'øłđðı', 'olddi'), 'ß', 'ss'), 'æ', 'ae')
$$;
COMMENT ON FUNCTION folded IS
  'Returns a text without case and accents, the form in which names are sorted and searched.';

CREATE FUNCTION name_vector(name text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', regexp_replace(name, '[^[:alnum:]]+', ' ', 'g'))
$$;
COMMENT ON FUNCTION name_vector IS 'Returns the words of a name, for an index.';

-- The catalog: what the calls of node, kind, told, exported and sought in sql/functions say of the nouns and of their
-- tables. It is emptied and filled again whenever the functions are applied; no request reads it.

CREATE TABLE noun (
  name text CONSTRAINT noun_name_primary PRIMARY KEY,
  tag int NOT NULL,
  mask int NOT NULL,
  kind_of text,
  relation text,
  visible text,
  owner text,
  phrase text NOT NULL,
  path text,
  is_commentable boolean,
  is_flaggable boolean,
  reactions text[],
  leaving text,
  lock_place int,
  is_going boolean);
COMMENT ON TABLE noun IS 'One type of node, or one kind of it, as declared by its CALL node(...) or CALL kind(...).';
COMMENT ON COLUMN noun.name IS 'The name in functions: is_<name>(id), visible_<name>(viewer).';
COMMENT ON COLUMN noun.tag IS 'The low byte of its IDs. For a noun with kinds, the first of them.';
COMMENT ON COLUMN noun.mask IS 'The bits of an ID that identify the noun: 255, or 240 for a noun with kinds.';
COMMENT ON COLUMN noun.kind_of IS 'The noun that this is a kind of. Null for a noun.';
COMMENT ON COLUMN noun.relation IS 'The table of its nodes.';
COMMENT ON COLUMN noun.visible IS 'The rows that a user may see: a call with the argument person, or the table.';
COMMENT ON COLUMN noun.owner IS 'The column of the owner. Null if its nodes have none or several.';
COMMENT ON COLUMN noun.phrase IS 'The words for it in notifications.';
COMMENT ON COLUMN noun.path IS 'The path of its pages in public addresses, between slashes.';
COMMENT ON COLUMN noun.is_commentable IS 'Whether users may comment on it.';
COMMENT ON COLUMN noun.is_flaggable IS 'Whether users may flag it.';
COMMENT ON COLUMN noun.reactions IS 'The kinds of reaction that users may add to it.';
COMMENT ON COLUMN noun.leaving IS
  'A SELECT of the IDs to lock before the account $1 is deleted with the nodes $2. Null if there are none.';
COMMENT ON COLUMN noun.lock_place IS 'The place of the noun in the order of these locks, smallest first.';
COMMENT ON COLUMN noun.is_going IS 'Whether these nodes are deleted, not only changed.';

CREATE TABLE told (
  relation text NOT NULL,
  attribute text,
  topics text,
  nouns text[],
  is_node boolean NOT NULL,
  is_own boolean NOT NULL);
COMMENT ON TABLE told IS
  'One statement of live_source about a table or a column, with the names of nouns in place of tags.';
COMMENT ON COLUMN told.relation IS 'The table whose changes are reported.';
COMMENT ON COLUMN told.attribute IS 'The column of the keys or nodes. Null for the whole table.';
COMMENT ON COLUMN told.topics IS 'The topics of the touches, separated by spaces. Null if changes are not reported.';
COMMENT ON COLUMN told.nouns IS 'The nouns of the nodes of the touches. Null for any.';
COMMENT ON COLUMN told.is_node IS 'Whether the values of the column are the nodes of the touches, not the keys.';
COMMENT ON COLUMN told.is_own IS 'Whether the touches are only for the viewer whose ID is the value of the column.';

CREATE TABLE export_part (
  member text CONSTRAINT export_part_member_primary PRIMARY KEY,
  items text NOT NULL);
COMMENT ON TABLE export_part IS 'One list in the export of an account.';
COMMENT ON COLUMN export_part.member IS 'The name of the list in the document.';
COMMENT ON COLUMN export_part.items IS 'A SELECT of jsonb values for the account $1, in order.';

CREATE TABLE search_part (
  type text NOT NULL,
  source text NOT NULL,
  id text NOT NULL,
  words text NOT NULL,
  is_name boolean NOT NULL,
  newest int NOT NULL,
  joined text NOT NULL,
  besides text NOT NULL);
COMMENT ON TABLE search_part IS 'One source of rows that searches read.';
COMMENT ON COLUMN search_part.type IS 'The value of SearchType for the rows.';
COMMENT ON COLUMN search_part.source IS 'The rows, named t, for the argument viewer.';
COMMENT ON COLUMN search_part.id IS 'The column of t with the ID of the found node.';
COMMENT ON COLUMN search_part.words IS 'The text for a name, otherwise the tsvector.';
COMMENT ON COLUMN search_part.is_name IS 'Whether the beginnings of words are enough.';
COMMENT ON COLUMN search_part.newest IS 'The number of the newest rows to read for a common word.';
COMMENT ON COLUMN search_part.joined IS 'The join by %s, the ID. Empty if there is none.';
COMMENT ON COLUMN search_part.besides IS 'A further condition that begins with AND. Empty if there is none.';
