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
