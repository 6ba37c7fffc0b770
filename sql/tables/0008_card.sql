-- Cards people offer, ask for and owe each other.

CREATE TABLE card_post (
  post_id bigint CONSTRAINT card_post_id_primary PRIMARY KEY
    CONSTRAINT card_post_post_exists REFERENCES post ON DELETE CASCADE,
  closed_at timestamptz,
  response_limit int CONSTRAINT card_post_response_limit_positive CHECK (response_limit > 0),
  response_count int NOT NULL DEFAULT 0
    CONSTRAINT card_post_response_count_range CHECK (response_count >= 0),
  is_open boolean NOT NULL GENERATED ALWAYS AS
    (closed_at IS NULL AND response_count < coalesce(response_limit, 2147483647)) STORED,
  CONSTRAINT card_post_response_limit_kept CHECK (response_count <= response_limit),
  CONSTRAINT card_post_response_limit_fits CHECK (post_id & 255 = 19 OR response_limit IS NULL));
COMMENT ON TABLE card_post IS 'The further columns of one card offer or card request.';
COMMENT ON COLUMN card_post.closed_at IS
  'The date and time when the author closed the post. Null while it is open, and if only its limit closes it.';
COMMENT ON COLUMN card_post.response_limit IS
  'The number of responses at which the offer closes. Null if there is no limit, and for requests.';
COMMENT ON COLUMN card_post.response_count IS
  'The number of responses. Raised by the statement that responds, which checks the limit, and lowered by trigger.';
COMMENT ON COLUMN card_post.is_open IS
  'Whether the post accepts responses: its author has not closed it, and the limit is not reached.';
COMMENT ON CONSTRAINT card_post_response_limit_positive ON card_post IS 'responseLimit: INVALID';
COMMENT ON CONSTRAINT card_post_response_count_range ON card_post IS 'unreachable';
COMMENT ON CONSTRAINT card_post_response_limit_kept ON card_post IS 'cardOfferId: CLOSED';
COMMENT ON CONSTRAINT card_post_response_limit_fits ON card_post IS 'unreachable';

CREATE TABLE card_offer_region (
  post_id bigint CONSTRAINT card_offer_region_post_exists REFERENCES card_post ON DELETE CASCADE,
  location_id bigint
    CONSTRAINT card_offer_region_location_exists REFERENCES location ON DELETE CASCADE,
  CONSTRAINT card_offer_region_location_once PRIMARY KEY (post_id, location_id));  -- CardOffer.regions
COMMENT ON TABLE card_offer_region IS 'One location that a card offer sends to. Without rows, the offer is worldwide.';
-- posts(filter: {sendsToId})
CREATE INDEX ON card_offer_region (location_id, post_id DESC);

CREATE TABLE info_request (
  id bigint CONSTRAINT info_request_id_primary PRIMARY KEY,
  post_id bigint NOT NULL
    CONSTRAINT info_request_post_exists REFERENCES card_post ON DELETE CASCADE,
  owner_id bigint NOT NULL
    CONSTRAINT info_request_owner_exists REFERENCES app_user ON DELETE CASCADE,
  requester_id bigint NOT NULL
    CONSTRAINT info_request_requester_exists REFERENCES app_user ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'PENDING'
    CONSTRAINT info_request_status_known CHECK (status IN ('PENDING', 'ACCEPTED', 'DECLINED', 'WITHDRAWN')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- requestAddress, CardRequest.viewerInfoRequest
  CONSTRAINT info_request_requester_once UNIQUE (post_id, requester_id),
  CONSTRAINT info_request_requester_other CHECK (owner_id <> requester_id));
COMMENT ON TABLE info_request IS 'One request for the address of the author of a card request.';
COMMENT ON CONSTRAINT info_request_status_known ON info_request IS 'unreachable';
COMMENT ON CONSTRAINT info_request_requester_once ON info_request IS 'unreachable';
COMMENT ON CONSTRAINT info_request_requester_other ON info_request IS 'cardRequestId: FORBIDDEN';
-- viewer.infoRequests
CREATE INDEX ON info_request (owner_id, status, id DESC);
-- viewer.sentInfoRequests; deleting an account
CREATE INDEX ON info_request (requester_id, id DESC);

CREATE TABLE follow_up (
  id bigint CONSTRAINT follow_up_id_primary PRIMARY KEY,
  post_id bigint NOT NULL CONSTRAINT follow_up_post_exists REFERENCES card_post ON DELETE CASCADE,
  sender_id bigint NOT NULL
    CONSTRAINT follow_up_sender_exists REFERENCES app_user ON DELETE CASCADE,
  recipient_id bigint NOT NULL
    CONSTRAINT follow_up_recipient_exists REFERENCES app_user ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'OPEN'
    CONSTRAINT follow_up_state_known CHECK (state IN ('OPEN', 'COMPLETED', 'UNABLE')),
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  -- nobody responds twice; CardOffer.respondents
  CONSTRAINT follow_up_recipient_once UNIQUE (post_id, sender_id, recipient_id),
  CONSTRAINT follow_up_recipient_other CHECK (sender_id <> recipient_id),
  CONSTRAINT follow_up_resolved_at_given CHECK ((state = 'OPEN') = (resolved_at IS NULL)));
COMMENT ON TABLE follow_up IS 'One card that the sender owes the recipient because of a post.';
COMMENT ON COLUMN follow_up.resolved_at IS
  'The date and time when the sender resolved the follow-up. Null while it is open.';
COMMENT ON CONSTRAINT follow_up_state_known ON follow_up IS 'unreachable';
COMMENT ON CONSTRAINT follow_up_recipient_once ON follow_up IS 'unreachable';
COMMENT ON CONSTRAINT follow_up_recipient_other ON follow_up IS 'cardOfferId: FORBIDDEN';
COMMENT ON CONSTRAINT follow_up_resolved_at_given ON follow_up IS 'unreachable';
-- viewer.followUps(role: SENDER), and RECIPIENT
CREATE INDEX ON follow_up (sender_id, state, id DESC);
CREATE INDEX ON follow_up (recipient_id, state, id DESC);
