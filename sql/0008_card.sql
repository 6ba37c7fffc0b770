-- Cards people offer, ask for and owe each other.

-- A row: what an offer or a request of cards has besides.
CREATE TABLE card_post (
  post_id bigint PRIMARY KEY REFERENCES post ON DELETE CASCADE CHECK (post_id & 255 IN (19, 20)),
  is_open boolean NOT NULL DEFAULT true,
  response_limit int CHECK (response_limit > 0),
  response_count int NOT NULL DEFAULT 0 CHECK (response_count >= 0),
  CHECK (response_count <= response_limit),
  CHECK (post_id & 255 = 19 OR response_limit IS NULL));

-- A row: an offer reaches this part of the world. No row: everywhere.
CREATE TABLE card_offer_region (
  post_id bigint REFERENCES card_post ON DELETE CASCADE,
  location_id bigint REFERENCES location ON DELETE CASCADE,
  PRIMARY KEY (post_id, location_id));        -- CardOffer.regions
-- posts(filter: {sendsTo})
CREATE INDEX ON card_offer_region (location_id, post_id DESC);

-- A row: the requester asks the owner of a card request for their address.
CREATE TABLE info_request (
  id bigint PRIMARY KEY DEFAULT new_node(34) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 34),
  post_id bigint NOT NULL REFERENCES card_post ON DELETE CASCADE CHECK (post_id & 255 = 20),
  owner_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  requester_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  status text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'ACCEPTED', 'DECLINED')),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (post_id, requester_id),             -- requestAddress, CardRequest.viewerInfoRequest
  CHECK (owner_id <> requester_id));
-- viewer.infoRequests
CREATE INDEX ON info_request (owner_id, status, id DESC);
-- deleting an account
CREATE INDEX ON info_request (requester_id);

-- A row: the sender owes the recipient a card because of a post.
CREATE TABLE follow_up (
  id bigint PRIMARY KEY DEFAULT new_node(35) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 35),
  post_id bigint NOT NULL REFERENCES card_post ON DELETE CASCADE,
  sender_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  recipient_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'COMPLETED', 'UNABLE')),
  created_at timestamptz NOT NULL DEFAULT now(),
  resolved_at timestamptz,
  UNIQUE (post_id, sender_id, recipient_id),  -- nobody responds twice; CardOffer.respondents
  CHECK (sender_id <> recipient_id),
  CHECK ((state = 'OPEN') = (resolved_at IS NULL)));
-- viewer.followUps(role: SENDER), and RECIPIENT
CREATE INDEX ON follow_up (sender_id, state, id DESC);
CREATE INDEX ON follow_up (recipient_id, state, id DESC);

CREATE TRIGGER drop_nodes AFTER DELETE ON info_request REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
CREATE TRIGGER drop_nodes AFTER DELETE ON follow_up REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
