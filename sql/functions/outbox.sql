-- What leaves the server: entries of the outbox on their way to whoever delivers them, at least once
-- each. For `sociograph outbox` and `serve --outbox`, of which any number may be at work.

CREATE OR REPLACE FUNCTION mail_of(entry outbox) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  n notification;
  language text := spoken('', entry.user_id);
  given jsonb;
  stop text;
BEGIN
  SELECT v.* INTO n FROM visible_notification(entry.user_id) v WHERE v.id = entry.notification_id AND v.read_at IS NULL;
  IF NOT FOUND OR NOT EXISTS (SELECT FROM app_user u
      WHERE u.id = entry.user_id AND u.email_verified AND u.email = entry.recipient) THEN
    RETURN NULL;
  END IF;
  stop := web_link(mail_app(entry.user_id), 'unsubscribe/' || unsubscribe_token(entry.user_id, n.reason));
  given := jsonb_build_object('text', plain(notification_text(language, n.phrase, n.args, n.number)),
    'link', web_link(mail_app(entry.user_id), n.destination), 'stop', stop);
  RETURN jsonb_build_object('subject', one_line(phrase(language, 'mail.NOTIFICATION.subject', given)),
    'body', phrase(language, 'mail.NOTIFICATION.body', given),
    'headers', jsonb_build_object('List-Unsubscribe', '<' || stop || '>',
      'List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'));
END $$;
COMMENT ON FUNCTION mail_of IS
  'Returns the mail about a notification, with a link that ends such mails. Null if it was read meanwhile, is gone, or '
  'may no longer be seen.';

CREATE OR REPLACE FUNCTION push_message(entry outbox) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  d device;
  n notification;
  push jsonb;
BEGIN
  SELECT e.* INTO d FROM device e WHERE e.id = entry.device_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF entry.notification_id IS NOT NULL THEN
    -- of a device that has changed hands, it is not its user's
    SELECT v.* INTO n FROM visible_notification(d.user_id) v
    WHERE v.id = entry.notification_id AND v.read_at IS NULL;
    IF NOT FOUND OR notification_end(n) <= now() THEN RETURN NULL; END IF;
  END IF;
  push := push_of(d, n);
  RETURN jsonb_build_object('userId', wire_id(d.user_id), 'push', push - '{topic,expiration,thread}'::text[])
    || CASE d.platform WHEN 'APNS' THEN jsonb_build_object('apns', apns_of(push))
      WHEN 'FCM' THEN jsonb_build_object('fcm', fcm_of(push)) ELSE '{}' END;
END $$;
COMMENT ON FUNCTION push_message IS
  'Returns what a push message consists of, worded at this moment. Null if its notification was read meanwhile, is '
  'gone, or may no longer be seen.';

CREATE OR REPLACE FUNCTION outbox_message(entry outbox) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  words jsonb := CASE WHEN entry.channel = 'PUSH' THEN push_message(entry)
    WHEN entry.notification_id IS NOT NULL THEN mail_of(entry) ELSE '{}' END;
BEGIN
  RETURN CASE WHEN entry.channel = 'PUSH' THEN '{}' ELSE jsonb_build_object('recipient', entry.recipient,
      'subject', entry.subject, 'body', entry.body) END
    || jsonb_build_object('id', entry.id::text, 'channel', entry.channel, 'userId', wire_id(entry.user_id),
      'attempt', entry.attempts + 1, 'createdAt', wire_time(entry.created_at)) || words;
END $$;
COMMENT ON FUNCTION outbox_message IS
  'Returns an entry of the outbox as the message that is delivered. Null if there is nothing to tell any more.';

