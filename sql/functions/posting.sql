-- Posting: one function for what all kinds of post share, one for each kind.

CREATE OR REPLACE FUNCTION seen_post(viewer bigint, target bigint, kinds int[], VARIADIC path text[])
RETURNS post LANGUAGE plpgsql AS $$
DECLARE chosen post;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.* INTO chosen FROM visible_post(viewer) p
  WHERE p.id = target AND (kinds IS NULL OR p.kind = ANY (kinds));
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', VARIADIC path); END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION seen_post IS
  'A post of one of these types (any, without) that the viewer may see; refuses any other.';

CREATE OR REPLACE FUNCTION own_post(viewer bigint, target bigint, kinds int[], VARIADIC path text[])
RETURNS post LANGUAGE plpgsql AS $$
DECLARE chosen post := seen_post(viewer, target, kinds, VARIADIC path);
BEGIN
  IF chosen.author_id <> viewer THEN PERFORM refuse('FORBIDDEN', VARIADIC path); END IF;
  PERFORM FROM post p WHERE p.id = target FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', VARIADIC path); END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION own_post IS
  'A post of one of these types that is the viewer''s own, locked before what hangs on it; refuses any other.';

CREATE OR REPLACE FUNCTION post_refusals(viewer bigint, tag int, input jsonb, needs_words boolean,
  needs_photo boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  target record;
  wanted text := input ->> 'visibility';
  refusals jsonb := text_refusals(input ->> 'body', needs_words, 5000, 'input', 'body')
    || photo_refusals(viewer, id_list(input -> 'photoIds'), needs_photo, 'input', 'photoIds');
BEGIN
  SELECT c.id, c.kind, c.owner_id INTO target FROM visible_circle(viewer) c
  WHERE c.id = (input ->> 'circleId')::bigint;
  IF input ->> 'circleId' IS NOT NULL AND target.id IS NULL THEN
    refusals := refusals || refusal('NOT_FOUND', 'input', 'circleId');
  ELSIF target.kind = 'CHANNEL' THEN
    IF target.owner_id <> viewer AND NOT has_role(viewer, 'STAFF', 'SERVICE') AND (tag IN (22, 23, 24)
        OR NOT EXISTS (SELECT FROM circle_member m
          WHERE m.circle_id = target.id AND m.user_id = viewer)) THEN
      refusals := refusals || refusal('FORBIDDEN', 'input', 'circleId');
    END IF;
  END IF;
  IF wanted = 'INVITED' AND tag <> 23 THEN
    refusals := refusals || refusal('INVALID', 'input', 'visibility');
  ELSIF wanted = 'CIRCLE' AND input ->> 'circleId' IS NULL THEN
    refusals := refusals || refusal('REQUIRED', 'input', 'circleId');
  END IF;
  RETURN refusals;
END $$;
COMMENT ON FUNCTION post_refusals IS
  'What is wrong with the input of a post of this type. In a group its members post, as only they '
  'see it; words, announcements and events in a channel are its owner''s, staff''s and services''; '
  'anything else in a channel is its subscribers''.';

CREATE OR REPLACE FUNCTION new_post(viewer bigint, tag int, input jsonb, needs_words boolean,
  needs_photo boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  made bigint;
  place bigint;
  is_in_group boolean;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(post_refusals(viewer, tag, input, needs_words, needs_photo));
  place := use_location(viewer, input -> 'location', 'input', 'location');
  is_in_group := EXISTS (SELECT FROM circle c
    WHERE c.id = (input ->> 'circleId')::bigint AND c.kind = 'GROUP');
  INSERT INTO post (id, author_id, body, location_id, circle_id, visibility)
  VALUES (new_node(tag), viewer, coalesce(words(input ->> 'body'), ''), place,
    (input ->> 'circleId')::bigint,
    CASE WHEN tag = 22 THEN 'PUBLIC'
      ELSE coalesce(input ->> 'visibility', CASE WHEN is_in_group THEN 'CIRCLE' ELSE 'PUBLIC' END)
    END::visibility)
  RETURNING id INTO made;
  PERFORM set_photos(made, id_list(input -> 'photoIds'));
  RETURN made;
END $$;
COMMENT ON FUNCTION new_post IS
  'Makes the row of a post of this type, with its photos, and gives its id. Seen by the circle '
  'where it is a group, unless the input says otherwise.';

CREATE OR REPLACE FUNCTION create_text_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN new_post(viewer, 24, input, true, false);
END $$;
COMMENT ON FUNCTION create_text_post IS
  'Mutation.createTextPost.';

CREATE OR REPLACE FUNCTION asks_for_votes(input jsonb) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  application text := words(input ->> 'app');
  usual boolean;
BEGIN
  IF application IS NOT NULL THEN
    SELECT a.voting_enabled_by_default INTO usual FROM app_config a WHERE a.app = application;
    IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'input', 'app'); END IF;
  END IF;
  RETURN coalesce((input ->> 'votingEnabled')::boolean, usual, false);
END $$;
COMMENT ON FUNCTION asks_for_votes IS
  'Whether a new outfit or product asks for votes: as it says, or else as its application does.';

CREATE OR REPLACE FUNCTION create_outfit_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  -- each once, in the order given
  brands text[] := ARRAY(SELECT words(b.brand) FROM jsonb_array_elements_text(
      coalesce(nullif(input -> 'brands', 'null'), '[]')) WITH ORDINALITY AS b(brand, place)
    WHERE words(b.brand) IS NOT NULL GROUP BY words(b.brand) ORDER BY min(b.place));
BEGIN
  PERFORM require_viewer(viewer);
  IF cardinality(brands) > 20 THEN PERFORM refuse('INVALID', 'input', 'brands'); END IF;
  IF EXISTS (SELECT FROM unnest(brands) AS b(brand) WHERE length(b.brand) > 100) THEN
    PERFORM refuse('TOO_LONG', 'input', 'brands');
  END IF;
  made := new_post(viewer, 16, input, false, true);
  INSERT INTO votable_post (post_id, brands, voting_enabled)
  VALUES (made, brands, asks_for_votes(input));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_outfit_post IS
  'Mutation.createOutfitPost.';

CREATE OR REPLACE FUNCTION create_product_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  thing bigint := (input ->> 'productId')::bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM FROM product p WHERE p.id = thing FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'input', 'productId'); END IF;
  made := new_post(viewer, 17, input, false, false);
  INSERT INTO votable_post (post_id, product_id, voting_enabled)
  VALUES (made, thing, asks_for_votes(input));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_product_post IS
  'Mutation.createProductPost.';

