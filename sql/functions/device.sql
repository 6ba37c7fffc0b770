-- Devices, and what is pushed to them: the number on the icon, and a line that no stranger at the screen may not read.

CALL node('device', 52, owner => 'user_id', is_told => false);
CALL tell('device', 'device', 'id', '{user_id}');

CREATE OR REPLACE FUNCTION touch_passed_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('device', ARRAY[OLD.user_id], ARRAY[NEW.id]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_passed_device IS 'Touches a device for the user whom it was registered for before.';
CREATE OR REPLACE TRIGGER touch_passed_device AFTER UPDATE OF user_id ON device
  FOR EACH ROW WHEN (OLD.user_id <> NEW.user_id) EXECUTE FUNCTION touch_passed_device();

CALL exported('devices', $$
  SELECT jsonb_build_object('app', d.app, 'platform', d.platform, 'deviceName', d.device_name, 'locale', d.locale,
    'createdAt', wire_time(d.created_at), 'lastSeenAt', wire_time(d.last_seen_at))
  FROM device d WHERE d.user_id = $1
  ORDER BY d.id$$);

CREATE OR REPLACE FUNCTION visible_device(viewer bigint) RETURNS SETOF device LANGUAGE sql STABLE AS $$
  SELECT d.id, d.user_id, d.session_id, d.app, d.platform, NULL::bytea, NULL::bytea, d.is_sandbox, d.device_name,
    d.locale, d.created_at, d.last_seen_at
  FROM device d WHERE d.user_id = viewer
$$;
COMMENT ON FUNCTION visible_device IS 'Returns the viewer''s devices, without their tokens.';

CREATE OR REPLACE FUNCTION is_push_token(platform text, token text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT length(token) <= 4096 AND CASE platform
    WHEN 'APNS' THEN token ~ '^([0-9a-fA-F]{2}){32,100}$'
    WHEN 'FCM' THEN token ~ '^[A-Za-z0-9_:-]{20,}$'
    ELSE token ~ '^\s*\{.*"endpoint"\s*:\s*"https://.*\}\s*$' END
$$;
COMMENT ON FUNCTION is_push_token IS 'Returns whether a text looks like a token of the push service.';

CREATE OR REPLACE FUNCTION device_refusals(input jsonb, secret text, sealed bytea, application text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN application IS NOT NULL THEN '[]'
      WHEN input ->> 'app' IS NULL THEN jsonb_build_array(worded(refusal('REQUIRED'), 'NO_APP'))
      ELSE jsonb_build_array(refusal('NOT_FOUND', 'input', 'app')) END
    || CASE WHEN words(secret) IS NULL THEN jsonb_build_array(refusal('REQUIRED', 'input', 'token'))
      WHEN length(secret) > 4096 THEN text_refusals(secret, true, 4096, 'input', 'token')
      WHEN NOT is_push_token(input ->> 'platform', secret) THEN jsonb_build_array(
        worded(refusal('INVALID', 'input', 'token'), 'PUSH_TOKEN'))
      WHEN sealed IS NULL THEN jsonb_build_array(refusal('NOT_CONFIGURED', 'input', 'token')) ELSE '[]' END
    || name_refusals(input ->> 'deviceName', false, 80, 'input', 'deviceName')
    || CASE WHEN known_locale(input ->> 'locale') IS NULL AND words(input ->> 'locale') IS NOT NULL
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'locale'), 'LOCALE')) ELSE '[]' END;
END $$;
COMMENT ON FUNCTION device_refusals IS
  'Returns the errors of a device to register. sealed is null if the server has no key to encrypt the token with.';

CREATE OR REPLACE FUNCTION register_device(viewer bigint, session_hash bytea, input jsonb, secret text, sealed bytea)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  application text := CASE WHEN input ->> 'app' IS NULL THEN app_named(current_setting('sociograph.app', true), viewer)
    ELSE (SELECT a.app FROM app_config a WHERE a.app = lower(input ->> 'app')) END;
  session_id bigint := (SELECT s.id FROM session s WHERE s.token_hash = session_hash AND s.user_id = viewer);
  made bigint;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(device_refusals(input, secret, sealed, application));
  -- A token of another issuer has no session that could end.
  IF session_id IS NULL THEN PERFORM refuse('NOT_CONFIGURED', 'input', 'token'); END IF;
  PERFORM FROM app_user u WHERE u.id = viewer FOR NO KEY UPDATE;
  INSERT INTO device AS d (user_id, session_id, app, platform, token_hash, token, is_sandbox, device_name, locale)
  VALUES (viewer, session_id, application, input ->> 'platform', sha256(convert_to(btrim(secret), 'UTF8')), sealed,
    coalesce((input ->> 'isSandbox')::boolean, false), words(input ->> 'deviceName'),
    coalesce(words(input ->> 'locale'), spoken_now()))
  ON CONFLICT (platform, token_hash) DO UPDATE SET user_id = EXCLUDED.user_id, session_id = EXCLUDED.session_id,
    app = EXCLUDED.app, token = EXCLUDED.token, is_sandbox = EXCLUDED.is_sandbox,
    device_name = EXCLUDED.device_name, locale = EXCLUDED.locale, last_seen_at = now(),
    created_at = CASE WHEN d.user_id = EXCLUDED.user_id THEN d.created_at ELSE now() END
  RETURNING d.id INTO made;
  DELETE FROM device d WHERE d.id IN (
    SELECT e.id FROM device e WHERE e.user_id = viewer ORDER BY e.last_seen_at DESC, e.id DESC OFFSET 20);
  RETURN made;