CREATE OR REPLACE FUNCTION outbox_take(lease interval)
RETURNS TABLE (id bigint, message jsonb, sealed bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT ROWS 1 AS $$
DECLARE entry outbox;
BEGIN
  PERFORM write_password_resets();
  -- bounded, as what is left is taken by the next call
  FOR i IN 1..1000 LOOP
    SELECT e.* INTO entry FROM outbox e
    WHERE e.delivered_at IS NULL AND e.failed_at IS NULL AND e.due_at <= now()
    ORDER BY e.due_at, e.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN RETURN; END IF;
    message := outbox_message(entry);
    IF message IS NULL THEN
      UPDATE outbox o SET delivered_at = now() WHERE o.id = entry.id;
      CONTINUE;
    END IF;
    UPDATE outbox o SET due_at = now() + lease WHERE o.id = entry.id;
    id := entry.id;
    sealed := coalesce(entry.token, (SELECT d.token FROM device d WHERE d.id = entry.device_id));
    RETURN NEXT;
    RETURN;
  END LOOP;
END $$;
COMMENT ON FUNCTION outbox_take IS
  'Returns the entry of the outbox that has been due for the longest, as its message and its encrypted token. Returns '
  'no row if there is none. The entry is reserved for the caller during the lease, and due again afterwards. Writes '
  'the mails of requested password resets first, and passes over what there is nothing to tell of any more.';

CREATE OR REPLACE FUNCTION outbox_end(entry bigint, is_delivered boolean, is_final boolean,
  is_gone boolean DEFAULT false)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE is_tried_again boolean;
BEGIN
  IF is_gone THEN DELETE FROM device d WHERE d.id = (SELECT o.device_id FROM outbox o WHERE o.id = entry); END IF;
  UPDATE outbox o SET
    delivered_at = CASE WHEN is_delivered THEN now() END,
    failed_at = CASE WHEN NOT is_delivered AND (is_final OR o.attempts >= 19) THEN now() END,
    attempts = o.attempts + (NOT is_delivered)::int,
    due_at = now() + (0.75 + random() / 2)
      * least(interval '10 seconds' * 2 ^ least(o.attempts, 20), interval '6 hours'),
    token = CASE WHEN NOT (is_delivered OR is_final OR o.attempts >= 19) THEN o.token END
  WHERE o.id = entry AND o.delivered_at IS NULL
  RETURNING o.delivered_at IS NULL AND o.failed_at IS NULL INTO is_tried_again;
  RETURN coalesce(is_tried_again, false);
END $$;
COMMENT ON FUNCTION outbox_end IS
  'Records that an entry was delivered, or that it failed. A failed entry is due again after 10 seconds, 20, 40, and '
  'so on up to 6 hours. It is abandoned if is_final, or at the twentieth failure. With is_gone, nobody is reached '
  'there any more: a device is deleted. Returns whether it will be retried.';

-- Ending mails by their link, without signing in.

CREATE OR REPLACE FUNCTION unsubscribe_token(account bigint, reason text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE token text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
BEGIN
  -- earlier mails keep theirs
  INSERT INTO one_time_token (token_hash, purpose, user_id, expires_at)
  VALUES (sha256(convert_to(token, 'UTF8')), 'UNSUBSCRIBE ' || reason, account, now() + interval '90 days');
  RETURN token;
END $$;
COMMENT ON FUNCTION unsubscribe_token IS
  'Returns a new token that ends mails about a reason to an account, and stores its hash.';

CREATE OR REPLACE FUNCTION unsubscribe(token text, wanted text, is_done boolean)
RETURNS TABLE (words text, label text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT ROWS 1 AS $$
DECLARE
  account bigint;
  chosen text;
  language text;
BEGIN
  SELECT t.user_id, split_part(t.purpose, ' ', 2) INTO account, chosen FROM one_time_token t
  WHERE t.token_hash = sha256(convert_to(token, 'UTF8')) AND t.purpose LIKE 'UNSUBSCRIBE %' AND t.expires_at > now();
  IF NOT FOUND THEN RETURN; END IF;
  language := spoken(wanted, account);
  IF NOT is_done THEN
    RETURN QUERY SELECT phrase(language, 'unsubscribe.ask'), phrase(language, 'unsubscribe.button');
    RETURN;
  END IF;
  PERFORM FROM app_user u WHERE u.id = account FOR NO KEY UPDATE;
  INSERT INTO notification_rule (user_id, reason, channels)
  VALUES (account, chosen, array_remove(wanted_channels(account, chosen), 'EMAIL'))
  ON CONFLICT (user_id, reason) DO UPDATE SET channels = EXCLUDED.channels;
  RETURN QUERY SELECT phrase(language, 'unsubscribe.done'), NULL::text;
END $$;
COMMENT ON FUNCTION unsubscribe IS
  'Ends mails about the reason that a token from one of them stands for, if is_done, as often as it is sent; otherwise '
  'asks. Returns the words and the label of a button to show, which tell nothing of the account. No row for an unknown '
  'or expired token.';
