-- How changes of each table are told to live queries: which touches there are whenever rows of it come, go or change,
-- but for what is only counted. What a query reads of a table that has no line here cannot be live.
--
-- A line without a column tells of everything: the touches of these topics, about nodes with these tags. A line with
-- a column says that these touches have the values of that column as their keys, or as their nodes, for a query that
-- reads only rows with one value; of one that is_own, for the viewer whose id the value is. A line without topics says
-- that nothing is told, on purpose.

CREATE OR REPLACE FUNCTION tell_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  words text[] := string_to_array(TG_ARGV[0], ' ');
  word text;
  keys bigint[];
  nodes bigint[];
BEGIN
  FOREACH word IN ARRAY words[3:] LOOP
    EXECUTE format('SELECT array_agg(%I), array_agg(%I) FROM changed', word, words[2]) INTO keys, nodes;
    PERFORM touch_nodes(words[1], keys, nodes);
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_changed IS
  'Leaves touches for changed rows; the argument names the topic, the column of nodes and those of keys.';

CREATE OR REPLACE FUNCTION tell_anything() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes(TG_ARGV[0], '{0}', '{0}');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_anything IS 'Leaves a touch of the topic that the argument names.';

-- Nodes that come. (Posts, comments, messages and notifications have topics of their own.)
CALL watch('app_user', '{added}', 'touch_changed', 'id');
CALL watch('location', '{added}', 'touch_changed', 'id');
CALL watch('product', '{added}', 'touch_changed', 'id');
CALL watch('circle', '{added}', 'touch_changed', 'id');
CALL watch('photo', '{added}', 'touch_changed', 'id');
CALL watch('invitation', '{added}', 'touch_changed', 'id');
CALL watch('info_request', '{added}', 'touch_changed', 'id');
CALL watch('follow_up', '{added}', 'touch_changed', 'id');
CALL watch('program', '{added}', 'touch_changed', 'id');
CALL watch('class_session', '{added}', 'touch_changed', 'id');
CALL watch('booking', '{added}', 'touch_changed', 'id');
CALL watch('activity_track', '{added}', 'touch_changed', 'id');
CALL watch('conversation', '{added}', 'touch_changed', 'id');
CALL watch('message', '{edited,removed}', 'touch_changed', 'id');
CREATE OR REPLACE TRIGGER touch_edited
  AFTER UPDATE OF name, level, place_type, gmaps_id, parent_id, ancestor_ids, latitude, longitude ON location
  FOR EACH ROW EXECUTE FUNCTION touch_edited();

-- What is part of a node, or hangs on it.
CALL watch('circle_member', '{edited}', 'touch_changed', 'circle_id');
CALL watch('follow', '{edited}', 'touch_changed', 'followee_id');
CALL watch('event_venue', '{added,edited,removed}', 'touch_changed', 'event_id');
CALL watch('program_trainer', '{added,edited,removed}', 'touch_changed', 'program_id');
CALL watch('message', '{added,removed}', 'tell_changed', 'node id conversation_id');

-- What somebody has.
CALL watch('conversation_member', '{added,edited,removed}', 'tell_changed',
  'conversation_member conversation_id user_id');
CALL watch('identity', '{added,edited,removed}', 'tell_changed', 'identity user_id user_id');
CALL watch('external_contact', '{added,edited,removed}', 'tell_changed', 'external_contact id owner_id');
CALL watch('shopping_list_item', '{added,edited,removed}', 'tell_changed',
  'shopping_list_item product_id user_id');
CALL watch('product_suggestion', '{added,edited,removed}', 'tell_changed',
  'product_suggestion product_id recipient_id');
CALL watch('test_result', '{added,edited,removed}', 'tell_changed', 'test_result user_id user_id');
CALL watch('user_ships_to', '{added,edited,removed}', 'tell_changed', 'user_ships_to location_id user_id');
CALL watch('flag', '{added,edited,removed}', 'tell_changed', 'flag subject_id subject_id');
CALL watch('upload', '{added,edited,removed}', 'tell_changed', 'upload owner_id owner_id');

CALL watch('circle_member', '{added,edited,removed}', 'tell_changed', 'circle_member circle_id user_id');
CALL watch('invitation', '{added,edited,removed}', 'tell_changed', 'invitation id invitee_id inviter_id');

