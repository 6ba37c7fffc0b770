-- Identity. Every node of the graph has a row here and, under the same id, one in the table of
-- its type. References to "any of several types" (what a comment is on, what a notification is
-- about) are thus real foreign keys, and deleting a node deletes all that hangs on it.
--
-- The low byte of an id is the tag of its type, so a check can say which types a column takes:
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

CREATE SEQUENCE node_seq;

-- A row: one node, of whatever type.
CREATE TABLE node (id bigint PRIMARY KEY);

-- Makes a node of the type with this tag and gives its id. Ids grow, so they sort by age.
CREATE FUNCTION new_node(tag int) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  INSERT INTO node VALUES (nextval('node_seq') << 8 | tag) RETURNING id
$$;

-- The form an id has outside: its significant bytes, big end first, in base64url.
CREATE FUNCTION wire_id(id bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT rtrim(translate(encode(ltrim(int8send(id), '\x00'), 'base64'), '+/', '-_'), '=')
$$;

-- For rows that go because another row goes (a post with its author): their nodes go too, and
-- with those everything said about them. Each node table has a trigger calling this.
CREATE FUNCTION drop_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM node WHERE id = ANY (ARRAY(SELECT id FROM gone));
  RETURN NULL;
END $$;
