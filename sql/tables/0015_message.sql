-- Direct messages.

CREATE TABLE conversation (
  id bigint CONSTRAINT conversation_id_primary PRIMARY KEY,
  member_key text NOT NULL CONSTRAINT conversation_member_key_once UNIQUE,   -- sendMessage
  updated_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE conversation IS 'One conversation between a set of users. Each set has one.';
COMMENT ON COLUMN conversation.member_key IS 'The sorted IDs of the members, separated by commas.';
COMMENT ON COLUMN conversation.updated_at IS 'The date and time of the latest message.';
COMMENT ON CONSTRAINT conversation_member_key_once ON conversation IS 'unreachable';

CREATE TABLE conversation_member (
  conversation_id bigint
    CONSTRAINT conversation_member_conversation_exists REFERENCES conversation ON DELETE CASCADE,
  user_id bigint CONSTRAINT conversation_member_user_exists REFERENCES app_user ON DELETE CASCADE,
  last_read_id bigint NOT NULL DEFAULT 0,
  is_muted boolean NOT NULL DEFAULT false,
  -- visibility, Conversation.participants
  CONSTRAINT conversation_member_user_once PRIMARY KEY (conversation_id, user_id));
COMMENT ON TABLE conversation_member IS 'One participant of a conversation.';
COMMENT ON COLUMN conversation_member.last_read_id IS 'The ID of the last message that the user has read.';
COMMENT ON COLUMN conversation_member.is_muted IS 'Whether the user gets no push messages about it.';
-- viewer.conversations
CREATE INDEX ON conversation_member (user_id, conversation_id);

CREATE TABLE message (
  id bigint CONSTRAINT message_id_primary PRIMARY KEY,
  conversation_id bigint NOT NULL,
  author_id bigint NOT NULL,
  body text NOT NULL CONSTRAINT message_body_length CHECK (length(body) BETWEEN 1 AND 5000),
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT message_author_member FOREIGN KEY (conversation_id, author_id)
    REFERENCES conversation_member ON DELETE CASCADE);
COMMENT ON TABLE message IS 'One message, written by a participant of the conversation.';
COMMENT ON CONSTRAINT message_body_length ON message IS 'body: TOO_LONG';
-- Conversation.messages from either end, Conversation.unreadCount
CREATE INDEX ON message (conversation_id, id);