CREATE OR REPLACE FUNCTION create_photo_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN new_post(viewer, 18, input, false, true);
END $$;
COMMENT ON FUNCTION create_photo_post IS
  'Mutation.createPhotoPost.';

CREATE OR REPLACE FUNCTION create_card_offer(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  most int := (input ->> 'responseLimit')::int;
  regions bigint[] := id_list(input -> 'regionIds');
BEGIN
  PERFORM require_viewer(viewer);
  IF most < 1 THEN PERFORM refuse('INVALID', 'input', 'responseLimit'); END IF;
  PERFORM refuse_all(location_refusals(regions, 'input', 'regionIds'));
  made := new_post(viewer, 19, input, true, false);
  INSERT INTO card_post (post_id, response_limit) VALUES (made, most);
  INSERT INTO card_offer_region (post_id, location_id) SELECT DISTINCT made, e.id
  FROM unnest(regions) AS e(id);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_card_offer IS
  'Mutation.createCardOffer.';

CREATE OR REPLACE FUNCTION location_refusals(ids bigint[], VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN list_refusals(ids, false, 100, VARIADIC path) || (
    SELECT coalesce(jsonb_agg(refusal('NOT_FOUND', VARIADIC path || (e.place - 1)::text)
      ORDER BY e.place), '[]'::jsonb)
    FROM unnest(ids) WITH ORDINALITY AS e(id, place)
    WHERE NOT EXISTS (SELECT FROM location l WHERE l.id = e.id));
END $$;
COMMENT ON FUNCTION location_refusals IS
  'Each place of a list that is not there; too many of them.';

CREATE OR REPLACE FUNCTION create_card_request(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint := new_post(viewer, 20, input, true, false);
BEGIN
  INSERT INTO card_post (post_id) VALUES (made);
  RETURN made;
END $$;
COMMENT ON FUNCTION create_card_request IS
  'Mutation.createCardRequest.';

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
          refusal('INVALID', 'input', 'taggedUserIds', (e.place - 1)::text) ORDER BY e.place), '[]')
        FROM unnest(thanked) WITH ORDINALITY AS e(id, place) WHERE e.id = ANY (thanked[:e.place - 1])));
  PERFORM hold_people(thanked || viewer);
  made := new_post(viewer, 21, input, true, false);
  INSERT INTO post_tag (post_id, user_id) SELECT made, e.id FROM unnest(thanked) AS e(id) ORDER BY e.id;
  PERFORM notify_people(thanked, 'TAGGED', viewer, made, 'thanks you.', node_url(made));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_thank_you IS
  'Mutation.createThankYou.';

