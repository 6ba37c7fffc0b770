-- What mutation functions share: reading an input, finding what is named in it, and saying what is
-- wrong with it. An input is jsonb: ids are numbers (0 for what is no id), what was left out is not there.

CREATE OR REPLACE FUNCTION words(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT nullif(btrim(value, E' \t\r\n'), '')
$$;
COMMENT ON FUNCTION words IS
  'A text without spaces at its ends; null when there is none.';

CREATE OR REPLACE FUNCTION text_refusals(value text, is_needed boolean, longest int,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN is_needed AND words(value) IS NULL THEN jsonb_build_array(refusal('REQUIRED', VARIADIC path))
    WHEN length(value) > longest THEN jsonb_build_array(refusal('TOO_LONG', VARIADIC path))
    ELSE '[]'::jsonb END
$$;
COMMENT ON FUNCTION text_refusals IS
  'What is wrong with a text: missing where it is needed, or longer than this many characters.';

CREATE OR REPLACE FUNCTION list_refusals(ids bigint[], is_needed boolean, most int,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN is_needed AND coalesce(cardinality(ids), 0) = 0
      THEN jsonb_build_array(refusal('REQUIRED', VARIADIC path))
    WHEN cardinality(ids) > most THEN jsonb_build_array(refusal('INVALID', VARIADIC path))
    ELSE '[]'::jsonb END
$$;
COMMENT ON FUNCTION list_refusals IS
  'What is wrong with a list of ids by its size: too many, or none where one is needed.';

CREATE OR REPLACE FUNCTION people_refusals(viewer bigint, ids bigint[], may_name_self boolean,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT coalesce(jsonb_agg(refusal(bad.code, VARIADIC path || (bad.place - 1)::text)
    ORDER BY bad.place), '[]'::jsonb)
  FROM (
    SELECT e.place, person_fault(viewer, e.id, may_name_self) AS code
    FROM unnest(ids) WITH ORDINALITY AS e(id, place)) bad
  WHERE bad.code IS NOT NULL);
END $$;
COMMENT ON FUNCTION people_refusals IS
  'Each person of a list whom the viewer may not name: not there or blocking the viewer '
  '(NOT_FOUND), blocked by the viewer (BLOCKED), or the viewer (INVALID, unless it is allowed).';

CREATE OR REPLACE FUNCTION person_fault(viewer bigint, person bigint, may_name_self boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE
    WHEN person = viewer THEN CASE WHEN may_name_self THEN NULL ELSE 'INVALID' END
    WHEN NOT EXISTS (SELECT FROM app_user u WHERE u.id = person) THEN 'NOT_FOUND'
    WHEN EXISTS (SELECT FROM block b WHERE b.blocker_id = person AND b.blocked_id = viewer)
      THEN 'NOT_FOUND'
    WHEN EXISTS (SELECT FROM block b WHERE b.blocker_id = viewer AND b.blocked_id = person)
      THEN 'BLOCKED' END;
END $$;
COMMENT ON FUNCTION person_fault IS
  'Why the viewer may not name this person; null when they may.';

CREATE OR REPLACE FUNCTION has_role(person bigint, VARIADIC wanted text[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM app_user u WHERE u.id = person AND u.roles && wanted);
END $$;
COMMENT ON FUNCTION has_role IS
  'Whether somebody has one of the roles.';

CREATE OR REPLACE FUNCTION require_role(viewer bigint, VARIADIC wanted text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT has_role(viewer, VARIADIC wanted) THEN PERFORM refuse('FORBIDDEN'); END IF;
END $$;
COMMENT ON FUNCTION require_role IS
  'Refuses unless the viewer has one of the roles.';

CREATE OR REPLACE FUNCTION is_url(address text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT length(address) <= 2000 AND address ~* '^[a-z][a-z0-9+.-]*:[^\s<>"]+$'
    AND address !~* '^(javascript|data|vbscript):'
$$;
COMMENT ON FUNCTION is_url IS
  'A web address, or one of an application''s own scheme.';

CREATE OR REPLACE FUNCTION is_email(address text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT length(address) <= 254 AND address ~ '^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+\.[^\s@<>"(),:;\\[\]]+$'
    AND address = one_line(address)
$$;
COMMENT ON FUNCTION is_email IS
  'Whether a text looks like an e-mail address: one @, something on both sides, no spaces, no control characters.';

CREATE OR REPLACE FUNCTION one_line(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(value, '[\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g')
$$;
COMMENT ON FUNCTION one_line IS
  'A text with a space in place of line breaks and other control characters.';

CREATE OR REPLACE FUNCTION audit(actor bigint, act text, about bigint DEFAULT NULL, detail text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit_log (actor_id, act, about_id, detail) VALUES (nullif(actor, 0), act, about, detail);
END $$;
COMMENT ON FUNCTION audit IS
  'Notes in the audit log what an account did or was done to. Never secrets or words of people.';

CREATE OR REPLACE FUNCTION hold_people(people bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('person', e.id))
  FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id) WHERE u.id IS NOT NULL ORDER BY u.id) e;
END $$;
COMMENT ON FUNCTION hold_people IS
  'Keeps people from blocking anybody or leaving until the transaction ends; called before anything '
  'else is locked by what ties several people together. Many hold somebody at once.';

CREATE OR REPLACE FUNCTION take_people(people bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('person', e.id))
  FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id) WHERE u.id IS NOT NULL ORDER BY u.id) e;
END $$;
COMMENT ON FUNCTION take_people IS
  'Has people for oneself: nobody holds them meanwhile.';

CREATE OR REPLACE VIEW constraint_error AS
SELECT * FROM (VALUES
  ('app_user', 'app_user_display_name_length', 'TOO_LONG', 'displayName'),
  ('token_secret', 'token_secret_only', NULL, NULL),
  ('app_user', 'app_user_email_once', 'TAKEN', 'email'),
  ('app_user', 'app_user_username_form', 'INVALID', 'username'),
  ('app_user', 'app_user_username_once', 'TAKEN', 'username'),
  ('identity', 'identity_provider_once', 'TAKEN', 'provider'),
  ('follow', 'follow_followee_other', 'INVALID', 'userIds'),
  ('block', 'block_blocked_other', 'INVALID', 'userId'),
  ('location', 'location_gmaps_id_once', 'TAKEN', 'gmapsId'),
  ('location', 'location_latitude_range', 'INVALID', 'coordinates'),
  ('location', 'location_longitude_given', 'INVALID', 'coordinates'),
  ('location', 'location_longitude_range', 'INVALID', 'coordinates'),
  ('location', 'location_place_type_fits', 'INVALID', 'placeType'),
  ('product', 'product_buy_url_form', 'INVALID', 'buyUrl'),
  ('product', 'product_currency_given', 'INVALID', 'price'),
  ('product', 'product_price_range', 'INVALID', 'price'),
  ('product_suggestion', 'product_suggestion_recipient_other', 'INVALID', 'toUserId'),
  ('circle', 'circle_is_default_fits', 'INVALID', 'isDefault'),
  ('circle', 'circle_name_length', 'TOO_LONG', 'name'),
  ('post', 'post_announcement_public', 'INVALID', 'visibility'),
  ('post', 'post_body_length', 'TOO_LONG', 'body'),
  ('post', 'post_circle_given', 'INVALID', 'visibility'),
  ('post', 'post_location_given', 'REQUIRED', 'location'),
  ('post', 'post_visibility_invited', 'INVALID', 'visibility'),
  ('post_photo', 'post_photo_position_range', 'INVALID', 'photoIds'),
  ('card_post', 'card_post_response_limit_kept', 'CLOSED', 'offerId'),
  ('card_post', 'card_post_response_limit_positive', 'INVALID', 'responseLimit'),
  ('info_request', 'info_request_requester_other', 'FORBIDDEN', 'requestId'),
  ('follow_up', 'follow_up_recipient_other', 'FORBIDDEN', 'offerId'),
  ('event', 'event_ends_at_after', 'INVALID', 'endsAt'),
  ('event', 'event_external_id_once', 'TAKEN', 'externalId'),
  ('event', 'event_title_length', 'TOO_LONG', 'title'),
  ('event_venue', 'event_venue_closes_at_after', 'INVALID', 'venues'),
  ('reaction', 'reaction_kind_fits', 'INVALID', 'kind'),
  ('comment', 'comment_body_length', 'TOO_LONG', 'body'),
  ('program', 'program_duration_positive', 'INVALID', 'durationMinutes'),
  ('class_session', 'class_session_booked_count_range', 'FULL', 'sessionId'),
  ('class_session', 'class_session_capacity_positive', 'INVALID', 'capacity'),
  ('class_session', 'class_session_ends_at_after', 'INVALID', 'startsAt'),
  ('class_session', 'class_session_starts_at_once', 'OVERLAP', 'startsAt'),
  ('class_session', 'class_session_trainer_free', 'OVERLAP', 'sessionId'),
  ('activity_track', 'activity_track_ended_at_after', 'INVALID', 'endedAt'),
  ('test_result', 'test_result_value_range', 'INVALID', 'value'),
  ('message', 'message_body_length', 'TOO_LONG', 'body'),
  ('app_config', 'app_config_intro_images_length', 'INVALID', 'introImages'),
  ('activity_track', 'activity_track_distance_range', NULL, NULL),
  ('app_user', 'app_user_card_preference_known', NULL, NULL),
  ('app_user', 'app_user_roles_known', NULL, NULL),
  ('location', 'location_place_type_known', NULL, NULL),
  ('attendance', 'attendance_status_known', NULL, NULL),
  ('booking', 'booking_user_once', NULL, NULL),
  ('card_post', 'card_post_response_count_range', NULL, NULL),
  ('card_post', 'card_post_response_limit_fits', NULL, NULL),
  ('circle', 'circle_kind_known', NULL, NULL),
  ('circle_member', 'circle_member_owner_once', NULL, NULL),
  ('circle_member', 'circle_member_role_known', NULL, NULL),
  ('conversation', 'conversation_member_key_once', NULL, NULL),
  ('daily_item', 'daily_item_list_known', NULL, NULL),
  ('daily_item', 'daily_item_position_range', NULL, NULL),
  ('event', 'event_category_known', NULL, NULL),
  ('external_contact', 'external_contact_external_id_once', NULL, NULL),
  ('external_contact', 'external_contact_provider_known', NULL, NULL),
  ('flag', 'flag_id_once', NULL, NULL),
  ('flag', 'flag_resolved_at_given', NULL, NULL),
  ('follow_up', 'follow_up_recipient_once', NULL, NULL),
  ('follow_up', 'follow_up_resolved_at_given', NULL, NULL),
  ('follow_up', 'follow_up_state_known', NULL, NULL),
  ('identity', 'identity_provider_known', NULL, NULL),
  ('info_request', 'info_request_requester_once', NULL, NULL),
  ('info_request', 'info_request_status_known', NULL, NULL),
  ('invitation', 'invitation_channel_given', NULL, NULL),
  ('outbox', 'outbox_recipient_form', NULL, NULL),
  ('outbox', 'outbox_subject_form', NULL, NULL),
  ('invitation', 'invitation_channel_known', NULL, NULL),
  ('invitation', 'invitation_code_once', NULL, NULL),
  ('invitation', 'invitation_invitee_given', NULL, NULL),
  ('invitation', 'invitation_invitee_once', NULL, NULL),
  ('invitation', 'invitation_status_known', NULL, NULL),
  ('notification', 'notification_action_kind_known', NULL, NULL),
  ('notification', 'notification_action_label_given', NULL, NULL),
  ('notification', 'notification_reason_known', NULL, NULL),
  ('photo', 'photo_height_positive', NULL, NULL),
  ('photo', 'photo_width_positive', NULL, NULL),
  ('product', 'product_external_id_once', NULL, NULL),
  ('program', 'program_training_known', NULL, NULL),
  ('session', 'session_id_once', NULL, NULL),
  ('session', 'session_token_hash_length', NULL, NULL),
  ('upload', 'upload_height_positive', NULL, NULL),
  ('rejected_picture', 'rejected_picture_path_form', NULL, NULL),
  ('upload', 'upload_path_form', NULL, NULL),
  ('upload', 'upload_photo_once', NULL, NULL),
  ('upload', 'upload_square_path_form', NULL, NULL),
  ('upload', 'upload_width_positive', NULL, NULL),
  ('votable_post', 'votable_post_product_given', NULL, NULL),
  ('vote', 'vote_choice_known', NULL, NULL)
) AS c (table_name, constraint_name, code, argument);
COMMENT ON VIEW constraint_error IS
  'Which user error a broken constraint is, for what functions leave to the tables to check; the '
  'argument by its name alone. Without a code: what nothing that a client sends can break, as a '
  'function sees to it or the schema has no such value.';
