-- What people choose for themselves: their language and time zone, and by which ways they are told of what.

CALL tell('user_setting', 'account', 'user_id', '{user_id}');
CALL tell('notification_rule', 'account', 'user_id', '{user_id}');
CALL exported('notificationRules', $$
  SELECT jsonb_build_object('reason', r.reason, 'channels', r.channels)
  FROM notification_rule r WHERE r.user_id = $1
  ORDER BY r.reason$$);
CALL exported('settings', $$
  SELECT jsonb_build_object('locale', s.locale, 'timeZone', s.time_zone, 'quietFrom', to_char(s.quiet_from, 'HH24:MI'),
    'quietTo', to_char(s.quiet_to, 'HH24:MI'), 'isNamingPeople', s.is_naming_people)
  FROM user_setting s WHERE s.user_id = $1$$);

CREATE OR REPLACE FUNCTION is_time_zone(name text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- PostgreSQL also takes abbreviations with an offset, which are the names of no zone
  IF name !~ '^([A-Za-z_]+(/[A-Za-z_-]+)*|Etc/GMT[+-]?[0-9]{1,2})$' THEN RETURN false; END IF;
  PERFORM now() AT TIME ZONE name;
  RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
  RETURN false;
END $$;
COMMENT ON FUNCTION is_time_zone IS 'Returns whether a text is the name of a time zone, such as Europe/Madrid.';

CREATE OR REPLACE FUNCTION setting_refusals(input jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN words(input ->> 'locale') IS NOT NULL AND (length(input ->> 'locale') > 35
      OR input ->> 'locale' !~ '^[A-Za-z0-9-]+$' OR known_locale(input ->> 'locale') IS NULL)
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'locale'), 'LOCALE')) ELSE '[]' END
    || CASE WHEN words(input ->> 'timeZone') IS NOT NULL AND (length(input ->> 'timeZone') > 64
      OR NOT is_time_zone(input ->> 'timeZone'))
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'timeZone'), 'TIME_ZONE')) ELSE '[]' END;
END $$;
COMMENT ON FUNCTION setting_refusals IS 'Returns the errors of the language and the time zone in an input.';

