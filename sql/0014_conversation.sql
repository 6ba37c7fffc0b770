-- Direct messages.

-- A row: a conversation of a set of people; a set has only one.
CREATE TABLE conversation (
  id bigint PRIMARY KEY DEFAULT new_node(48) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 48),
  member_key text NOT NULL UNIQUE,            -- sendMessage: sorted member ids, comma between
  updated_at timestamptz NOT NULL DEFAULT now());

-- A row: the user takes part and has read everything up to last_read_id.
CREATE TABLE conversation_member (
  conversation_id bigint REFERENCES conversation ON DELETE CASCADE,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  last_read_id bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (conversation_id, user_id));    -- visibility, Conversation.participants
-- viewer.conversations
CREATE INDEX ON conversation_member (user_id, conversation_id);

-- A row: one message. Only those who take part can have written it.
CREATE TABLE message (
  id bigint PRIMARY KEY DEFAULT new_node(49) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 49),
  conversation_id bigint NOT NULL,
  author_id bigint NOT NULL,
  body text NOT NULL CHECK (length(body) BETWEEN 1 AND 5000),
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (conversation_id, author_id) REFERENCES conversation_member ON DELETE CASCADE);
-- Conversation.messages from either end, Conversation.unreadCount
CREATE INDEX ON message (conversation_id, id);

CREATE TRIGGER drop_nodes AFTER DELETE ON conversation REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
CREATE TRIGGER drop_nodes AFTER DELETE ON message REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
