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
  IF NOT EXISTS (SELECT FROM app_user u WHERE u.id = viewer AND words(u.address) IS NOT NULL) THEN
    PERFORM refuse('ADDRESS_REQUIRED', 'cardOfferId');
  END IF;
  INSERT INTO follow_up (post_id, sender_id, recipient_id) VALUES (offer, author, viewer)
  ON CONFLICT (post_id, sender_id, recipient_id) DO NOTHING RETURNING id INTO made;
  IF made IS NULL THEN RETURN offer; END IF;
  UPDATE card_post c SET response_count = c.response_count + 1,
    is_open = coalesce(c.response_count + 1 < c.response_limit, true)
  WHERE c.post_id = offer AND c.is_open;
  IF NOT FOUND THEN PERFORM refuse_as(worded(refusal('CLOSED', 'cardOfferId'), 'OFFER_CLOSED')); END IF;
  PERFORM notify_people(ARRAY[author], 'OFFER_ANSWERED', viewer, made);
  RETURN offer;
END $$;
COMMENT ON FUNCTION respond_to_offer IS
  'Implements Mutation.respondToOffer. The author can then see the responder''s address. The limit is locked last, '
  'because all responders wait for it.';

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
  INSERT INTO info_request (post_id, owner_id, requester_id) VALUES (request, author, viewer)
  ON CONFLICT (post_id, requester_id) DO NOTHING RETURNING id INTO made;
  IF made IS NULL THEN
    RETURN (SELECT r.id FROM info_request r WHERE r.post_id = request AND r.requester_id = viewer);
  END IF;
  UPDATE card_post c SET response_count = c.response_count + 1
  WHERE c.post_id = request AND c.is_open;
  IF NOT FOUND THEN PERFORM refuse_as(worded(refusal('CLOSED', 'cardRequestId'), 'REQUEST_CLOSED')); END IF;
  PERFORM notify_people(ARRAY[author], 'INFO_REQUESTED', viewer, made, action_kind := 'APPROVE_INFO_REQUEST');
  RETURN made;
END $$;
COMMENT ON FUNCTION request_address IS 'Implements Mutation.requestAddress.';

CREATE OR REPLACE FUNCTION answer_info_request(viewer bigint, request bigint, approve boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  target info_request;
  answer text := CASE WHEN approve THEN 'ACCEPTED' ELSE 'DECLINED' END;
  made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT r.* INTO target FROM visible_info_request(viewer) r WHERE r.id = request;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'infoRequestId'); END IF;
  IF target.owner_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'infoRequestId'); END IF;
  PERFORM FROM post p WHERE p.id = target.post_id FOR KEY SHARE;
  SELECT r.* INTO target FROM info_request r WHERE r.id = request FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'infoRequestId'); END IF;
  IF target.status = answer THEN RETURN request; END IF;
  IF target.status <> 'PENDING' THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'infoRequestId'), 'REQUEST_ANSWERED'));
  END IF;
  IF approve AND NOT EXISTS (
      SELECT FROM app_user u WHERE u.id = viewer AND words(u.address) IS NOT NULL) THEN
    PERFORM refuse('ADDRESS_REQUIRED', 'approve');
  END IF;
  UPDATE info_request r SET status = answer WHERE r.id = request;
  IF approve THEN
    INSERT INTO follow_up (post_id, sender_id, recipient_id)
    VALUES (target.post_id, target.requester_id, viewer) RETURNING id INTO made;
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

CREATE OR REPLACE FUNCTION resolve_follow_up(viewer bigint, target_id bigint, outcome text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  target follow_up;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT f.* INTO target FROM visible_follow_up(viewer) f WHERE f.id = target_id;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'followUpId'); END IF;
  IF target.sender_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'followUpId'); END IF;
  IF outcome = 'OPEN' THEN
    PERFORM refuse_as(worded(refusal('INVALID', 'state'), 'NOT_OPEN_AGAIN'));
  END IF;
  PERFORM FROM post p WHERE p.id = target.post_id FOR KEY SHARE;
  UPDATE follow_up f SET state = outcome, resolved_at = now() WHERE f.id = target_id AND f.state = 'OPEN';
  IF NOT FOUND THEN
    SELECT f.* INTO target FROM follow_up f WHERE f.id = target_id;
    IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'followUpId'); END IF;
    IF target.state <> outcome THEN
      PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'followUpId'), 'CARD_RESOLVED'));
    END IF;
  ELSIF outcome = 'UNABLE' THEN
    PERFORM notify_people(ARRAY[target.recipient_id], 'FOLLOW_UP_UNABLE', viewer, target_id);
  END IF;
  RETURN target_id;
END $$;
COMMENT ON FUNCTION resolve_follow_up IS 'Implements Mutation.resolveFollowUp, for the sender of the card.';

CREATE OR REPLACE FUNCTION close_card_post(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM own_post(viewer, target, '{card_offer,card_request}', 'postId');
  UPDATE card_post c SET is_open = false WHERE c.post_id = target AND c.is_open;
  RETURN target;
END $$;
COMMENT ON FUNCTION close_card_post IS 'Implements Mutation.closeCardPost, for the author of the post.';

CREATE OR REPLACE FUNCTION create_card_offer(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  most int := (input ->> 'responseLimit')::int;
  regions bigint[] := id_list(input -> 'regionIds');
BEGIN
  PERFORM require_viewer(viewer);
  IF most < 1 THEN
    PERFORM refuse_as(limited(worded(refusal('INVALID', 'input', 'responseLimit'), 'LOW_LIMIT'), 1, NULL));
  END IF;
  PERFORM refuse_all(location_refusals(regions, 'input', 'regionIds'));
  made := new_post(viewer, 'card_offer', input, true, false);
  INSERT INTO card_post (post_id, response_limit) VALUES (made, most);
  INSERT INTO card_offer_region (post_id, location_id) SELECT DISTINCT made, e.id
  FROM unnest(regions) AS e(id);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_card_offer IS 'Implements Mutation.createCardOffer.';

CREATE OR REPLACE FUNCTION create_card_request(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint := new_post(viewer, 'card_request', input, true, false);
BEGIN
  INSERT INTO card_post (post_id) VALUES (made);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_card_request IS 'Implements Mutation.createCardRequest.';

CREATE OR REPLACE FUNCTION create_thank_you(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  thanked bigint[] := id_list(input -> 'taggedUserIds');
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(thanked, true, 100, 'input', 'taggedUserIds')
    || people_refusals(viewer, thanked, false, 'input', 'taggedUserIds')
    || (SELECT coalesce(jsonb_agg(
          worded(refusal('INVALID', 'input', 'taggedUserIds', (e.place - 1)::text), 'TWICE') ORDER BY e.place), '[]')
        FROM unnest(thanked) WITH ORDINALITY AS e(id, place) WHERE e.id = ANY (thanked[:e.place - 1])));
  PERFORM hold_people(thanked || viewer);
  made := new_post(viewer, 'thank_you', input, true, false);
  INSERT INTO post_tag (post_id, user_id) SELECT made, e.id FROM unnest(thanked) AS e(id) ORDER BY e.id;
  PERFORM notify_people(thanked, 'TAGGED', viewer, made);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_thank_you IS 'Implements Mutation.createThankYou.';