CREATE OR REPLACE FUNCTION circle_people(viewer bigint, circles bigint[], VARIADIC path text[])
RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
DECLARE may_name_any boolean := has_role(viewer, 'STAFF', 'SERVICE');
BEGIN
  PERFORM refuse_all(list_refusals(circles, false, 100, VARIADIC path) || (
    SELECT coalesce(jsonb_agg(refusal(f.code, VARIADIC path || (f.place - 1)::text) ORDER BY f.place), '[]')
    FROM (
      SELECT e.place, CASE
        WHEN c.id IS NULL THEN 'NOT_FOUND'
        WHEN c.kind = 'CHANNEL' AND c.owner_id <> viewer AND NOT may_name_any THEN 'FORBIDDEN' END AS code
      FROM unnest(circles) WITH ORDINALITY AS e(id, place) LEFT JOIN visible_circle(viewer) c ON c.id = e.id) f
    WHERE f.code IS NOT NULL));
  -- Members of a group add whom they like, so that its size says nothing of who wants to be told.
  IF NOT may_name_any AND (SELECT count(*) > 500 FROM (
      SELECT DISTINCT m.user_id FROM circle_member m JOIN circle c ON c.id = m.circle_id
      WHERE m.circle_id = ANY (circles) AND m.user_id <> viewer AND c.kind = 'GROUP' LIMIT 501) g) THEN
    PERFORM refuse('INVALID', VARIADIC path);
  END IF;
  RETURN ARRAY(SELECT DISTINCT m.user_id FROM circle_member m
    WHERE m.circle_id = ANY (circles) AND m.user_id <> viewer);
END $$;
COMMENT ON FUNCTION circle_people IS
  'The members of groups the viewer belongs to, at most 500, and of channels the viewer owns; of any, and as many as '
  'there are, for staff and services. Refuses each circle that is none of these, or all for too many people.';

CREATE OR REPLACE FUNCTION create_announcement(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  people bigint[] := id_list(input -> 'notifyUserIds');
  told bigint[];
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(list_refusals(people, false, 100, 'input', 'notifyUserIds')
    || people_refusals(viewer, people, true, 'input', 'notifyUserIds'));
  told := circle_people(viewer, id_list(input -> 'notifyCircleIds'), 'input', 'notifyCircleIds');
  made := new_post(viewer, 22, input, true, false);
  PERFORM notify_people(coalesce(people, '{}') || told, 'ANNOUNCED', viewer, made,
    'announces: ' || escaped(shortened(words(input ->> 'body'), 120)), node_url(made));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_announcement IS
  'Mutation.createAnnouncement.';

CREATE OR REPLACE FUNCTION update_post(viewer bigint, arguments jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  target post := own_post(viewer, (arguments ->> 'postId')::bigint, NULL, 'postId');
  photos bigint[] := id_list(arguments -> 'photoIds');
BEGIN
  IF arguments ? 'body' THEN
    PERFORM refuse_all(
      text_refusals(arguments ->> 'body', target.kind IN (19, 20, 21, 22, 24), 5000, 'body'));
  END IF;
  IF arguments ? 'photoIds' THEN
    PERFORM refuse_all(photo_refusals(viewer, photos, target.kind IN (16, 18), 'photoIds'));
  END IF;
  PERFORM FROM post p WHERE p.id = target.id FOR NO KEY UPDATE;
  IF arguments ? 'photoIds' THEN PERFORM set_photos(target.id, photos); END IF;
  UPDATE post p SET updated_at = now(),
    body = CASE WHEN arguments ? 'body' THEN coalesce(words(arguments ->> 'body'), '') ELSE p.body END
  WHERE p.id = target.id;
  RETURN target.id;
END $$;
COMMENT ON FUNCTION update_post IS
  'Mutation.updatePost: left out stays, null clears what is optional.';
