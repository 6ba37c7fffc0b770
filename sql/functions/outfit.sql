-- Outfits, and the votes on them and on products.

CALL kind('outfit_post', 16, phrase => 'outfit');
CALL tell_part('votable_post');
CALL told('vote', 'node', nouns => '{post}');
-- under the key of those who may see the verdict
CALL told('vote', 'node', '{post_id}', is_node => true, only_columns => true);
CALL exported('votes', $$
  SELECT jsonb_build_object('post', wire_id(v.post_id),
    'choice', v.choice, 'createdAt', wire_time(v.created_at))
  FROM vote v WHERE v.user_id = $1 AND sees($1, v.post_id)
  ORDER BY v.created_at$$);

CREATE OR REPLACE FUNCTION verdict_text(language text, wear_it int, change_it int) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN phrase(language, 'verdict.' || CASE WHEN wear_it + change_it = 0 THEN 'NONE'
    WHEN wear_it = change_it THEN 'TIE' WHEN wear_it > change_it THEN 'WEAR_IT' ELSE 'CHANGE_IT' END,
    jsonb_build_object('wear', wear_it, 'change', change_it, 'count', wear_it + change_it));
END $$;
COMMENT ON FUNCTION verdict_text IS 'Returns the result of a vote in words of a language.';

CREATE OR REPLACE FUNCTION vote_refusals(input jsonb, is_new boolean) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN is_new AND words(input ->> 'app') IS NOT NULL
      AND NOT EXISTS (SELECT FROM app_config a WHERE a.app = lower(words(input ->> 'app')))
    THEN jsonb_build_array(refusal('NOT_FOUND', 'input', 'app')) ELSE '[]' END
    || CASE WHEN is_new THEN '[]' ELSE null_refusals(input, 'isVotingEnabled') END;
END $$;
COMMENT ON FUNCTION vote_refusals IS 'Returns the errors of the fields that say whether a post asks for votes.';

CREATE OR REPLACE FUNCTION asks_for_votes(input jsonb) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((input ->> 'isVotingEnabled')::boolean,
    (SELECT a.voting_enabled_by_default FROM app_config a WHERE a.app = lower(words(input ->> 'app'))), false);
END $$;
COMMENT ON FUNCTION asks_for_votes IS
  'Returns whether a new outfit or product post asks for votes: as the input states, or by the default of its '
  'application.';

CREATE OR REPLACE FUNCTION change_voting(target bigint, input jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE votable_post v SET voting_enabled = (input ->> 'isVotingEnabled')::boolean
  WHERE v.post_id = target AND v.voting_enabled <> (input ->> 'isVotingEnabled')::boolean;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION change_voting IS
  'Turns voting on or off, as the input states, and returns whether that is a change. Votes cast stay.';

CREATE OR REPLACE FUNCTION brand_list(input jsonb) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN ARRAY(SELECT words(b.brand) FROM jsonb_array_elements_text(
      coalesce(nullif(input -> 'brands', 'null'), '[]')) WITH ORDINALITY AS b(brand, place)
    WHERE words(b.brand) IS NOT NULL GROUP BY words(b.brand) ORDER BY min(b.place));
END $$;
COMMENT ON FUNCTION brand_list IS
  'Returns the brands of an input, each once, without empty ones, in the order given.';

CREATE OR REPLACE FUNCTION outfit_post_refusals(viewer bigint, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM refuse_longer(jsonb_array_length(nullif(input -> 'brands', 'null')), 20, 'MANY_BRANDS', 'input', 'brands');
  RETURN CASE WHEN is_new THEN where_refusals(viewer, 'outfit_post', input) ELSE '[]' END
    || picture_refusals(viewer, input, is_new, true) || body_refusals(input, is_new, false)
    || CASE WHEN EXISTS (SELECT FROM unnest(brand_list(input)) AS b(brand) WHERE length(b.brand) > 100)
      THEN jsonb_build_array(limited(worded(refusal('TOO_LONG', 'input', 'brands'), 'LONG_BRAND'), NULL, 100))
      ELSE '[]' END
    || vote_refusals(input, is_new);
END $$;
COMMENT ON FUNCTION outfit_post_refusals IS 'Returns the errors of the input for an outfit post.';

CREATE OR REPLACE FUNCTION create_outfit_post(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(outfit_post_refusals(viewer, input, true));
  made := new_post(viewer, 'outfit_post', input);
  INSERT INTO votable_post (post_id, brands, voting_enabled)
  VALUES (made, brand_list(input), asks_for_votes(input));
  RETURN made;
END $$;
COMMENT ON FUNCTION create_outfit_post IS 'Implements Mutation.createOutfitPost.';

CREATE OR REPLACE FUNCTION update_outfit_post(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE is_changed boolean;
BEGIN
  PERFORM own_post(viewer, target, '{outfit_post}', 'outfitPostId');
  PERFORM refuse_all(outfit_post_refusals(viewer, input, false));
  is_changed := change_voting(target, input);
  IF input ? 'brands' THEN
    UPDATE votable_post v SET brands = brand_list(input)
    WHERE v.post_id = target AND v.brands <> brand_list(input);
    is_changed := is_changed OR FOUND;
  END IF;
  PERFORM change_post(viewer, target, input, is_changed);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_outfit_post IS
  'Implements Mutation.updateOutfitPost, for its author. Omitted fields keep their value, null clears optional ones.';

CREATE OR REPLACE FUNCTION cast_vote(viewer bigint, target bigint, wanted text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  author bigint;
  number int;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.author_id INTO author FROM visible_post(viewer) p WHERE p.id = target AND is_votable(p.id);
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
  PERFORM FROM post p WHERE p.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
  IF author = viewer THEN PERFORM refuse_as(worded(refusal('FORBIDDEN', 'postId'), 'OWN_POST')); END IF;
  INSERT INTO vote (post_id, user_id, choice)
  SELECT v.post_id, viewer, wanted FROM votable_post v WHERE v.post_id = target AND v.voting_enabled
  ON CONFLICT (post_id, user_id) DO NOTHING;
  IF NOT FOUND THEN
    IF EXISTS (SELECT FROM vote v WHERE v.post_id = target AND v.user_id = viewer) THEN
      IF EXISTS (SELECT FROM vote v
          WHERE v.post_id = target AND v.user_id = viewer AND v.choice <> wanted) THEN
        PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'choice'), 'VOTED'));
      END IF;
      RETURN target;
    END IF;
    PERFORM refuse_as(worded(refusal('CLOSED', 'postId'), 'VOTING_OFF'));
  END IF;
  -- as in notify_number, but before the votes are counted: who is told last has counted all
  PERFORM pg_advisory_xact_lock(hashtextextended('VOTED ' || author, target));
  number := (SELECT v.wear_it_count + v.change_it_count FROM exact_votable_post() v WHERE v.post_id = target);
  PERFORM notify_number(author, 'VOTED', NULL, target,
    'VOTED.' || node_type(target), jsonb_build_object('count', number));
  RETURN target;
END $$;
COMMENT ON FUNCTION cast_vote IS
  'Implements Mutation.castVote. A vote is final. One unread notification for each post states the number of votes.';
