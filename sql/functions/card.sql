-- Cards: offers, requests and thanks, answering them, giving addresses, sending what is owed.

CALL kind('card_offer', 19, phrase => 'offer');
CALL kind('card_request', 20, phrase => 'request');
CALL kind('thank_you', 21, phrase => 'thank-you');
CALL takes('card_post', 'post_id', '{card_offer,card_request}');
CALL watch('card_post', '{edited}', 'touch_changed', 'post_id');
CALL tell_part('card_post');
CALL tell_part('card_offer_region');

CALL node('info_request', 34, path => '/info-requests/');
CALL takes('info_request', 'post_id', '{card_request}');
CALL node('follow_up', 35, path => '/follow-ups/');
CALL exported('infoRequests', $$
  SELECT jsonb_build_object('id', wire_id(r.id),
    'post', wire_id(r.post_id), 'requester', wire_id(r.requester_id), 'status', r.status,
    'createdAt', wire_time(r.created_at))
  FROM visible_info_request($1) r
  ORDER BY r.id$$);
CALL exported('followUps', $$
  SELECT jsonb_build_object('id', wire_id(f.id),
    'post', wire_id(f.post_id), 'sender', wire_id(f.sender_id),
    'recipient', wire_id(f.recipient_id),
    'state', f.state, 'createdAt', wire_time(f.created_at), 'resolvedAt', wire_time(f.resolved_at))
  FROM visible_follow_up($1) f
  ORDER BY f.id$$);

CREATE OR REPLACE FUNCTION visible_info_request(viewer bigint) RETURNS SETOF info_request
LANGUAGE sql STABLE AS $$
  SELECT r.* FROM info_request r
  WHERE (r.owner_id = viewer OR r.requester_id = viewer)
    AND CASE WHEN r.owner_id = viewer THEN r.requester_id ELSE r.owner_id END
      NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = r.post_id)
$$;
COMMENT ON FUNCTION visible_info_request IS
  'Returns the address requests that the viewer may see: as the user who asks or is asked, unless one blocks the '
  'other.';

CREATE OR REPLACE FUNCTION visible_follow_up(viewer bigint) RETURNS SETOF follow_up
LANGUAGE sql STABLE AS $$
  SELECT f.* FROM follow_up f
  WHERE (f.sender_id = viewer OR f.recipient_id = viewer)
    AND CASE WHEN f.sender_id = viewer THEN f.recipient_id ELSE f.sender_id END
      NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = f.post_id)
$$;
COMMENT ON FUNCTION visible_follow_up IS
  'Returns the follow-ups that the viewer may see: as sender or recipient, unless one blocks the other.';

