-- Accounts: signing up, in and out, and what a person does with their own account.
--
-- Passwords never get here: the server hashes and compares them (@password). Of tokens only SHA-256 is
-- kept. What a stranger could learn from an answer (whether there is an account) is not in it.

CALL node('session', 60, owner => 'user_id', is_told => false);
-- that one began or ended; not each use, which is noted every few minutes
CALL watch('session', '{added,removed}', 'tell_changed', 'sign_in user_id user_id');
CALL told('session', 'sign_in', '{user_id}');
CALL tell('identity', 'identity', 'user_id', '{user_id}');
-- e-mail and postal address
CALL told('app_user', 'account', '{id}', only_columns => true, is_own => true);
CALL exported('identities', $$
  SELECT jsonb_build_object(
    'provider', i.provider, 'externalId', i.external_id)
  FROM identity i WHERE i.user_id = $1$$);
CALL exported('sessions', $$
  SELECT jsonb_build_object('device', s.device,
    'createdAt', wire_time(s.created_at), 'expiresAt', wire_time(s.expires_at))
  FROM session s WHERE s.user_id = $1
  ORDER BY s.created_at$$);

CREATE OR REPLACE FUNCTION visible_session(viewer bigint)
RETURNS TABLE (id bigint, user_id bigint, app text, device text, created_at timestamptz,
  last_used_at timestamptz, expires_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT s.id, s.user_id, s.app, s.device, s.created_at, s.last_used_at, s.expires_at
  FROM session s WHERE s.user_id = viewer
$$;
COMMENT ON FUNCTION visible_session IS
  'Returns the sessions of the viewer. The columns are named, because nobody may read what sessions are known '
  'by.';

CREATE OR REPLACE FUNCTION begin_session(account bigint, token_hash bytea, device text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE made bigint;
BEGIN
  PERFORM FROM app_user u WHERE u.id = account FOR NO KEY UPDATE;
  PERFORM refuse_suspended(account);
  INSERT INTO session (token_hash, user_id, device, app, expires_at)
  VALUES (begin_session.token_hash, account, left(begin_session.device, 200), app_now(),
    now() + interval '90 days')
  RETURNING id INTO made;
  DELETE FROM session s WHERE s.user_id = account AND s.token_hash IN (
    SELECT o.token_hash FROM session o WHERE o.user_id = account
    ORDER BY o.token_hash = begin_session.token_hash DESC,
      coalesce(o.last_used_at, o.created_at) DESC, o.id DESC OFFSET 20);
  RETURN made;
END $$;
COMMENT ON FUNCTION begin_session IS
  'Begins a session for the account, identified by the hash of its token, and returns its ID. Refuses while the '
  'account is suspended. Ends the least recently used sessions beyond twenty.';

CREATE OR REPLACE FUNCTION refuse_suspended(account bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE until timestamptz := (SELECT u.suspended_until FROM app_user u WHERE u.id = account);
BEGIN
  IF until = 'infinity' THEN
    PERFORM refuse('SUSPENDED');
  ELSIF until > now() THEN
    PERFORM refuse_as(worded(refusal('SUSPENDED'), 'SUSPENDED_UNTIL', jsonb_build_object(
      'date', spoken_time(spoken_now(), zone_of(account), until))));
  END IF;
END $$;
COMMENT ON FUNCTION refuse_suspended IS 'Refuses while an account is suspended.';

CREATE OR REPLACE FUNCTION new_one_time_token(account bigint, use text, lasts interval)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  token text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
BEGIN
  DELETE FROM one_time_token t WHERE t.user_id = account AND t.purpose = use;
  INSERT INTO one_time_token (token_hash, purpose, user_id, expires_at)
  VALUES (sha256(convert_to(token, 'UTF8')), use, account, now() + lasts);
  RETURN token;
END $$;
COMMENT ON FUNCTION new_one_time_token IS
  'Returns a new token that works once, and stores its hash. Replaces earlier tokens of the account for the same '
  'purpose.';

CREATE OR REPLACE FUNCTION mail_owner(account bigint, key text, given jsonb DEFAULT '{}')
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE language text := spoken('', account);
BEGIN
  INSERT INTO outbox (channel, user_id, recipient, subject, body)
  SELECT 'EMAIL', u.id, u.email, one_line(phrase(language, format('mail.%s.subject', key), given)),
    phrase(language, format('mail.%s.body', key), given)
  FROM app_user u WHERE u.id = account AND u.email_verified AND u.email IS NOT NULL;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION mail_owner IS
  'Mails the phrases of a key, mail.<key>.subject and mail.<key>.body, to the verified address of an account, in its '
  'language. Returns false, and mails nothing, if it has none.';

CREATE OR REPLACE FUNCTION may_mail(kind text, whom text, pause interval)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO mail_time (key, mailed_at)
  VALUES (sha256(convert_to(kind || ' ' || whom, 'UTF8')), now())
  ON CONFLICT (key) DO UPDATE SET mailed_at = now() WHERE mail_time.mailed_at <= now() - pause;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION may_mail IS
  'Returns whether the last mail of this kind to this account or address is at least this long ago. If so, records '
  'that one is mailed now.';

CREATE OR REPLACE FUNCTION mail_verification(account bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  address text := (SELECT u.email FROM app_user u WHERE u.id = account AND NOT u.email_verified);
  language text := spoken('', account);
BEGIN
  IF address IS NULL
    -- the account first: an account that has to wait must not make an address wait
    OR NOT may_mail('VERIFY_EMAIL', account::text, interval '1 minute')
    OR NOT may_mail('VERIFY_EMAIL', lower(address), interval '1 minute') THEN
    RETURN;
  END IF;
  INSERT INTO outbox (channel, user_id, recipient, subject, body)
  VALUES ('EMAIL', account, address, phrase(language, 'mail.VERIFY_EMAIL.subject'),
    phrase(language, 'mail.VERIFY_EMAIL.body', jsonb_build_object('link', web_link(mail_app(account),
      'verify/' || new_one_time_token(account, 'VERIFY_EMAIL', interval '3 days')))));
END $$;
COMMENT ON FUNCTION mail_verification IS
  'Mails a token that verifies the account''s email address. Sent at most once a minute to each account and each '
  'address. Besides password resets, the only mail to an unverified address.';

CREATE OR REPLACE FUNCTION password_refusals(hash text, VARIADIC path text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN hash IS NULL OR hash = '!' THEN jsonb_build_array(worded(refusal('REQUIRED', VARIADIC path), 'PASSWORD'))
    WHEN hash = '!TOO_LONG' THEN jsonb_build_array(
      limited(worded(refusal('TOO_LONG', VARIADIC path), 'PASSWORD_LONG'), NULL, 256))
    WHEN hash = '!TOO_SHORT' THEN jsonb_build_array(
      limited(worded(refusal('TOO_SHORT', VARIADIC path), 'PASSWORD_SHORT'), 8, NULL))
    WHEN hash LIKE '!%' THEN jsonb_build_array(refusal('COMMON_PASSWORD', VARIADIC path))
    ELSE '[]'::jsonb END
$$;
COMMENT ON FUNCTION password_refusals IS
  'Returns the errors of a new password. The server passes its hash, or "!" and the rule that the password breaks.';

CREATE OR REPLACE FUNCTION username_refusals(viewer bigint, name text, VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE
    WHEN words(name) IS NULL THEN jsonb_build_array(worded(refusal('REQUIRED', VARIADIC path), 'USERNAME'))
    WHEN length(name) > 40 THEN jsonb_build_array(
      limited(worded(refusal('TOO_LONG', VARIADIC path), 'USERNAME_FORM'), 2, 40))
    WHEN name !~ '^[A-Za-z0-9_.]{2,40}$' THEN jsonb_build_array(
      limited(worded(refusal('INVALID', VARIADIC path), 'USERNAME_FORM'), 2, 40))
    WHEN EXISTS (SELECT FROM app_user u WHERE lower(u.username) = lower(name) AND u.id <> viewer)
      THEN jsonb_build_array(worded(refusal('TAKEN', VARIADIC path), 'USERNAME_TAKEN'))
    ELSE '[]'::jsonb END;
END $$;
COMMENT ON FUNCTION username_refusals IS 'Returns the errors of a username: missing, too long, malformed, or taken.';

CREATE OR REPLACE FUNCTION set_password(account bigint, new_hash text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO password (user_id, hash) VALUES (account, new_hash)
  ON CONFLICT (user_id) DO UPDATE SET hash = EXCLUDED.hash;
END $$;
COMMENT ON FUNCTION set_password IS
  'Sets the hash that passwords are compared with. Call it under the lock of the account.';

CREATE OR REPLACE FUNCTION new_account(username text, display_name text, hash text, email text,
  is_verified boolean, address text, home bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE made bigint;
BEGIN
  INSERT INTO app_user (username, display_name, name_key, email, email_verified, address, home_id)
  VALUES (new_account.username, coalesce(words(new_account.display_name), new_account.username),
    folded(coalesce(words(new_account.display_name), new_account.username)), new_account.email,
    is_verified, new_account.address, home)
  RETURNING id INTO made;
  IF hash IS NOT NULL THEN PERFORM set_password(made, hash); END IF;
  INSERT INTO circle_member (circle_id, user_id)
  SELECT c.id, made FROM circle c WHERE c.is_default ORDER BY c.id;
  RETURN made;
END $$;
COMMENT ON FUNCTION new_account IS 'Creates an account that is subscribed to all default channels, and returns its ID.';

CREATE OR REPLACE FUNCTION accept_code(account bigint, secret text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE invitation i SET invitee_id = account, status = 'ACCEPTED'
  WHERE i.code = secret AND i.event_id IS NULL AND i.invitee_id IS NULL AND i.inviter_id <> account
    AND i.status = 'PENDING';
END $$;
COMMENT ON FUNCTION accept_code IS
  'Accepts the invitation with this code for the account that signed up with it. An unknown code, and that of an '
  'invitation that was taken back, is ignored.';

CREATE OR REPLACE FUNCTION sign_up(input jsonb, hash text, picture jsonb, token_hash bytea, device text)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  mail text := words(input ->> 'email');
  home bigint := (input ->> 'homeLocationId')::bigint;
  refusals jsonb := username_refusals(0, input ->> 'username', 'input', 'username')
    || password_refusals(hash, 'input', 'password')
    || name_refusals(input ->> 'displayName', false, 80, 'input', 'displayName')
    || text_refusals(input ->> 'bio', false, 2000, 'input', 'bio')
    || text_refusals(input ->> 'address', false, 1000, 'input', 'address') || setting_refusals(input);
BEGIN
  IF mail IS NOT NULL AND NOT is_email(mail) THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'email'), 'EMAIL_FORM');
  END IF;
  IF home IS NOT NULL AND NOT EXISTS (SELECT FROM location l WHERE l.id = home) THEN
    refusals := refusals || refusal('NOT_FOUND', 'input', 'homeLocationId');
  END IF;
  refusals := refusals || CASE WHEN picture ? 'fault' THEN refusal(picture ->> 'fault', 'input', 'avatar')
    WHEN picture ->> 'moderation' = 'REJECTED'
      OR EXISTS (SELECT FROM rejected_picture r WHERE r.path = picture ->> 'path')
      THEN refusal('REJECTED_PHOTO', 'input', 'avatar')
    ELSE '[]' END;
  PERFORM refuse_all(refusals);
  made := new_account(input ->> 'username', input ->> 'displayName', hash, mail, false,
    words(input ->> 'address'), home);
  UPDATE app_user u SET bio = coalesce(words(input ->> 'bio'), ''), card_preference = input ->> 'cardPreference'
  WHERE u.id = made AND (input ? 'bio' OR input ? 'cardPreference');
  PERFORM set_language(made, jsonb_build_object('locale', known_locale(current_setting('sociograph.locale', true)))
    || input);
  IF picture IS NOT NULL THEN
    UPDATE app_user u SET avatar_id = photo_of_sent(made, picture) WHERE u.id = made;
  END IF;
  PERFORM accept_code(made, input ->> 'invitationCode');
  PERFORM mail_verification(made);
  PERFORM audit(made, 'SIGN_UP');
  RETURN jsonb_build_object('account', made, 'isNew', true,
    'session', begin_session(made, token_hash, device));
END $$;
COMMENT ON FUNCTION sign_up IS
  'Implements Mutation.signUp. picture: what the server has stored of the profile picture, or null.';

CREATE OR REPLACE FUNCTION sign_up_again(result jsonb, matched text, token_hash bytea, device text)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE account bigint := (result ->> 'account')::bigint;
BEGIN
  PERFORM FROM app_user u WHERE u.id = account FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM password p WHERE p.user_id = account AND p.hash = matched) THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', 'input', 'password'), 'PASSWORD_WRONG'));
  END IF;
  RETURN result || jsonb_build_object('session', begin_session(account, token_hash, device));
END $$;
COMMENT ON FUNCTION sign_up_again IS
  'Implements a repeated Mutation.signUp: begins another session if the account still has the password of the request. '
  'matched: the hash that the password matched.';

CREATE OR REPLACE FUNCTION password_of_name(name text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  -- lower() makes ASCII letters of some that are none: each spelling would have guesses of its own
  RETURN (SELECT p.hash FROM app_user u JOIN password p ON p.user_id = u.id
    WHERE lower(u.username) = lower(name) AND name ~ '^[A-Za-z0-9_.]+$');
END $$;
COMMENT ON FUNCTION password_of_name IS
  'Returns the hash to compare a password with. Null if there is no such account, or if it has no password.';

CREATE OR REPLACE FUNCTION password_of_viewer(viewer bigint) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (SELECT p.hash FROM password p WHERE p.user_id = viewer);
END $$;
COMMENT ON FUNCTION password_of_viewer IS
  'Returns the hash to compare the viewer''s password with. Null if the viewer has none.';

CREATE OR REPLACE FUNCTION sign_in(name text, matched text, renewed text, token_hash bytea, device text)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE account bigint;
BEGIN
  SELECT u.id INTO account FROM app_user u JOIN password p ON p.user_id = u.id
  WHERE lower(u.username) = lower(name) AND p.hash = matched FOR NO KEY UPDATE OF u;
  -- looked at again behind the lock
  IF NOT EXISTS (SELECT FROM password p WHERE p.user_id = account AND p.hash = matched) THEN
    PERFORM refuse('WRONG_CREDENTIALS');
  END IF;
  IF renewed IS NOT NULL THEN PERFORM set_password(account, renewed); END IF;
  PERFORM audit(account, 'SIGN_IN');
  RETURN jsonb_build_object('account', account, 'isNew', false,
    'session', begin_session(account, token_hash, device));
END $$;
COMMENT ON FUNCTION sign_in IS 'Implements Mutation.signIn. matched: the hash that the password matched, or null.';

CREATE OR REPLACE FUNCTION free_username(wish text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  base text := left(regexp_replace(folded(coalesce(wish, '')), '[^a-z0-9_.]+', '', 'g'), 30);
  name text;
  number int := 1;
BEGIN
  IF length(base) < 2 THEN base := 'user'; END IF;
  name := base;
  LOOP
    -- a name that somebody else is about to get is passed over; looked for after it is held
    IF pg_try_advisory_xact_lock(hashtextextended('username ' || name, 0)) THEN
      EXIT WHEN NOT EXISTS (SELECT FROM app_user u WHERE lower(u.username) = name);
    END IF;
    number := number + 1;
    -- past a few the numbers are random, so that common names take few looks
    name := base || CASE WHEN number < 10 THEN number ELSE 10 + floor(random() * 1e8)::int END;
  END LOOP;
  RETURN name;
END $$;
COMMENT ON FUNCTION free_username IS
  'Returns a username that is not taken, made from the letters and digits of a text and, if needed, a number.';

CREATE OR REPLACE FUNCTION spend_credential(claims jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO spent_credential (digest, expires_at)
  VALUES (decode(claims ->> 'digest', 'hex'), to_timestamp(least((claims ->> 'endsAt')::bigint, 32503680000)))
  ON CONFLICT (digest) DO NOTHING;
  IF NOT FOUND THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', 'credential'), 'CREDENTIAL'));
  END IF;
END $$;
COMMENT ON FUNCTION spend_credential IS
  'Refuses an identity token that was used before. Otherwise records its use, so that a copy of it signs nobody in.';

CREATE OR REPLACE FUNCTION sign_in_with_provider(service text, claims jsonb, allow boolean,
  token_hash bytea, device text)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  account bigint;
  is_new boolean := false;
  mailbox text := CASE WHEN is_email(claims ->> 'email') THEN claims ->> 'email' END;
  verified text;
BEGIN
  IF claims IS NULL THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', 'credential'), 'CREDENTIAL'));
  END IF;
  IF claims ? 'unknown' THEN PERFORM refuse('NOT_CONFIGURED', 'provider'); END IF;
  -- two first sign-ins of one identity at once make one account
  PERFORM pg_advisory_xact_lock(hashtextextended('identity ' || service, 0)
    # hashtextextended(claims ->> 'subject', 1));
  SELECT i.user_id INTO account FROM identity i
  WHERE i.provider = service AND i.external_id = claims ->> 'subject';
  IF NOT FOUND THEN
    IF NOT allow THEN
      PERFORM refuse_as(worded(refusal('NOT_FOUND', 'credential'), 'NO_ACCOUNT'));
    END IF;
    is_new := true;
    verified := CASE WHEN (claims ->> 'isEmailVerified')::boolean AND NOT EXISTS (
        SELECT FROM app_user u WHERE lower(u.email) = lower(mailbox) AND u.email_verified)
      THEN mailbox END;
    account := new_account(
      free_username(coalesce(claims ->> 'preferredUsername', split_part(mailbox, '@', 1))),
      left(one_line(claims ->> 'name'), 80), NULL,
      coalesce(verified, CASE WHEN NOT (claims ->> 'isEmailVerified')::boolean THEN mailbox END),
      verified IS NOT NULL, NULL, NULL);
    PERFORM set_language(account,
      jsonb_build_object('locale', known_locale(current_setting('sociograph.locale', true))));
    INSERT INTO identity (provider, external_id, user_id) VALUES (service, claims ->> 'subject', account);
  END IF;
  PERFORM spend_credential(claims);
  PERFORM audit(account, CASE WHEN is_new THEN 'SIGN_UP' ELSE 'SIGN_IN' END, NULL, service);
  RETURN jsonb_build_object('account', account, 'isNew', is_new,
    'session', begin_session(account, token_hash, device));
END $$;
COMMENT ON FUNCTION sign_in_with_provider IS
  'Implements Mutation.signInWithProvider. claims: the claims of the credential. They are null if the provider did not '
  'issue it, and {"unknown": true} if there are no keys for the provider.';

CREATE OR REPLACE FUNCTION provider_name(service text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE service WHEN 'AOL' THEN service ELSE initcap(service) END
$$;
COMMENT ON FUNCTION provider_name IS 'Returns the name of an identity provider for mails.';

CREATE OR REPLACE FUNCTION link_provider(viewer bigint, session_hash bytea, matched text, service text,
  claims jsonb, sealed bytea)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE is_new boolean;
BEGIN
  PERFORM require_viewer(viewer);
  IF claims IS NULL THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', 'credential'), 'CREDENTIAL'));
  END IF;
  IF claims ? 'unknown' THEN PERFORM refuse('NOT_CONFIGURED', 'provider'); END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('identity ' || service, 0)
    # hashtextextended(claims ->> 'subject', 1));
  PERFORM require_owner(viewer, session_hash, matched, 'currentPassword');
  IF EXISTS (SELECT FROM identity i WHERE i.provider = service
      AND i.external_id = claims ->> 'subject' AND i.user_id <> viewer) THEN
    PERFORM refuse_as(worded(refusal('TAKEN', 'credential'), 'LINKED_ELSEWHERE'));
  END IF;
  IF EXISTS (SELECT FROM identity i WHERE i.provider = service AND i.user_id = viewer
      AND i.external_id <> claims ->> 'subject') THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'provider'), 'LINKED_OTHER'));
  END IF;
  is_new := NOT EXISTS (SELECT FROM identity i WHERE i.provider = service AND i.user_id = viewer);
  IF is_new THEN PERFORM spend_credential(claims); END IF;
  INSERT INTO identity (provider, external_id, user_id, access_token)
  VALUES (service, claims ->> 'subject', viewer, sealed)
  ON CONFLICT (provider, external_id) DO UPDATE
  SET access_token = coalesce(EXCLUDED.access_token, identity.access_token);
  PERFORM audit(viewer, 'LINK_PROVIDER', NULL, service);
  IF is_new THEN
    PERFORM mail_owner(viewer, 'LINK_PROVIDER', jsonb_build_object('provider', provider_name(service)));
  END IF;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION link_provider IS
  'Implements Mutation.linkProvider. Requires the owner of the account, because a linked identity can sign in, and '
  'mails the owner.';

CREATE OR REPLACE FUNCTION unlink_provider(viewer bigint, session_hash bytea, matched text, service text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM require_owner(viewer, session_hash, matched, 'currentPassword');
  IF NOT EXISTS (SELECT FROM identity i WHERE i.user_id = viewer AND i.provider <> service)
    AND NOT EXISTS (SELECT FROM password p WHERE p.user_id = viewer)
    AND EXISTS (SELECT FROM identity i WHERE i.user_id = viewer AND i.provider = service) THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN', 'provider'), 'LAST_SIGN_IN'));
  END IF;
  DELETE FROM identity i WHERE i.user_id = viewer AND i.provider = service;
  IF FOUND THEN
    PERFORM delete_external_contacts(viewer, service);
    PERFORM audit(viewer, 'UNLINK_PROVIDER', NULL, service);
    PERFORM mail_owner(viewer, 'UNLINK_PROVIDER', jsonb_build_object('provider', provider_name(service)));
  END IF;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION unlink_provider IS
  'Implements Mutation.unlinkProvider, unless it is the last way to sign in. Requires the owner of the account, and '
  'mails the owner.';

CREATE OR REPLACE FUNCTION sign_out(viewer bigint, session_hash bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  DELETE FROM session s WHERE s.token_hash = session_hash AND s.user_id = viewer;
  PERFORM audit(viewer, 'SIGN_OUT');
END $$;
COMMENT ON FUNCTION sign_out IS 'Implements Mutation.signOut, which ends the session of the request.';

CREATE OR REPLACE FUNCTION revoke_session(viewer bigint, session_hash bytea, matched text, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  -- The password is asked for only after the session is known to be the viewer's.
  IF NOT EXISTS (SELECT FROM session s WHERE s.id = target AND s.user_id = viewer) THEN
    PERFORM refuse('NOT_FOUND', 'sessionId');
  END IF;
  IF matched IS NOT NULL OR NOT EXISTS (
      SELECT FROM session s WHERE s.id = target AND s.token_hash = session_hash) THEN
    PERFORM require_owner(viewer, session_hash, matched, 'password');
  END IF;
  DELETE FROM session s WHERE s.id = target AND s.user_id = viewer;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'sessionId'); END IF;
  PERFORM audit(viewer, 'REVOKE_SESSION', target);
  RETURN viewer;
END $$;
COMMENT ON FUNCTION revoke_session IS
  'Implements Mutation.revokeSession. Requires the owner of the account, so that an old stolen token cannot end other '
  'sessions.';

CREATE OR REPLACE FUNCTION require_owner(viewer bigint, session_hash bytea, matched text,
  VARIADIC path text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM app_user u WHERE u.id = viewer FOR NO KEY UPDATE;
  IF matched IS NOT NULL
    AND NOT EXISTS (SELECT FROM password p WHERE p.user_id = viewer AND p.hash = matched) THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', VARIADIC path), 'PASSWORD_WRONG'));
  END IF;
  IF matched IS NULL AND NOT EXISTS (
      SELECT FROM session s WHERE s.token_hash = session_hash AND s.user_id = viewer
        AND s.created_at > now() - interval '15 minutes') THEN
    PERFORM refuse_as(worded(refusal('REQUIRED', VARIADIC path), 'PASSWORD_ASKED'));
  END IF;
END $$;
COMMENT ON FUNCTION require_owner IS
  'Refuses unless the session of the request began within 15 minutes or the password was given. matched: the hash that '
  'the password matched. It is '''' for a wrong password and null if none was given.';

CREATE OR REPLACE FUNCTION change_password(viewer bigint, session_hash bytea, matched text, hash text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(password_refusals(hash, 'newPassword'));
  PERFORM require_owner(viewer, session_hash, matched, 'currentPassword');
  PERFORM set_password(viewer, hash);
  DELETE FROM session s WHERE s.user_id = viewer AND s.token_hash <> session_hash;
  DELETE FROM one_time_token t WHERE t.user_id = viewer AND t.purpose = 'RESET_PASSWORD';
  PERFORM audit(viewer, 'CHANGE_PASSWORD');
  PERFORM mail_owner(viewer, 'CHANGE_PASSWORD');
  RETURN viewer;
END $$;
COMMENT ON FUNCTION change_password IS 'Implements Mutation.changePassword, which ends all other sessions.';

CREATE OR REPLACE FUNCTION request_password_reset(wanted text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF is_email(words(wanted)) THEN
    INSERT INTO reset_request (address) VALUES (lower(words(wanted)))
    ON CONFLICT (address) DO NOTHING;
  END IF;
END $$;
COMMENT ON FUNCTION request_password_reset IS
  'Implements Mutation.requestPasswordReset, which only records the address. The account is looked up when the outbox '
  'is emptied, so that the response time reveals nothing.';

CREATE OR REPLACE FUNCTION mail_reset(accounts bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  language text := spoken('', accounts[1]);
  links text := (SELECT string_agg(phrase(language, 'mail.RESET_PASSWORD.account', jsonb_build_object('name',
      u.username, 'link', web_link(mail_app(u.id),
        'reset/' || new_one_time_token(u.id, 'RESET_PASSWORD', interval '1 hour')))), '' ORDER BY a.place)
    FROM unnest(accounts) WITH ORDINALITY a(id, place) JOIN app_user u ON u.id = a.id);
BEGIN
  INSERT INTO outbox (channel, user_id, recipient, subject, body)
  SELECT 'EMAIL', u.id, u.email, phrase(language, 'mail.RESET_PASSWORD.subject'),
    phrase(language, 'mail.RESET_PASSWORD.body', jsonb_build_object('accounts', links))
  FROM app_user u WHERE u.id = accounts[1];
END $$;
COMMENT ON FUNCTION mail_reset IS
  'Mails a token for a new password of each of these accounts, which all have the address of the first.';

CREATE OR REPLACE FUNCTION write_password_resets() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  addresses text[];
  mailbox text;
  accounts bigint[];
BEGIN
  WITH gone AS (
    DELETE FROM reset_request r WHERE r.address IN (
      SELECT o.address FROM reset_request o ORDER BY o.asked_at LIMIT 1000 FOR UPDATE SKIP LOCKED)
    RETURNING r.address)
  SELECT array_agg(g.address ORDER BY g.address) INTO addresses FROM gone g;
  PERFORM FROM app_user u WHERE lower(u.email) = ANY (addresses) ORDER BY u.id FOR NO KEY UPDATE;
  FOREACH mailbox IN ARRAY coalesce(addresses, '{}') LOOP
    -- the one account that has shown it to be its owner's, or all that say so
    accounts := ARRAY(SELECT u.id FROM app_user u WHERE lower(u.email) = mailbox
      ORDER BY u.email_verified DESC, (SELECT max(coalesce(s.last_used_at, s.created_at)) FROM session s
        WHERE s.user_id = u.id) DESC NULLS LAST, u.id
      LIMIT CASE WHEN EXISTS (SELECT FROM app_user v WHERE lower(v.email) = mailbox AND v.email_verified) THEN 1
        ELSE 5 END);
    CONTINUE WHEN accounts = '{}' OR NOT may_mail('RESET_PASSWORD', mailbox, interval '10 minutes');
    PERFORM mail_reset(accounts);
    PERFORM audit(a.id, 'REQUEST_PASSWORD_RESET') FROM unnest(accounts) a(id);
  END LOOP;
  RETURN coalesce(cardinality(addresses), 0);
END $$;
COMMENT ON FUNCTION write_password_resets IS
  'Writes the mails of requestPasswordReset, at most one in ten minutes for each address: for the account that has '
  'verified it, otherwise for up to five that have it, those used last. Returns the number of handled requests, at '
  'most 1000.';

CREATE OR REPLACE FUNCTION claim_address(account bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE app_user u SET email_verified = true
  WHERE u.id = account AND NOT u.email_verified AND u.email IS NOT NULL;
EXCEPTION WHEN unique_violation THEN NULL;
END $$;
COMMENT ON FUNCTION claim_address IS
  'Verifies the address of an account that was reached by it, unless another account has verified it.';

CREATE OR REPLACE FUNCTION use_token(token text, use text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE account bigint;
BEGIN
  DELETE FROM one_time_token t
  WHERE t.token_hash = sha256(convert_to(token, 'UTF8')) AND t.purpose = use AND t.expires_at > now()
  RETURNING t.user_id INTO account;
  IF account IS NULL THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', 'token'), 'LINK_USED'));
  END IF;
  RETURN account;
END $$;
COMMENT ON FUNCTION use_token IS
  'Uses up a one-time token and returns the ID of its account. Refuses an unknown or expired token.';

CREATE OR REPLACE FUNCTION reset_password(token text, hash text, token_hash bytea, device text)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE account bigint;
BEGIN
  PERFORM refuse_all(password_refusals(hash, 'newPassword'));
  PERFORM FROM app_user u WHERE u.id = (SELECT t.user_id FROM one_time_token t
    WHERE t.token_hash = sha256(convert_to(token, 'UTF8'))) FOR NO KEY UPDATE;
  account := use_token(token, 'RESET_PASSWORD');
  PERFORM set_password(account, hash);
  PERFORM claim_address(account);
  DELETE FROM session s WHERE s.user_id = account;
  PERFORM audit(account, 'RESET_PASSWORD');
  RETURN jsonb_build_object('account', account, 'isNew', false,
    'session', begin_session(account, token_hash, device));
END $$;
COMMENT ON FUNCTION reset_password IS
  'Implements Mutation.resetPassword, which ends all sessions and begins one. The token shows that the address is the '
  'user''s.';

CREATE OR REPLACE FUNCTION verify_email(viewer bigint, token text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE mailbox text;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM FROM app_user u WHERE u.id = viewer FOR NO KEY UPDATE;
  IF use_token(token, 'VERIFY_EMAIL') <> viewer THEN
    PERFORM refuse_as(worded(refusal('WRONG_CREDENTIALS', 'token'), 'LINK_USED'));
  END IF;
  mailbox := (SELECT u.email FROM app_user u WHERE u.id = viewer);
  IF EXISTS (SELECT FROM app_user u
      WHERE lower(u.email) = lower(mailbox) AND u.email_verified AND u.id <> viewer) THEN
    PERFORM refuse_as(worded(refusal('TAKEN', 'token'), 'EMAIL_TAKEN'));
  END IF;
  UPDATE app_user u SET email_verified = true WHERE u.id = viewer AND NOT u.email_verified;
  PERFORM audit(viewer, 'VERIFY_EMAIL');
  RETURN viewer;
END $$;
COMMENT ON FUNCTION verify_email IS
  'Implements Mutation.verifyEmail. Only the owner of the mailbox learns that another account has verified the '
  'address.';

CREATE OR REPLACE FUNCTION resend_verification(viewer bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM FROM app_user u WHERE u.id = viewer FOR NO KEY UPDATE;
  PERFORM mail_verification(viewer);
END $$;
COMMENT ON FUNCTION resend_verification IS 'Implements Mutation.resendVerification, at most one mail a minute.';

CREATE OR REPLACE FUNCTION profile_refusals(viewer bigint, input jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  mail text := words(input ->> 'email');
  picture bigint := (input ->> 'avatarPhotoId')::bigint;
  home bigint := (input ->> 'homeLocationId')::bigint;
  refusals jsonb := '[]';
BEGIN
  IF input ? 'username' THEN
    refusals := refusals || username_refusals(viewer, input ->> 'username', 'input', 'username');
  END IF;
  IF mail IS NOT NULL AND NOT is_email(mail) THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'email'), 'EMAIL_FORM');
  END IF;
  IF input ? 'displayName' THEN
    refusals := refusals || name_refusals(input ->> 'displayName', true, 80, 'input', 'displayName');
  END IF;
  IF picture IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM photo f WHERE f.id = picture AND f.owner_id = viewer) THEN
      refusals := refusals || refusal('NOT_FOUND', 'input', 'avatarPhotoId');
    ELSIF EXISTS (SELECT FROM photo f WHERE f.id = picture AND f.moderation = 'REJECTED') THEN
      refusals := refusals || refusal('REJECTED_PHOTO', 'input', 'avatarPhotoId');
    END IF;
  END IF;
  IF NOT is_url(web_address(input ->> 'website')) THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'website'), 'URL_FORM');
  END IF;
  IF home IS NOT NULL AND NOT EXISTS (SELECT FROM location l WHERE l.id = home) THEN
    refusals := refusals || refusal('NOT_FOUND', 'input', 'homeLocationId');
  END IF;
  RETURN refusals
    || text_refusals(input ->> 'bio', false, 2000, 'input', 'bio')
    || text_refusals(input ->> 'address', false, 1000, 'input', 'address')
    || setting_refusals(input)
    || location_refusals(id_list(input -> 'shipsToLocationIds'), 'input', 'shipsToLocationIds');
END $$;
COMMENT ON FUNCTION profile_refusals IS 'Returns the errors of the input of updateProfile.';

CREATE OR REPLACE FUNCTION update_profile(viewer bigint, session_hash bytea, matched text, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  old app_user;
  mail text := words(input ->> 'email');
  picture bigint := (input ->> 'avatarPhotoId')::bigint;
  home bigint := (input ->> 'homeLocationId')::bigint;
  places bigint[] := id_list(input -> 'shipsToLocationIds');
BEGIN
  PERFORM require_viewer(viewer);
  -- no place that it names is merged into another meanwhile (merge_locations)
  IF input ? 'homeLocationId' OR input ? 'shipsToLocationIds' THEN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('location tree', 0));
  END IF;
  -- a name stands beside whom its bearer follows, too: nobody follows or unfollows meanwhile
  IF input ? 'displayName' THEN
    PERFORM take_people(ARRAY[viewer]);
    -- and nobody adds a row with the name (name_row)
    PERFORM pg_advisory_xact_lock(hashtextextended('name', viewer));
  END IF;
  SELECT u.* INTO old FROM app_user u WHERE u.id = viewer FOR NO KEY UPDATE;
  PERFORM refuse_all(profile_refusals(viewer, input));
  IF matched IS NOT NULL OR input ? 'email' AND mail IS DISTINCT FROM old.email THEN
    PERFORM require_owner(viewer, session_hash, matched, 'input', 'currentPassword');
  END IF;
  IF input ? 'email' AND mail IS DISTINCT FROM old.email THEN
    PERFORM mail_owner(viewer, 'CHANGE_EMAIL');
  END IF;
  IF input ? 'displayName' THEN
    -- the rows that hold the name (rename_rows), then the user
    PERFORM FROM follow f WHERE f.follower_id = viewer ORDER BY f.followee_id FOR NO KEY UPDATE;
    PERFORM FROM circle_member m WHERE m.user_id = viewer ORDER BY m.circle_id FOR NO KEY UPDATE;
    PERFORM FROM app_user u WHERE u.id = viewer FOR UPDATE;
  END IF;
  UPDATE app_user u SET
    username = CASE WHEN input ? 'username' THEN input ->> 'username' ELSE u.username END,
    email = CASE WHEN input ? 'email' THEN mail ELSE u.email END,
    email_verified = u.email_verified AND NOT (input ? 'email' AND mail IS DISTINCT FROM u.email),
    display_name = CASE WHEN input ? 'displayName' THEN words(input ->> 'displayName')
      ELSE u.display_name END,
    name_key = CASE WHEN input ? 'displayName' THEN folded(words(input ->> 'displayName'))
      ELSE u.name_key END,
    avatar_id = CASE WHEN input ? 'avatarPhotoId' THEN picture ELSE u.avatar_id END,
    bio = CASE WHEN input ? 'bio' THEN coalesce(words(input ->> 'bio'), '') ELSE u.bio END,
    website = CASE WHEN input ? 'website' THEN web_address(input ->> 'website') ELSE u.website END,
    home_id = CASE WHEN input ? 'homeLocationId' THEN home ELSE u.home_id END,
    address = CASE WHEN input ? 'address' THEN words(input ->> 'address') ELSE u.address END,
    card_preference = CASE WHEN input ? 'cardPreference' THEN input ->> 'cardPreference'
      ELSE u.card_preference END
  WHERE u.id = viewer;
  PERFORM set_language(viewer, input);
  IF input ? 'shipsToLocationIds' THEN
    DELETE FROM user_ships_to s WHERE s.user_id = viewer;
    INSERT INTO user_ships_to (user_id, location_id)
    SELECT DISTINCT viewer, e.id FROM unnest(places) AS e(id);
  END IF;
  IF input ? 'email' AND mail IS DISTINCT FROM old.email THEN
    DELETE FROM one_time_token t WHERE t.user_id = viewer;
    PERFORM mail_verification(viewer);
    PERFORM audit(viewer, 'CHANGE_EMAIL');
  END IF;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION update_profile IS
  'Implements Mutation.updateProfile. Omitted fields keep their value, null clears them. Changing the email address '
  'requires the owner of the account.';

CREATE OR REPLACE FUNCTION lock_people_around(person bigint, going bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE other bigint;
BEGIN
  FOR other IN
    SELECT person UNION SELECT f.followee_id FROM follow f WHERE f.follower_id = person
    UNION SELECT f.follower_id FROM follow f WHERE f.followee_id = person
    UNION SELECT t.user_id FROM post_tag t WHERE t.post_id = ANY (going)
    UNION SELECT u.id FROM app_user u WHERE is_staff(u.roles) AND has_role(person, 'STAFF')
    ORDER BY 1
  LOOP
    IF other = person THEN PERFORM FROM app_user u WHERE u.id = other FOR UPDATE;
    ELSE PERFORM FROM app_user u WHERE u.id = other FOR NO KEY UPDATE;
    END IF;
  END LOOP;
END $$;
COMMENT ON FUNCTION lock_people_around IS
  'Locks an account before its deletion, and the users whose counts or duties change with it, in the order of IDs.';

CREATE OR REPLACE FUNCTION circle_heir(person bigint) RETURNS TABLE (circle_id bigint, heir_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT c.id, coalesce(
    CASE c.kind WHEN 'CHANNEL' THEN staff_heir(person) END,
    (SELECT m.user_id FROM circle_member m WHERE m.circle_id = c.id AND m.user_id <> person
      ORDER BY m.joined_at, m.user_id LIMIT 1))
  FROM circle c WHERE c.owner_id = person ORDER BY c.id
$$;
COMMENT ON FUNCTION circle_heir IS
  'Returns who gets the circles of an account that is deleted: a group the member who joined first, a channel the '
  'staff member with the lowest ID. Null for a circle without other members, which is deleted.';

CREATE OR REPLACE FUNCTION staff_heir(person bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT min(u.id) FROM app_user u WHERE is_staff(u.roles) AND u.id <> person);
END $$;
COMMENT ON FUNCTION staff_heir IS
  'Returns the staff member with the lowest ID besides a user. Null if there is none.';

CREATE OR REPLACE FUNCTION lock_account(viewer bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  chosen noun;
  ids bigint[];
  going bigint[] := '{}';
  heirs bigint[];
  person bigint;
BEGIN
  -- one account at a time, nothing by this one, nobody who follows, thanks or blocks it meanwhile
  PERFORM pg_advisory_xact_lock(hashtextextended('accounts', 0));
  PERFORM pg_advisory_xact_lock(hashtextextended('viewer', viewer));
  -- and who gets its circles stays who they are; all people in one order
  heirs := ARRAY(SELECT DISTINCT h.heir_id FROM circle_heir(viewer) h WHERE h.heir_id IS NOT NULL);
  FOR person IN SELECT viewer UNION SELECT e.id FROM unnest(heirs) AS e(id) ORDER BY 1 LOOP
    IF person = viewer THEN PERFORM take_people(ARRAY[person]);
    ELSE PERFORM hold_people(ARRAY[person]);
    END IF;
  END LOOP;
  FOR chosen IN SELECT n.* FROM noun n WHERE n.leaving IS NOT NULL ORDER BY n.lock_place, n.tag LOOP
    EXECUTE format('SELECT array_agg(l.id) FROM (SELECT t.id FROM %I t WHERE t.id IN (%s) ORDER BY t.id FOR %s) l',
      chosen.relation, chosen.leaving, CASE WHEN chosen.is_going THEN 'UPDATE' ELSE 'NO KEY UPDATE' END)
    INTO ids USING viewer, going;
    IF chosen.is_going THEN going := going || ids; END IF;
  END LOOP;
  PERFORM lock_people_around(viewer, going);
  -- Somebody who came first may have left meanwhile, and who comes next is not held: begin again.
  IF EXISTS (SELECT FROM circle_heir(viewer) h
      WHERE h.heir_id IS NOT NULL AND h.heir_id <> ALL (heirs)) THEN
    RAISE EXCEPTION 'Another member gets a circle by now.' USING ERRCODE = 'serialization_failure';
  END IF;
END $$;
COMMENT ON FUNCTION lock_account IS
  'Locks everything that is deleted or changed with an account, in the common order: posts, circles, comments, '
  'locations, products, classes, conversations, notifications, users. The CALL node of each noun states its part.';

CREATE OR REPLACE FUNCTION hand_over(person bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  next record;
  staff_member bigint := staff_heir(person);
  pictures bigint[];
BEGIN
  FOR next IN SELECT h.circle_id, h.heir_id, c.name FROM circle_heir(person) h JOIN circle c ON c.id = h.circle_id
    WHERE h.heir_id IS NOT NULL ORDER BY h.circle_id
  LOOP
    UPDATE circle c SET owner_id = next.heir_id WHERE c.id = next.circle_id;
    DELETE FROM circle_member m WHERE m.circle_id = next.circle_id AND m.user_id = person;
    INSERT INTO circle_member (circle_id, user_id, role) VALUES (next.circle_id, next.heir_id, 'OWNER')
    ON CONFLICT (circle_id, user_id) DO UPDATE SET role = 'OWNER';
    PERFORM notify_people(ARRAY[next.heir_id], 'CIRCLE_TRANSFERRED', NULL, next.circle_id,
      'CIRCLE_TRANSFERRED.left', jsonb_build_object('circle', next.name));
  END LOOP;
  -- An event that became private is seen by its invitations, whoever invited: the host invites from now on.
  UPDATE invitation i SET inviter_id = p.author_id FROM post p
  WHERE i.inviter_id = person AND p.id = i.event_id AND p.author_id <> person AND i.invitee_id <> p.author_id;
  IF staff_member IS NULL THEN RETURN; END IF;
  pictures := ARRAY(
    SELECT f.id FROM photo f WHERE f.owner_id = person AND EXISTS (SELECT FROM product r WHERE r.photo_id = f.id)
    UNION SELECT u.photo_id FROM upload u
    WHERE u.owner_id = person AND u.photo_id IS NOT NULL AND EXISTS (
      SELECT FROM app_config a, unnest(a.intro_images) i(url) WHERE strpos(i.url, split_part(u.path, '.', 1)) > 0));
  PERFORM FROM photo f WHERE f.id = ANY (pictures) ORDER BY f.id FOR UPDATE;
  UPDATE photo f SET owner_id = staff_member WHERE f.id = ANY (pictures);
  UPDATE upload u SET owner_id = staff_member
  WHERE u.photo_id = ANY (pictures) AND NOT EXISTS (
    SELECT FROM upload o WHERE o.owner_id = staff_member AND o.path = u.path);
END $$;
COMMENT ON FUNCTION hand_over IS
  'Gives others what an account has for them, before it is deleted: circles with members, invitations to the events of '
  'others, and the pictures of products and applications.';

CREATE OR REPLACE FUNCTION tell_of_leaving(person bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE next record;
BEGIN
  FOR next IN
    SELECT s.program_id, p.title, array_agg(b.user_id) AS people
    FROM class_session s JOIN program p ON p.id = s.program_id JOIN booking b ON b.session_id = s.id
    WHERE s.trainer_id = person AND s.starts_at > now() AND (b.cancelled_at IS NULL
      -- called off, which goes unread with it
      OR EXISTS (SELECT FROM notification n WHERE n.about_id = b.id AND n.recipient_id = b.user_id
        AND n.reason = 'BOOKING_CHANGED' AND n.read_at IS NULL))
    GROUP BY s.program_id, p.title ORDER BY s.program_id
  LOOP
    PERFORM notify_people(next.people, 'BOOKING_CHANGED', NULL, next.program_id, 'BOOKING_CHANGED.left',
      jsonb_build_object('program', next.title));
  END LOOP;
  FOR next IN
    SELECT e.title, CASE WHEN e.cancelled_at IS NULL THEN event_people(e.post_id) ELSE ARRAY(
      SELECT n.recipient_id FROM notification n WHERE n.about_id = e.post_id AND n.reason = 'EVENT_CANCELLED'
        AND n.read_at IS NULL) END AS people
    FROM post p JOIN event e ON e.post_id = p.id
    WHERE p.author_id = person AND coalesce(e.ends_at, e.starts_at + interval '1 day') > now() ORDER BY p.id
  LOOP
    PERFORM notify_people(array_remove(next.people, person), 'EVENT_CANCELLED', NULL, NULL, 'EVENT_CANCELLED.left',
      jsonb_build_object('title', next.title), destination => '');
  END LOOP;
END $$;
COMMENT ON FUNCTION tell_of_leaving IS
  'Notifies those who booked a class, or may come to an event, that is deleted with the account that gives it. The '
  'subject is gone, so the notifications are about the program, or about nothing.';

CREATE OR REPLACE FUNCTION delete_account(viewer bigint, session_hash bytea, matched text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM lock_account(viewer);
  PERFORM require_viewer(viewer);
  PERFORM require_owner(viewer, session_hash, matched, 'password');
  IF has_role(viewer, 'STAFF') AND NOT EXISTS (
      SELECT FROM app_user u WHERE u.id <> viewer AND is_staff(u.roles)) THEN
    PERFORM refuse_as(worded(refusal('FORBIDDEN'), 'LAST_STAFF'));
  END IF;
  PERFORM hand_over(viewer);
  PERFORM tell_of_leaving(viewer);
  DELETE FROM app_user u WHERE u.id = viewer;
  PERFORM audit(viewer, 'DELETE_ACCOUNT');
END $$;
COMMENT ON FUNCTION delete_account IS
  'Implements Mutation.deleteAccount, which deletes everything that the user posted, including messages. The posts of '
  'others stay: circles with members get another owner. Tests/Fixtures/roles/account.txt decides each foreign key.';
