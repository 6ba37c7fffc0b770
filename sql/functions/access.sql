-- What the roles that serve may not read (`migrate --server-role`, and those of an embedded database),
-- though they read the rest of the graph: a statement that went astray could not give it away.
-- Functions that need it run under their owner's rights.

CREATE OR REPLACE VIEW withheld AS
SELECT v.relation, v.attribute FROM (VALUES
  ('password', NULL),
  ('identity', 'access_token'),
  ('session', 'token_hash'),
  ('device', 'token_hash'),
  ('device', 'token'),
  ('one_time_token', NULL),
  ('spent_credential', NULL),
  ('outbox', NULL),
  ('mail_time', NULL),
  ('reset_request', NULL),
  ('token_secret', NULL)
) AS v (relation, attribute);
COMMENT ON VIEW withheld IS 'The columns that the roles that serve may not read. Without a column: the whole table.';