CREATE OR REPLACE FUNCTION sends_to(offer bigint, home bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN NOT EXISTS (SELECT FROM card_offer_region r WHERE r.post_id = offer)
    OR EXISTS (SELECT FROM card_offer_region r JOIN location l ON l.id = home
      WHERE r.post_id = offer AND (r.location_id = l.id OR r.location_id = ANY (l.ancestor_ids)));
END $$;
COMMENT ON FUNCTION sends_to IS
  'Returns whether cards of an offer are sent to a home: one of its regions is or contains it, or it has none.';

CREATE OR REPLACE FUNCTION refuse_unreached(viewer bigint, offer bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE home bigint := (SELECT u.home_id FROM app_user u WHERE u.id = viewer);
BEGIN
  IF sends_to(offer, home) THEN RETURN; END IF;
  IF home IS NULL THEN PERFORM refuse('HOME_REQUIRED', 'cardOfferId'); END IF;
  PERFORM refuse_as(worded(refusal('OUT_OF_REGION', 'cardOfferId'), 'SENDS_ONLY', (
    SELECT jsonb_build_object('name', u.display_name, 'places', string_agg(l.name, ', ' ORDER BY l.name_key, l.id))
    FROM post p JOIN app_user u ON u.id = p.author_id JOIN card_offer_region r ON r.post_id = p.id
      JOIN location l ON l.id = r.location_id
    WHERE p.id = offer GROUP BY u.id)));
END $$;
COMMENT ON FUNCTION refuse_unreached IS
  'Refuses unless the cards of an offer are sent to the viewer''s home, before anything is said of an address.';

CREATE OR REPLACE FUNCTION respond_to_offer(viewer bigint, offer bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  author bigint := (seen_post(viewer, offer, '{card_offer}', 'cardOfferId')).author_id;
  made bigint;
BEGIN
  IF author = viewer THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN', 'cardOfferId'), 'OWN_OFFER'));
  END IF;
  PERFORM FROM post p WHERE p.id = offer FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'cardOfferId'); END IF;
  IF EXISTS (SELECT FROM follow_up f
      WHERE f.post_id = offer AND f.sender_id = author AND f.recipient_id = viewer) THEN
    RETURN offer;
  END IF;
  PERFORM refuse_unreached(viewer, offer);
  IF NOT EXISTS (SELECT FROM app_user u WHERE u.id = viewer AND words(u.address) IS NOT NULL) THEN
    PERFORM refuse('ADDRESS_REQUIRED', 'cardOfferId');
  END IF;
  INSERT INTO follow_up (post_id, sender_id, recipient_id) VALUES (offer, author, viewer)
  ON CONFLICT (post_id, sender_id, recipient_id) DO NOTHING RETURNING id INTO made;
  IF made IS NULL THEN RETURN offer; END IF;
  UPDATE card_post c SET response_count = c.response_count + 1 WHERE c.post_id = offer AND c.is_open;
  IF NOT FOUND THEN PERFORM refuse_as(worded(refusal('CLOSED', 'cardOfferId'), 'OFFER_CLOSED')); END IF;
  PERFORM notify_people(ARRAY[author], 'OFFER_ANSWERED', viewer, made);
  RETURN offer;
END $$;
COMMENT ON FUNCTION respond_to_offer IS
  'Implements Mutation.respondToOffer. The author can then see the responder''s address. The limit is locked last, '
  'because all responders wait for it.';

CREATE OR REPLACE FUNCTION withdraw_offer_response(viewer bigint, offer bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  author bigint := (seen_post(viewer, offer, '{card_offer}', 'cardOfferId')).author_id;
  given follow_up;
BEGIN
  PERFORM FROM post p WHERE p.id = offer FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'cardOfferId'); END IF;
  SELECT f.* INTO given FROM follow_up f
  WHERE f.post_id = offer AND f.sender_id = author AND f.recipient_id = viewer FOR UPDATE;
  IF NOT FOUND THEN RETURN offer; END IF;
  IF given.state <> 'OPEN' THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'cardOfferId'), 'CARD_SENT'));
  END IF;
  DELETE FROM follow_up f WHERE f.id = given.id;
  RETURN offer;
END $$;
COMMENT ON FUNCTION withdraw_offer_response IS
  'Implements Mutation.withdrawOfferResponse, while the card is owed. The response is counted no more, so that an '
  'offer which only its limit had closed is open again, and what told its author of it goes with the follow-up.';

CREATE OR REPLACE FUNCTION request_address(viewer bigint, request bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  author bigint := (seen_post(viewer, request, '{card_request}', 'cardRequestId')).author_id;
  made bigint;
BEGIN
  IF author = viewer THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN', 'cardRequestId'), 'OWN_REQUEST'));
  END IF;
  PERFORM FROM post p WHERE p.id = request FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'cardRequestId'); END IF;
  INSERT INTO info_request AS r (post_id, owner_id, requester_id) VALUES (request, author, viewer)
  ON CONFLICT (post_id, requester_id) DO UPDATE SET status = 'PENDING', created_at = now()
  WHERE r.status = 'WITHDRAWN' RETURNING r.id INTO made;
  IF made IS NULL THEN
    RETURN (SELECT r.id FROM info_request r WHERE r.post_id = request AND r.requester_id = viewer);
  END IF;
  UPDATE card_post c SET response_count = c.response_count + 1
  WHERE c.post_id = request AND c.is_open;
  IF NOT FOUND THEN PERFORM refuse_as(worded(refusal('CLOSED', 'cardRequestId'), 'REQUEST_CLOSED')); END IF;
  PERFORM notify_people(ARRAY[author], 'INFO_REQUESTED', viewer, made, action_kind := 'APPROVE_INFO_REQUEST');
  RETURN made;
END $$;
COMMENT ON FUNCTION request_address IS
  'Implements Mutation.requestAddress. Who took a request back may ask again.';