-- What is there once.
CALL watch('app_config', '{added,edited,removed}', 'tell_anything', 'app_config');
CALL watch('daily_item', '{added,edited,removed}', 'tell_anything', 'daily_item');

CREATE OR REPLACE VIEW live_source AS
WITH post_tags AS (SELECT '{16,17,18,19,20,21,22,23,24}'::int[] AS tags)
SELECT v.relation, v.attribute, string_to_array(v.topics, ' ') AS topics,
  CASE v.tags WHEN 'posts' THEN p.tags WHEN 'subjects' THEN p.tags || '{3,4,5,32}'
    ELSE string_to_array(v.tags, ' ')::int[] END AS tags,
  coalesce(v.is_node, false) AS is_node, false AS is_own
FROM post_tags p CROSS JOIN (VALUES
  ('app_user', NULL, 'node', '1', NULL),
  ('app_user', 'id', 'node', NULL, NULL),
  ('photo', NULL, 'node', '2', NULL),
  ('photo', 'id', 'node', NULL, NULL),
  ('location', NULL, 'node', '3', NULL),
  ('location', 'id', 'node', NULL, NULL),
  ('product', NULL, 'node', '4', NULL),
  ('product', 'id', 'node', NULL, NULL),
  ('circle', NULL, 'node', '5', NULL),
  ('circle', 'id', 'node', NULL, NULL),
  ('program', NULL, 'node', '40', NULL),
  ('program', 'id', 'node', NULL, NULL),
  ('class_session', NULL, 'node', '41', NULL),
  ('class_session', 'id', 'node', NULL, NULL),
  ('activity_track', NULL, 'node', '43', NULL),
  ('activity_track', 'id', 'node', NULL, NULL),
  ('info_request', NULL, 'node', '34', NULL),
  ('info_request', 'id', 'node', NULL, NULL),
  ('follow_up', NULL, 'node', '35', NULL),
  ('follow_up', 'id', 'node', NULL, NULL),

  ('post', NULL, 'post node', 'posts', NULL),
  ('post', 'id', 'post node', NULL, true),
  ('post', 'author_id', 'change', NULL, NULL),
  -- with the post, which says by updated_at that they are others
  ('post_photo', NULL, 'post node', 'posts', NULL),
  ('post_photo', 'post_id', 'post node', NULL, true),
  ('post_tag', NULL, 'post node', 'posts', NULL),
  ('post_tag', 'post_id', 'post node', NULL, true),
  ('card_offer_region', NULL, 'post node', 'posts', NULL),
  ('card_offer_region', 'post_id', 'post node', NULL, true),
  ('card_post', NULL, 'post node', 'posts', NULL),
  ('card_post', 'post_id', 'post node', NULL, true),
  ('votable_post', NULL, 'post node', 'posts', NULL),
  ('votable_post', 'post_id', 'post node', NULL, true),
  ('event', NULL, 'post node', 'posts', NULL),
  ('event', 'post_id', 'post node', NULL, true),
  ('event_venue', NULL, 'post node', 'posts', NULL),
  ('event_venue', 'event_id', 'post node', NULL, true),
  ('attendance', NULL, 'node', 'posts', NULL),
  ('attendance', 'event_id', 'node', NULL, NULL),
  ('attendance', 'user_id', 'change', NULL, NULL),
  ('vote', NULL, 'node', 'posts', NULL),
  -- under the key of those who may see the verdict
  ('vote', 'post_id', 'node', NULL, true),
  ('visit', NULL, 'post node', 'posts', NULL),

  ('reaction', NULL, 'node', 'subjects', NULL),
  ('reaction', 'subject_id', 'node', NULL, NULL),
  ('comment', NULL, 'comment node', '32', NULL),
  ('comment', 'id', 'comment node', NULL, true),
  ('comment', 'subject_id', 'node', NULL, NULL),
  ('flag', NULL, 'flag', NULL, NULL),
  ('flag', 'subject_id', 'flag', NULL, NULL),

  ('follow', NULL, 'node', '1', NULL),
  ('follow', 'follower_id', 'node', NULL, NULL),
  ('follow', 'followee_id', 'node', NULL, NULL),
  ('block', NULL, 'block', NULL, NULL),
  ('block', 'blocker_id', 'block', NULL, NULL),
  ('block', 'blocked_id', 'block', NULL, NULL),
  -- with the block
  ('hidden', NULL, 'block', NULL, NULL),
  ('hidden', 'viewer_id', 'block', NULL, NULL),
  ('hidden', 'user_id', 'block', NULL, NULL),
  ('circle_member', NULL, 'node', '5', NULL),
  ('circle_member', 'circle_id', 'node', NULL, NULL),
  ('circle_member', 'user_id', 'circle_member', NULL, NULL),
  ('invitation', NULL, 'node', '33', NULL),
  ('invitation', 'id', 'node', NULL, NULL),
  ('invitation', 'invitee_id', 'invitation', NULL, NULL),
  ('invitation', 'inviter_id', 'invitation', NULL, NULL),
  ('program_trainer', NULL, 'node', '40', NULL),
  ('program_trainer', 'program_id', 'node', NULL, NULL),
  ('booking', NULL, 'node', '42', NULL),
  ('booking', 'id', 'node', NULL, NULL),
  ('booking', 'user_id', 'change', NULL, NULL),

  ('conversation', NULL, 'node', '48', NULL),
  ('conversation', 'id', 'node', NULL, NULL),
  ('conversation_member', NULL, 'conversation_member', NULL, NULL),
  ('conversation_member', 'user_id', 'conversation_member', NULL, NULL),
  ('conversation_member', 'conversation_id', 'conversation_member', NULL, true),
  ('message', NULL, 'message node', '49', NULL),
  ('message', 'id', 'message node', NULL, true),
  ('message', 'conversation_id', 'node', NULL, NULL),
  ('notification', NULL, 'notification node', '50', NULL),
  ('notification', 'id', 'notification node', NULL, true),
  ('notification', 'recipient_id', 'change', NULL, NULL),

  ('identity', NULL, 'identity', NULL, NULL),
  ('identity', 'user_id', 'identity', NULL, NULL),
  ('external_contact', NULL, 'external_contact', NULL, NULL),
  ('external_contact', 'id', 'external_contact', NULL, true),
  ('external_contact', 'owner_id', 'external_contact', NULL, NULL),
  ('shopping_list_item', NULL, 'shopping_list_item', NULL, NULL),
  ('shopping_list_item', 'user_id', 'shopping_list_item', NULL, NULL),
  ('product_suggestion', NULL, 'product_suggestion', NULL, NULL),
  ('product_suggestion', 'recipient_id', 'product_suggestion', NULL, NULL),
  ('test_result', NULL, 'test_result', NULL, NULL),
  ('test_result', 'user_id', 'test_result', NULL, NULL),
  ('user_ships_to', NULL, 'user_ships_to', NULL, NULL),
  ('user_ships_to', 'user_id', 'user_ships_to', NULL, NULL),
  ('upload', NULL, 'upload', NULL, NULL),
  ('upload', 'owner_id', 'upload', NULL, NULL),
  ('app_config', NULL, 'app_config', NULL, NULL),
  ('daily_item', NULL, 'daily_item', NULL, NULL),

  -- with what is ranked; scores when they are folded
  ('post_rank', NULL, 'post node', 'posts', NULL),
  ('post_rank', NULL, 'post_rank', NULL, NULL),
  ('location_rank', NULL, 'node', '3', NULL),
  ('location_rank', NULL, 'location_rank', NULL, NULL),
  ('product_rank', NULL, 'node', '4', NULL),
  ('product_rank', NULL, 'product_rank', NULL, NULL),
  -- with the row whose count they are part of
  ('count_slot', NULL, '', NULL, NULL),
  -- not at all
  ('change', NULL, NULL, NULL, NULL),
  ('change_day', NULL, NULL, NULL, NULL),
  ('change_horizon', NULL, NULL, NULL, NULL),
  ('hidden_past', NULL, NULL, NULL, NULL),
  ('token_secret', NULL, NULL, NULL, NULL),
  ('session', NULL, NULL, NULL, NULL)
) AS v (relation, attribute, topics, tags, is_node)
-- e-mail and postal address
UNION ALL SELECT 'app_user', 'id', '{account}', NULL, false, true;
COMMENT ON VIEW live_source IS
  'A row: whenever rows of this table change, there are touches of these topics, about nodes with '
  'these tags or, with a column, with its values as their keys (as their nodes, if is_node), for the viewer whose '
  'id the value is (if is_own). Without topics: nothing is told.';
