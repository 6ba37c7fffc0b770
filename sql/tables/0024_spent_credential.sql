-- What signs in once: the identity tokens that were used, for as long as they are valid.

CREATE TABLE spent_credential (
  digest bytea CONSTRAINT spent_credential_digest_primary PRIMARY KEY,
  expires_at timestamptz NOT NULL);
COMMENT ON TABLE spent_credential IS 'One identity token that was used, so that it cannot be used again.';
COMMENT ON COLUMN spent_credential.digest IS 'The SHA-256 hash of the claims of the token.';
COMMENT ON COLUMN spent_credential.expires_at IS 'The date and time from which the token is not valid any more.';
-- forget_tokens
CREATE INDEX ON spent_credential (expires_at);