CREATE OR REPLACE FUNCTION withdraw_info_request(viewer bigint, request bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target info_request;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT r.* INTO target FROM visible_info_request(viewer) r WHERE r.id = request;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'infoRequestId'); END IF;
  IF target.requester_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'infoRequestId'); END IF;
  PERFORM FROM post p WHERE p.id = target.post_id FOR KEY SHARE;
  UPDATE info_request r SET status = 'WITHDRAWN' WHERE r.id = request AND r.status = 'PENDING';
  IF FOUND THEN
    UPDATE card_post c SET response_count = c.response_count - 1 WHERE c.post_id = target.post_id;
    PERFORM unnotify(ARRAY[target.owner_id], 'INFO_REQUESTED', viewer, request);
    RETURN request;
  END IF;
  SELECT r.* INTO target FROM info_request r WHERE r.id = request;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'infoRequestId'); END IF;
  IF target.status <> 'WITHDRAWN' THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'infoRequestId'), 'WAS_ANSWERED'));
  END IF;
  RETURN request;
END $$;
COMMENT ON FUNCTION withdraw_info_request IS
  'Implements Mutation.withdrawInfoRequest, for the user who asked, while nobody answered.';

CREATE OR REPLACE FUNCTION answer_info_request(viewer bigint, request bigint, approve boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  target info_request;
  answer text := CASE WHEN approve THEN 'ACCEPTED' ELSE 'DECLINED' END;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT r.* INTO target FROM visible_info_request(viewer) r WHERE r.id = request;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'infoRequestId'); END IF;
  IF target.owner_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'infoRequestId'); END IF;
  PERFORM FROM post p WHERE p.id = target.post_id FOR KEY SHARE;
  SELECT r.* INTO target FROM info_request r WHERE r.id = request FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'infoRequestId'); END IF;
  IF target.status = answer THEN RETURN request; END IF;
  IF target.status = 'WITHDRAWN' THEN
    PERFORM refuse_as(worded(refusal('CLOSED', 'infoRequestId'), 'TAKEN_BACK'));
  ELSIF target.status <> 'PENDING' THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'infoRequestId'), 'REQUEST_ANSWERED'));
  END IF;
  IF approve AND NOT EXISTS (
      SELECT FROM app_user u WHERE u.id = viewer AND words(u.address) IS NOT NULL) THEN
    PERFORM refuse('ADDRESS_REQUIRED', 'approve');
  END IF;
  UPDATE info_request r SET status = answer WHERE r.id = request;
  IF approve THEN
    INSERT INTO follow_up (post_id, sender_id, recipient_id)
    VALUES (target.post_id, target.requester_id, viewer);
  END IF;
  UPDATE notification n SET action_performed_at = now()
  WHERE n.recipient_id = viewer AND n.about_id = request AND n.action_kind = 'APPROVE_INFO_REQUEST'
    AND n.action_performed_at IS NULL AND approve;
  PERFORM notify_people(ARRAY[target.requester_id], 'INFO_ANSWERED', viewer, request,
    'INFO_ANSWERED.' || answer);
  RETURN request;
END $$;
COMMENT ON FUNCTION answer_info_request IS
  'Implements Mutation.answerInfoRequest. The first answer is final. An approval creates a follow-up for the user who '
  'asked.';

CREATE OR REPLACE FUNCTION reopen_follow_up(viewer bigint, target follow_up) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF target.state = 'OPEN' THEN RETURN target.id; END IF;
  IF target.resolved_at <= now() - interval '24 hours' THEN
    PERFORM refuse_as(worded(refusal('PAST', 'followUpId'), 'ONE_DAY'));
  END IF;
  UPDATE follow_up f SET state = 'OPEN', resolved_at = NULL WHERE f.id = target.id;
  PERFORM unnotify(ARRAY[target.recipient_id], 'FOLLOW_UP_UNABLE', viewer, target.id);
  RETURN target.id;
END $$;
COMMENT ON FUNCTION reopen_follow_up IS
  'Opens a follow-up again that was resolved within a day, and takes back what told its recipient that no card comes.';

CREATE OR REPLACE FUNCTION resolve_follow_up(viewer bigint, target_id bigint, outcome text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target follow_up;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT f.* INTO target FROM visible_follow_up(viewer) f WHERE f.id = target_id;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'followUpId'); END IF;
  IF target.sender_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'followUpId'); END IF;
  PERFORM FROM post p WHERE p.id = target.post_id FOR KEY SHARE;
  SELECT f.* INTO target FROM follow_up f WHERE f.id = target_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'followUpId'); END IF;
  IF outcome = 'OPEN' THEN RETURN reopen_follow_up(viewer, target); END IF;
  IF target.state = outcome THEN RETURN target_id; END IF;
  IF target.state <> 'OPEN' THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'followUpId'), 'CARD_RESOLVED'));
  END IF;
  UPDATE follow_up f SET state = outcome, resolved_at = now() WHERE f.id = target_id;
  IF outcome = 'UNABLE' THEN
    PERFORM notify_people(ARRAY[target.recipient_id], 'FOLLOW_UP_UNABLE', viewer, target_id);
  END IF;
  RETURN target_id;
