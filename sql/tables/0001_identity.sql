-- namespace: graph
--
-- Identity. Every node of the graph has an id of one sequence, so ids sort by age. The low byte of
-- an id is the tag of its type: it says which table the node is in, and a check can say which types
-- a column takes.
--
--    1 User            16 OutfitPost      32 Comment          48 Conversation
--    2 Photo           17 ProductPost     33 Invitation       49 Message
--    3 Location        18 PhotoPost       34 InfoRequest      50 Notification
--    4 Product         19 CardOffer       35 FollowUp         51 ExternalContact
--    5 Circle          20 CardRequest     40 Program
--                      21 ThankYou        41 ClassSession
--                      22 Announcement    42 Booking
--                      23 Event           43 ActivityTrack
--                      24 TextPost
--
-- Tags 16 to 31 belong to posts: id & 240 = 16.
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

-- Triggers are named for what the function does and what became of the rows: count_added,
-- log_edited, log_removed.
CREATE PROCEDURE watch(of_table regclass, fates text[], called regproc, argument text DEFAULT '')
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
  'Has a trigger function called after each statement that inserts (added), updates (edited) or '
  'deletes (removed) rows of a table, with these rows in `changed`. For the files in sql/functions.';