CREATE OR REPLACE FUNCTION set_language(account bigint, input jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT input ?| '{locale,timeZone}' THEN RETURN; END IF;
  INSERT INTO user_setting AS s (user_id, locale, time_zone)
  VALUES (account, words(input ->> 'locale'), words(input ->> 'timeZone'))
  ON CONFLICT (user_id) DO UPDATE SET
    locale = CASE WHEN input ? 'locale' THEN EXCLUDED.locale ELSE s.locale END,
    time_zone = CASE WHEN input ? 'timeZone' THEN EXCLUDED.time_zone ELSE s.time_zone END;
END $$;
COMMENT ON FUNCTION set_language IS
  'Sets the language and the time zone of an account from an input, as far as they are in it. Null clears them.';

CREATE OR REPLACE FUNCTION default_channels(reason text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN reason IN ('REACTED', 'VOTED') THEN '{}'::text[]
    WHEN reason IN ('INFO_REQUESTED', 'OFFER_ANSWERED', 'FOLLOW_UP_UNABLE', 'BOOKING_CHANGED', 'EVENT_CANCELLED')
      THEN '{PUSH,EMAIL}'::text[] ELSE '{PUSH}'::text[] END;
COMMENT ON FUNCTION default_channels IS
  'Returns the ways by which people are told of a reason: none of what comes in storms, and mails, too, of what is to '
  'be done or not to be done.';

CREATE OR REPLACE FUNCTION wanted_channels(person bigint, reason text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT r.channels FROM notification_rule r
    WHERE r.user_id = person AND r.reason = wanted_channels.reason), default_channels(reason));
END $$;
COMMENT ON FUNCTION wanted_channels IS 'Returns the ways by which a user is told of a reason besides the list.';

CREATE OR REPLACE FUNCTION notification_rules(person bigint)
RETURNS TABLE (reason text, channels text[], "position" bigint)
LANGUAGE sql STABLE ROWS 18 AS $$
  SELECT e.reason, coalesce(r.channels, default_channels(e.reason)), e.position
  FROM unnest(notification_reasons()) WITH ORDINALITY AS e(reason, position)
    LEFT JOIN notification_rule r ON r.user_id = person AND r.reason = e.reason
$$;
COMMENT ON FUNCTION notification_rules IS 'Returns what a user is told of, by which ways, in the order of the reasons.';

CREATE OR REPLACE FUNCTION settings_of(person bigint)
RETURNS TABLE (quiet_from time, quiet_to time, is_naming_people boolean)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT s.quiet_from, s.quiet_to, coalesce(s.is_naming_people, true)
  FROM (VALUES (person)) v(id) LEFT JOIN user_setting s ON s.user_id = v.id
$$;
COMMENT ON FUNCTION settings_of IS 'Returns the settings for notifications of a user, also without a row of them.';

CREATE OR REPLACE FUNCTION notification_reasons() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN '{FOLLOWED,REACTED,VOTED,COMMENTED,PRODUCT_SUGGESTED,TAGGED,ANNOUNCED,EVENT_INVITED,EVENT_CHANGED,'
    'EVENT_CANCELLED,CIRCLE_ADDED,INFO_REQUESTED,INFO_ANSWERED,OFFER_ANSWERED,FOLLOW_UP_UNABLE,BOOKING_CHANGED,'
    'MESSAGED,CIRCLE_TRANSFERRED}'::text[];
COMMENT ON FUNCTION notification_reasons IS
  'Returns the reasons for notifications, in the order of NotificationReason.';

CREATE OR REPLACE FUNCTION notification_settings_refusals(input jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE hours jsonb := nullif(input -> 'quietHours', 'null');
BEGIN
  PERFORM refuse_longer(jsonb_array_length(nullif(input -> 'rules', 'null')), 100, 'MOST', 'input', 'rules');
  RETURN (SELECT coalesce(jsonb_agg(worded(refusal('INVALID', 'input', 'rules', (e.place - 1)::text, 'reason'), 'TWICE')
      ORDER BY e.place), '[]')
    FROM (SELECT r.place, count(*) OVER (PARTITION BY r.rule ->> 'reason' ORDER BY r.place) AS number
      FROM jsonb_array_elements(coalesce(nullif(input -> 'rules', 'null'), '[]')) WITH ORDINALITY AS r(rule, place)) e
    WHERE e.number > 1)
  || (SELECT coalesce(jsonb_agg(worded(refusal('INVALID', 'input', 'quietHours', h.side), 'DAY_TIME')
      ORDER BY h.side), '[]')
    FROM (VALUES ('from'), ('to')) h(side)
    WHERE hours IS NOT NULL AND hours ->> h.side !~ '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$')
  || CASE WHEN hours ->> 'from' = hours ->> 'to' THEN
    jsonb_build_array(worded(refusal('INVALID', 'input', 'quietHours', 'to'), 'DAY_TIME_SAME')) ELSE '[]' END;
END $$;
COMMENT ON FUNCTION notification_settings_refusals IS 'Returns the errors of the input of updateNotificationSettings.';

CREATE OR REPLACE FUNCTION update_notification_settings(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE hours jsonb := nullif(input -> 'quietHours', 'null');
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(notification_settings_refusals(input));
  PERFORM FROM app_user u WHERE u.id = viewer FOR NO KEY UPDATE;
  INSERT INTO notification_rule (user_id, reason, channels)
  SELECT viewer, r.rule ->> 'reason',
    ARRAY(SELECT DISTINCT c.channel FROM jsonb_array_elements_text(r.rule -> 'channels') c(channel)
      ORDER BY c.channel DESC)
  FROM jsonb_array_elements(coalesce(nullif(input -> 'rules', 'null'), '[]')) r(rule)
  ON CONFLICT (user_id, reason) DO UPDATE SET channels = EXCLUDED.channels;
  IF input ?| '{quietHours,isNamingPeople}' THEN
    INSERT INTO user_setting AS s (user_id, quiet_from, quiet_to, is_naming_people)
    VALUES (viewer, (hours ->> 'from')::time, (hours ->> 'to')::time,
      coalesce((input ->> 'isNamingPeople')::boolean, true))
    ON CONFLICT (user_id) DO UPDATE SET
      quiet_from = CASE WHEN input ? 'quietHours' THEN EXCLUDED.quiet_from ELSE s.quiet_from END,
      quiet_to = CASE WHEN input ? 'quietHours' THEN EXCLUDED.quiet_to ELSE s.quiet_to END,
      is_naming_people = CASE WHEN input ->> 'isNamingPeople' IS NOT NULL THEN EXCLUDED.is_naming_people
        ELSE s.is_naming_people END;
  END IF;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION update_notification_settings IS
  'Implements Mutation.updateNotificationSettings. Reasons that are not listed stay as they are.';
