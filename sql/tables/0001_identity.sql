-- namespace: graph
--
-- Identity. Every node of the graph has an id of one sequence, so ids sort by age. The low byte of an id is the tag of
-- its type: it says which table the node is in. Each type names its tag once, in its CALL node(...) in sql/functions,
-- which gives its table the default and the check of the id. Posts have a tag for each kind, from 16 on.
--
-- References to "any of several types" (what a comment is on, what a notification is about) are no
-- foreign keys: functions/node.sql keeps them whole.

CREATE SEQUENCE node_seq;
COMMENT ON SEQUENCE node_seq IS 'Numbers of nodes; an id is the number and, in its low byte, the tag.';

CREATE FUNCTION new_node(tag int) RETURNS bigint LANGUAGE sql VOLATILE
  RETURN nextval('node_seq'::regclass) << 8 | tag;
COMMENT ON FUNCTION new_node IS 'A new id for a node of the type with this tag.';

CREATE FUNCTION wire_id(id bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rtrim(translate(encode(ltrim(int8send(id), '\x00'), 'base64'), '+/', '-_'), '=')
$$;
COMMENT ON FUNCTION wire_id IS
  'The form an id has outside: its significant bytes, big end first, in base64url.';

CREATE FUNCTION folded(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(translate(
    lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g')),
    'øłđðı', 'olddi'), 'ß', 'ss'), 'æ', 'ae')
$$;
COMMENT ON FUNCTION folded IS
  'A text without case and accents: what name_key holds, and what a search is compared as.';

CREATE FUNCTION name_vector(name text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', regexp_replace(name, '[^[:alnum:]]+', ' ', 'g'))
$$;
COMMENT ON FUNCTION name_vector IS 'The words of a name, for an index.';

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
COMMENT ON TABLE noun IS 'A row: a type of node, or a kind of one, by what its CALL node(...) or CALL kind(...) says.';
COMMENT ON COLUMN noun.name IS 'Its name in functions: is_<name>(id), visible_<name>(viewer).';
COMMENT ON COLUMN noun.tag IS 'What is in the low byte of its ids; of a noun with kinds, the first of them.';
COMMENT ON COLUMN noun.mask IS 'The bits of an id that tell it: 255, or 240 for a noun with kinds.';
COMMENT ON COLUMN noun.kind_of IS 'The noun of which this is a kind; null for most.';
COMMENT ON COLUMN noun.relation IS 'The table of its nodes.';
COMMENT ON COLUMN noun.visible IS 'The rows that a person may see: a call with the argument person, or the table.';
COMMENT ON COLUMN noun.owner IS 'The column of whose it is; null: nobody''s, or several people''s.';
COMMENT ON COLUMN noun.phrase IS 'What a notification calls it.';
COMMENT ON COLUMN noun.path IS 'The path of its pages in public addresses, with slashes around.';
COMMENT ON COLUMN noun.is_commentable IS 'Whether one may comment on it.';
COMMENT ON COLUMN noun.is_flaggable IS 'Whether one may flag it.';
COMMENT ON COLUMN noun.reactions IS 'The kinds of reaction to it.';
COMMENT ON COLUMN noun.leaving IS
  'A SELECT of the ids to be locked when the account $1 goes, where those in $2 go too; null: nothing.';
COMMENT ON COLUMN noun.lock_place IS 'Which noun is locked first then: that with the smallest number.';
COMMENT ON COLUMN noun.is_going IS 'Whether these go, or only change.';

CREATE TABLE told (
  relation text NOT NULL,
  attribute text,
  topics text,
  nouns text[],
  is_node boolean NOT NULL,
  is_own boolean NOT NULL);
COMMENT ON TABLE told IS 'A row: what live_source says of a table or a column, with names of nouns in place of tags.';
COMMENT ON COLUMN told.relation IS 'The table.';
COMMENT ON COLUMN told.attribute IS 'The column; null for all of the table.';
COMMENT ON COLUMN told.topics IS 'Topics of touches, spaces between; null: nothing is told.';
COMMENT ON COLUMN told.nouns IS 'The nouns of the nodes of these touches; null: any.';
COMMENT ON COLUMN told.is_node IS 'Whether the values of the column are the nodes of the touches, not the keys.';
COMMENT ON COLUMN told.is_own IS 'Whether that holds only for the viewer whose id the value is.';

CREATE TABLE export_part (
  member text CONSTRAINT export_part_member_primary PRIMARY KEY,
  items text NOT NULL);
COMMENT ON TABLE export_part IS 'A row: a list that is part of what somebody exports of themselves.';
COMMENT ON COLUMN export_part.member IS 'Its name in the document.';
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
COMMENT ON TABLE search_part IS 'A row: something that a search looks into.';
COMMENT ON COLUMN search_part.type IS 'The value of SearchType.';
COMMENT ON COLUMN search_part.source IS 'Its rows, named t, for the argument viewer.';
COMMENT ON COLUMN search_part.id IS 'The column of t with the id of what is found.';
COMMENT ON COLUMN search_part.words IS 'Of a name, the text; otherwise the tsvector.';
COMMENT ON COLUMN search_part.is_name IS 'Whether the beginnings of words are enough.';
COMMENT ON COLUMN search_part.newest IS 'The number of the newest rows that are looked through for a common word.';
COMMENT ON COLUMN search_part.joined IS 'What is joined by %s, the id; empty for nothing.';
COMMENT ON COLUMN search_part.besides IS 'A further condition, that begins with AND; empty for none.';
