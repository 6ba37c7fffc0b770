-- What limits mails, and keeps the time of a request from telling whether an address has an account.

CREATE TABLE mail_time (
  key bytea CONSTRAINT mail_time_key_primary PRIMARY KEY,
  mailed_at timestamptz NOT NULL);
COMMENT ON TABLE mail_time IS
  'A row: the last mail of a kind to an account or an address. It outlives the account.';
COMMENT ON COLUMN mail_time.key IS 'SHA-256 of the kind, a space, and the account''s id or the address in lower case.';
COMMENT ON COLUMN mail_time.mailed_at IS 'The time of that mail.';
-- forget_tokens
CREATE INDEX ON mail_time (mailed_at);

CREATE TABLE reset_request (
  address text CONSTRAINT reset_request_address_primary PRIMARY KEY,
  asked_at timestamptz NOT NULL DEFAULT now());
COMMENT ON TABLE reset_request IS
  'A row: somebody asked for a new password of this address, and the outbox was not emptied since.';
COMMENT ON COLUMN reset_request.address IS 'In lower case. There need be no such account.';
COMMENT ON COLUMN reset_request.asked_at IS 'The time of the first request since then.';
-- write_password_resets
CREATE INDEX ON reset_request (asked_at);

-- Line breaks there would be more headers of a mail.
ALTER TABLE outbox
  ADD CONSTRAINT outbox_recipient_form
    CHECK (recipient !~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]') NOT VALID,
  ADD CONSTRAINT outbox_subject_form
    CHECK (subject !~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]') NOT VALID;
