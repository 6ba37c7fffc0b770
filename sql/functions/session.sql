-- A session made by hand, for the owner of the database: `sociograph session create`. It ends as any
-- other does, 90 days after its last use.

CREATE OR REPLACE FUNCTION create_session(viewer bigint, token_hash bytea, device text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session (token_hash, user_id, device, expires_at)
  VALUES (token_hash, viewer, device, now() + interval '90 days');
END $$;
COMMENT ON FUNCTION create_session IS
  'Makes a session for a user from the SHA-256 of its token; for `sociograph session create`.';

CREATE OR REPLACE FUNCTION viewer_of_token(issuer text, subject text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT i.user_id FROM identity i WHERE i.provider = issuer AND i.external_id = subject);
END $$;
COMMENT ON FUNCTION viewer_of_token IS
  'Whom a signed token of an issuer of `serve --jwt-keys` stands for, by the name the issuer has there and '
  'the token''s `sub`; null for nobody. Here: who has linked that identity.';

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
  'Whose session has a token of this SHA-256, and whether its use is to be noted again; no row for '
  'none that lasts.';

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
  'A session was used: it lasts 90 days from now, a year in all.';

CREATE OR REPLACE FUNCTION rest_of_session(token_hash bytea) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (SELECT least(ceil(1000 * extract(epoch FROM s.expires_at - now())), 1e12)
    FROM session s WHERE s.token_hash = rest_of_session.token_hash);
END $$;
COMMENT ON FUNCTION rest_of_session IS
  'How many milliseconds a session has left, unless it is used; null for one that is gone.';