END $$;
COMMENT ON FUNCTION register_device IS
  'Implements Mutation.registerDevice. A known token belongs to the viewer and the session from now on. Of more than '
  'twenty devices the one that was seen longest ago goes.';

CREATE OR REPLACE FUNCTION unregister_device(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  DELETE FROM device d WHERE d.id = target AND d.user_id = viewer;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'deviceId'); END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION unregister_device IS 'Implements Mutation.unregisterDevice.';

CREATE OR REPLACE FUNCTION device_of_session(session_hash bytea) RETURNS bigint[]
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN ARRAY(SELECT d.id FROM device d JOIN session s ON s.id = d.session_id WHERE s.token_hash = session_hash);
END $$;
COMMENT ON FUNCTION device_of_session IS 'Returns the devices that a session registered.';

-- Pushing.

CREATE OR REPLACE FUNCTION tell_outside() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (channel, device_id, notification_id, body, due_at)
  SELECT 'PUSH', d.id, n.id, '', now() + interval '3 seconds'
  FROM changed n JOIN device d ON d.user_id = n.recipient_id JOIN app_config a ON a.app = d.app
    LEFT JOIN notification_rule r ON r.user_id = n.recipient_id AND r.reason = n.reason
  WHERE (a.notification_reasons = '{}' OR n.reason = ANY (a.notification_reasons))
    AND 'PUSH' = ANY (coalesce(r.channels, default_channels(n.reason)))
    AND NOT EXISTS (SELECT FROM conversation_member m
      WHERE m.conversation_id = n.about_id AND m.user_id = n.recipient_id AND m.is_muted);
  INSERT INTO outbox (channel, user_id, recipient, notification_id, body, due_at)
  SELECT 'EMAIL', n.recipient_id, u.email, n.id, '', now() + interval '3 seconds'
  FROM changed n JOIN app_user u ON u.id = n.recipient_id AND u.email_verified AND u.email IS NOT NULL
    LEFT JOIN notification_rule r ON r.user_id = n.recipient_id AND r.reason = n.reason
  -- in this order, as the second one notes the time
  WHERE CASE WHEN 'EMAIL' = ANY (coalesce(r.channels, default_channels(n.reason))) THEN
    may_mail(concat_ws(' ', n.reason, n.about_id), n.recipient_id::text, interval '24 hours') END;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_outside IS
  'Adds push messages and mails about new notifications to the outbox, as far as their recipients want them. Both are '
  'worded when they are taken.';
CALL watch('notification', '{added}', 'tell_outside');

CREATE OR REPLACE FUNCTION push_badge(viewer bigint, session_hash bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (channel, device_id, body, due_at)
  SELECT 'PUSH', d.id, '', now() + interval '10 seconds'
  FROM device d
  WHERE d.user_id = viewer AND d.id <> ALL (device_of_session(session_hash))
    AND NOT EXISTS (SELECT FROM outbox o WHERE o.device_id = d.id AND o.notification_id IS NULL
      AND o.delivered_at IS NULL AND o.failed_at IS NULL)
  ORDER BY d.id;
END $$;
COMMENT ON FUNCTION push_badge IS
  'Adds a push message to the outbox that only changes the number on the icon, for each other device of the viewer for '
  'which none waits.';

CREATE OR REPLACE FUNCTION badge(person bigint, reasons text[]) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT count(*) FROM (
    SELECT FROM visible_notification(person) n
    WHERE n.read_at IS NULL AND (reasons = '{}' OR n.reason = ANY (reasons)) LIMIT 99) b);
END $$;
COMMENT ON FUNCTION badge IS
  'Returns the number on an application''s icon: unread notifications of its reasons, counted up to 99.';

