-- A session made by hand, for the owner of the database: `sociograph session create`. It ends as any
-- other does, 90 days after its last use.

CREATE OR REPLACE FUNCTION create_session(viewer bigint, token_hash bytea, device text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session (token_hash, user_id, device, expires_at)
  VALUES (token_hash, viewer, device, now() + interval '90 days');
END $$;
COMMENT ON FUNCTION create_session IS
  'Begins a session for a user with the SHA-256 hash of its token. For `sociograph session create`.';

CREATE OR REPLACE FUNCTION some_viewers(wanted int) RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- In an order that no noun has, and that is the same from run to run.
  RETURN QUERY SELECT u.id FROM app_user u WHERE (u.suspended_until > now()) IS NOT TRUE
    ORDER BY hashint8extended(u.id, 1), u.id LIMIT wanted;
END $$;
COMMENT ON FUNCTION some_viewers IS
  'Returns the IDs of as many users as wanted, the same ones each time, without suspended users. For '
  '`sociograph load --people`.';

CREATE OR REPLACE FUNCTION end_session(token_hash bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM session s WHERE s.token_hash = end_session.token_hash;
END $$;
COMMENT ON FUNCTION end_session IS
  'Ends the session with this hash of a token, if it exists. For `sociograph load --people`.';

CREATE OR REPLACE FUNCTION session_named(token_hash bytea) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (SELECT s.id FROM session s WHERE s.token_hash = session_named.token_hash);
END $$;
COMMENT ON FUNCTION session_named IS
  'Returns the ID of the session with this hash of a token. Null if there is none.';

CREATE OR REPLACE FUNCTION viewer_of_token(issuer text, subject text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT i.user_id FROM identity i JOIN app_user u ON u.id = i.user_id
    WHERE i.provider = issuer AND i.external_id = subject AND (u.suspended_until > now()) IS NOT TRUE);
END $$;
COMMENT ON FUNCTION viewer_of_token IS
  'Returns the user that a signed token of an issuer of `serve --jwt-keys` identifies, by the issuer''s name and the '
  'token''s `sub`: the user who linked that identity. Null if there is none, or while that user is suspended.';

-- Those that the server asks by name: it may not read what sessions are known by.
-- plpgsql, which keeps its plan from call to call.
CREATE OR REPLACE FUNCTION viewer_of_session(token_hash bytea)
RETURNS TABLE (user_id bigint, is_unnoted boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT s.user_id, coalesce(s.last_used_at < now() - interval '5 minutes', true)
    FROM session s
    WHERE s.token_hash = viewer_of_session.token_hash AND s.expires_at > now();
END $$;
COMMENT ON FUNCTION viewer_of_session IS
  'Returns the user of the session with this hash of a token, and whether its use is to be recorded again. No row if '
  'it has expired or does not exist.';

CREATE OR REPLACE FUNCTION note_session(token_hash bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE session s
  SET last_used_at = now(), expires_at = least(
    greatest(s.expires_at, now() + interval '90 days'), s.created_at + interval '1 year')
  WHERE s.token_hash = note_session.token_hash AND s.expires_at > now()
    AND coalesce(s.last_used_at < now() - interval '5 minutes', true);
END $$;
COMMENT ON FUNCTION note_session IS
  'Records that a session was used. It then lasts 90 more days, up to one year in total.';

CREATE OR REPLACE FUNCTION rest_of_session(token_hash bytea) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (SELECT least(ceil(1000 * extract(epoch FROM s.expires_at - now())), 1e12)
    FROM session s WHERE s.token_hash = rest_of_session.token_hash);
END $$;
COMMENT ON FUNCTION rest_of_session IS
  'Returns the number of milliseconds until a session expires, unless it is used. Null if it does not exist.';