END $$;
COMMENT ON FUNCTION resolve_follow_up IS
  'Implements Mutation.resolveFollowUp, for the sender of the card, who may take either outcome back within a day.';

CREATE OR REPLACE FUNCTION close_card_post(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{card_offer,card_request}', 'postId');
  UPDATE card_post c SET closed_at = now() WHERE c.post_id = target AND c.closed_at IS NULL;
  RETURN target;
END $$;
COMMENT ON FUNCTION close_card_post IS
  'Implements Mutation.closeCardPost, for the author of the post, also of an offer that is at its limit.';

CREATE OR REPLACE FUNCTION reopen_card_post(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE most int;
BEGIN
  PERFORM own_post(viewer, target, '{card_offer,card_request}', 'postId');
  UPDATE card_post c SET closed_at = NULL
  WHERE c.post_id = target AND c.closed_at IS NOT NULL
    AND c.response_count < coalesce(c.response_limit, 2147483647);
  IF NOT FOUND THEN
    SELECT c.response_limit INTO most FROM card_post c WHERE c.post_id = target AND NOT c.is_open;
    IF FOUND THEN
      PERFORM refuse_as(limited(worded(refusal('FULL', 'postId'), 'ALL_ANSWERS'), NULL, most));
    END IF;
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION reopen_card_post IS
  'Implements Mutation.reopenCardPost, for the author of the post, unless the offer is at its limit.';

CREATE OR REPLACE FUNCTION card_offer_refusals(viewer bigint, input jsonb, is_new boolean, taken int DEFAULT 0)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE most int := (input ->> 'responseLimit')::int;
BEGIN
  RETURN words_refusals(viewer, 'card_offer', input, is_new)
    || CASE WHEN most < 1
      THEN jsonb_build_array(limited(worded(refusal('INVALID', 'input', 'responseLimit'), 'LOW_LIMIT'), 1, NULL))
      WHEN most < taken
      THEN jsonb_build_array(limited(worded(refusal('INVALID', 'input', 'responseLimit'), 'BELOW_TAKEN'), taken, NULL))
      ELSE '[]' END
    || location_refusals(id_list(input -> 'regionIds'), 'input', 'regionIds');
END $$;
COMMENT ON FUNCTION card_offer_refusals IS
  'Returns the errors of the input for a card offer that so many users have answered.';

CREATE OR REPLACE FUNCTION set_regions(offer bigint, regions bigint[]) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE is_changed boolean;
BEGIN
  DELETE FROM card_offer_region r WHERE r.post_id = offer AND r.location_id <> ALL (coalesce(regions, '{}'));
  is_changed := FOUND;
  INSERT INTO card_offer_region (post_id, location_id)
  SELECT DISTINCT offer, e.id FROM unnest(regions) AS e(id) ORDER BY e.id
  ON CONFLICT (post_id, location_id) DO NOTHING;
  RETURN is_changed OR FOUND;
END $$;
COMMENT ON FUNCTION set_regions IS
  'Replaces the locations that an offer sends to, and returns whether they are others. None is worldwide.';

CREATE OR REPLACE FUNCTION create_card_offer(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(card_offer_refusals(viewer, input, true));
  made := new_post(viewer, 'card_offer', input);
  INSERT INTO card_post (post_id, response_limit) VALUES (made, (input ->> 'responseLimit')::int);
  PERFORM set_regions(made, id_list(input -> 'regionIds'));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_card_offer IS 'Implements Mutation.createCardOffer.';

CREATE OR REPLACE FUNCTION update_card_offer(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  taken int;
  is_changed boolean := false;
BEGIN
  PERFORM own_post(viewer, target, '{card_offer}', 'cardOfferId');
  -- Who responds holds the post too weakly to wait for this, so the number is read under the row's lock.
  SELECT c.response_count INTO taken FROM card_post c WHERE c.post_id = target FOR NO KEY UPDATE;
  PERFORM refuse_all(card_offer_refusals(viewer, input, false, taken));
  IF input ? 'responseLimit' THEN
    UPDATE card_post c SET response_limit = (input ->> 'responseLimit')::int
    WHERE c.post_id = target AND c.response_limit IS DISTINCT FROM (input ->> 'responseLimit')::int;
    is_changed := FOUND;
  END IF;
  IF input ? 'regionIds' THEN
    is_changed := set_regions(target, id_list(input -> 'regionIds')) OR is_changed;
  END IF;
  PERFORM change_post(viewer, target, input, is_changed);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_card_offer IS
  'Implements Mutation.updateCardOffer, for its author. Omitted fields keep their value, null clears optional ones. A '
  'limit above the number of responses opens an offer that only its limit had closed.';

CREATE OR REPLACE FUNCTION create_card_request(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(words_refusals(viewer, 'card_request', input, true));
  made := new_post(viewer, 'card_request', input);
  INSERT INTO card_post (post_id) VALUES (made);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_card_request IS 'Implements Mutation.createCardRequest.';

CREATE OR REPLACE FUNCTION update_card_request(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{card_request}', 'cardRequestId');
  PERFORM refuse_all(words_refusals(viewer, 'card_request', input, false));
  PERFORM change_post(viewer, target, input);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_card_request IS
  'Implements Mutation.updateCardRequest, for its author. Omitted fields keep their value, null clears optional ones.';

CREATE OR REPLACE FUNCTION thank_you_refusals(viewer bigint, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE thanked bigint[] := id_list(input -> 'taggedUserIds');
BEGIN
  RETURN words_refusals(viewer, 'thank_you', input, is_new)
    || list_refusals(thanked, is_given(input, 'taggedUserIds', is_new), 100, 'input', 'taggedUserIds')
    || people_refusals(viewer, thanked, false, 'input', 'taggedUserIds')
    || (SELECT coalesce(jsonb_agg(
          worded(refusal('INVALID', 'input', 'taggedUserIds', (e.place - 1)::text), 'TWICE') ORDER BY e.place), '[]')
        FROM unnest(thanked) WITH ORDINALITY AS e(id, place) WHERE e.id = ANY (thanked[:e.place - 1]));
END $$;
COMMENT ON FUNCTION thank_you_refusals IS 'Returns the errors of the input for a thank-you.';

CREATE OR REPLACE FUNCTION add_thanked(viewer bigint, target bigint, people bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO post_tag (post_id, user_id) SELECT target, e.id FROM unnest(people) AS e(id) ORDER BY e.id;
  PERFORM notify_people(people, 'TAGGED', viewer, target);
END $$;
COMMENT ON FUNCTION add_thanked IS 'Tags users in a thank-you, and notifies them.';

CREATE OR REPLACE FUNCTION create_thank_you(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  thanked bigint[] := id_list(input -> 'taggedUserIds');
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(thank_you_refusals(viewer, input, true));
  PERFORM hold_people(thanked || viewer);
  made := new_post(viewer, 'thank_you', input);
  PERFORM add_thanked(viewer, made, thanked);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_thank_you IS 'Implements Mutation.createThankYou.';

CREATE OR REPLACE FUNCTION update_thank_you(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  thanked bigint[] := id_list(input -> 'taggedUserIds');
  added bigint[];
  removed bigint[];
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM hold_people(thanked || viewer);
  PERFORM own_post(viewer, target, '{thank_you}', 'thankYouId');
  PERFORM refuse_all(thank_you_refusals(viewer, input, false));
  added := ARRAY(SELECT e.id FROM unnest(thanked) AS e(id)
    WHERE NOT EXISTS (SELECT FROM post_tag t WHERE t.post_id = target AND t.user_id = e.id));
  removed := ARRAY(SELECT t.user_id FROM post_tag t WHERE t.post_id = target AND t.user_id <> ALL (thanked));
  IF removed <> '{}' THEN PERFORM unnotify(removed, 'TAGGED', viewer, target); END IF;
  -- Both statements count in these rows.
  PERFORM FROM app_user u WHERE u.id = ANY (added || removed) ORDER BY u.id FOR NO KEY UPDATE;
  DELETE FROM post_tag t WHERE t.post_id = target AND t.user_id = ANY (removed);
  PERFORM change_post(viewer, target, input, added || removed <> '{}');
  PERFORM add_thanked(viewer, target, added);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_thank_you IS
  'Implements Mutation.updateThankYou, for its author. Users who are added are notified, and what told those who are '
  'removed is taken back unless they have read it.';
