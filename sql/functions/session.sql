-- A session made by hand, for the owner of the database: `sociograph session create`. It ends as any
-- other does, 90 days after its last use.
CREATE OR REPLACE FUNCTION create_session(viewer bigint, token_hash bytea, device text) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO session (token_hash, user_id, device, expires_at)
  VALUES (token_hash, viewer, device, now() + interval '90 days')
$$;
COMMENT ON FUNCTION create_session IS
  'Makes a session for a user from the SHA-256 of its token; for `sociograph session create`.';

CREATE OR REPLACE FUNCTION viewer_of_token(issuer text, subject text) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT i.user_id FROM identity i WHERE i.provider = issuer AND i.external_id = subject
$$;
COMMENT ON FUNCTION viewer_of_token IS
  'Whom a signed token of an issuer of `serve --jwt-keys` stands for, by the name the issuer has there and '
  'the token''s `sub`; null for nobody. Here: who has linked that identity.';
