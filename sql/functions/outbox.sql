-- What leaves the server: entries of the outbox on their way to whoever delivers them, at least once
-- each. For `sociograph outbox` and `serve --outbox`, of which any number may be at work.

CREATE OR REPLACE FUNCTION outbox_take(lease interval)
RETURNS TABLE (id bigint, message jsonb, sealed bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT ROWS 1 AS $$
BEGIN
  PERFORM write_password_resets();
  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT e.id FROM outbox e
    WHERE e.delivered_at IS NULL AND e.failed_at IS NULL AND e.due_at <= now()
    ORDER BY e.due_at, e.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE outbox o SET due_at = now() + lease FROM due
  WHERE o.id = due.id
  RETURNING o.id, jsonb_build_object('id', o.id::text, 'channel', o.channel,
    'userId', wire_id(o.user_id), 'recipient', o.recipient, 'subject', o.subject, 'body', o.body,
    'attempt', o.attempts + 1, 'createdAt', wire_time(o.created_at)),
    o.token;
END $$;
COMMENT ON FUNCTION outbox_take IS
  'Returns the entry of the outbox that has been due for the longest, as its message and its encrypted token. Returns '
  'no row if there is none. The entry is reserved for the caller during the lease, and due again afterwards. Writes '
  'the mails of requested password resets first.';

CREATE OR REPLACE FUNCTION outbox_end(entry bigint, is_delivered boolean, is_final boolean)
RETURNS boolean LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  UPDATE outbox o SET
    delivered_at = CASE WHEN is_delivered THEN now() END,
    failed_at = CASE WHEN NOT is_delivered AND (is_final OR o.attempts >= 19) THEN now() END,
    attempts = o.attempts + (NOT is_delivered)::int,
    due_at = now() + (0.75 + random() / 2)
      * least(interval '10 seconds' * 2 ^ least(o.attempts, 20), interval '6 hours'),
    token = CASE WHEN NOT (is_delivered OR is_final OR o.attempts >= 19) THEN o.token END
  WHERE o.id = entry AND o.delivered_at IS NULL
  RETURNING o.delivered_at IS NULL AND o.failed_at IS NULL
$$;
COMMENT ON FUNCTION outbox_end IS
  'Records that an entry was delivered, or that it failed. A failed entry is due again after 10 seconds, 20, 40, and '
  'so on up to 6 hours. It is abandoned if is_final, or at the twentieth failure. Returns whether it will be retried.';