CREATE OR REPLACE FUNCTION is_quiet(person bigint, at timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((
    SELECT CASE WHEN s.quiet_from < s.quiet_to THEN c.clock >= s.quiet_from AND c.clock < s.quiet_to
      ELSE c.clock >= s.quiet_from OR c.clock < s.quiet_to END
    FROM user_setting s, LATERAL (SELECT (at AT TIME ZONE coalesce(s.time_zone, 'UTC'))::time) c(clock)
    WHERE s.user_id = person), false);
END $$;
COMMENT ON FUNCTION is_quiet IS 'Returns whether a moment is in the quiet hours of a user.';

CREATE OR REPLACE FUNCTION notification_end(n notification) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN least(n.created_at + interval '24 hours',
    (SELECT e.starts_at FROM event e WHERE e.post_id = n.about_id),
    (SELECT s.starts_at FROM booking b JOIN class_session s ON s.id = b.session_id WHERE b.id = n.about_id));
END $$;
COMMENT ON FUNCTION notification_end IS
  'Returns when it is too late to push a notification: after a day, and when what it is about begins.';

CREATE OR REPLACE FUNCTION push_of(d device, n notification) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  config app_config;
  language text := spoken(d.locale, d.user_id);
  is_named boolean := coalesce((SELECT s.is_naming_people FROM user_setting s WHERE s.user_id = d.user_id), true);
BEGIN
  SELECT a.* INTO config FROM app_config a WHERE a.app = d.app;
  RETURN jsonb_strip_nulls(jsonb_build_object('app', d.app, 'platform', d.platform, 'isSandbox', d.is_sandbox,
    'topic', config.apns_topic,
    'collapseKey', coalesce(nullif(concat_ws(' ', n.reason, wire_id(n.about_id)), ''), 'badge'),
    'expiresAt', to_char(coalesce(notification_end(n), now() + interval '24 hours') AT TIME ZONE 'UTC',
      'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'expiration', extract(epoch FROM coalesce(notification_end(n), now() + interval '24 hours'))::bigint,
    'text', CASE WHEN n.id IS NOT NULL AND NOT is_quiet(d.user_id, now()) THEN
      left(phrase(language, CASE WHEN is_named OR n.actor_id IS NULL THEN 'push.' || n.phrase ELSE 'push' END,
        jsonb_build_object('actor', plain(n.args[1]), 'count', n.number)), 300) END,
    'badge', badge(d.user_id, config.notification_reasons),
    'isQuiet', n.id IS NULL OR is_quiet(d.user_id, now()),
    'notificationId', wire_id(n.id), 'reason', n.reason,
    'thread', wire_id(n.about_id),
    'destination', replace(link_template(d.app), '{path}', n.destination), 'locale', language));
END $$;
COMMENT ON FUNCTION push_of IS
  'Returns what a push message about a notification says on a device, or without a notification, only the number on '
  'the icon. Never words by users, titles, or anything that a stranger may not read.';

CREATE OR REPLACE FUNCTION apns_of(push jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('headers', jsonb_strip_nulls(jsonb_build_object('apns-topic', push -> 'topic',
      'apns-push-type', CASE WHEN push ? 'text' THEN 'alert' ELSE 'background' END,
      'apns-priority', CASE WHEN push ? 'text' THEN '10' ELSE '5' END,
      'apns-collapse-id', push -> 'collapseKey', 'apns-expiration', push ->> 'expiration')),
    'payload', jsonb_strip_nulls(jsonb_build_object('aps', CASE WHEN push ? 'text' THEN jsonb_build_object(
          'alert', jsonb_build_object('body', push -> 'text'), 'badge', push -> 'badge', 'sound', 'default',
          'thread-id', push -> 'thread', 'mutable-content', 1, 'content-available', 1)
        ELSE jsonb_build_object('badge', push -> 'badge', 'content-available', 1) END,
      'notificationId', push -> 'notificationId', 'reason', push -> 'reason', 'destination', push -> 'destination')))
$$;
COMMENT ON FUNCTION apns_of IS 'Returns a push message as APNs takes it: headers and payload.';

CREATE OR REPLACE FUNCTION fcm_of(push jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN jsonb_build_object('message', jsonb_strip_nulls(jsonb_build_object(
    'notification', CASE WHEN push ? 'text' THEN jsonb_build_object('body', push -> 'text') END,
    'data', jsonb_build_object('notificationId', push -> 'notificationId', 'reason', push -> 'reason',
      'destination', push -> 'destination', 'badge', push ->> 'badge'),
    'android', jsonb_build_object('collapse_key', push -> 'collapseKey',
      'ttl', greatest((push ->> 'expiration')::bigint - extract(epoch FROM now())::bigint, 0) || 's',
      'priority', CASE WHEN push ? 'text' THEN 'HIGH' ELSE 'NORMAL' END,
      'notification', CASE WHEN push ? 'text' THEN jsonb_build_object('channel_id', push -> 'reason',
        'tag', push -> 'collapseKey', 'notification_count', push -> 'badge') END))));
END $$;
COMMENT ON FUNCTION fcm_of IS 'Returns a push message as Firebase Cloud Messaging takes it.';
