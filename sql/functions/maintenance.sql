-- What is to be done from time to time. Servers call what the view at the end lists, one of them at a time,
-- with the rights of the owner of the tables.
--
-- Partitions are made ahead of what they hold, and dropped when it is to be forgotten. Where nobody does
-- that, what has no partition of its own goes into the one called other, and is only slower to forget.

CREATE OR REPLACE FUNCTION keep_partitions() RETURNS int LANGUAGE plpgsql
SET lock_timeout = '3s' SET timezone = 'UTC' AS $$
DECLARE
  number int := 0;
  next_day date;
  next_id bigint;
BEGIN
  -- one at a time; whoever comes second finds it done
  PERFORM pg_advisory_xact_lock(hashtext('keep_partitions'));
  -- A day is over an hour after its end. What is logged before that has an xid before this one.
  UPDATE change_day SET last_xid = pg_snapshot_xmax(pg_current_snapshot())
  WHERE last_xid IS NULL AND day + 1 + interval '1 hour' <= now();
  SELECT greatest(current_date, max(o.day) + 1, (SELECT max(d.day) + 1 FROM change_day d))
  INTO next_day FROM (SELECT logged_at::date AS day FROM change_other) o;
  WHILE next_day <= current_date + 7 LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF change FOR VALUES FROM (%L) TO (%L)',
      'change_' || to_char(next_day, 'YYYYMMDD'), next_day, next_day + 1);
    INSERT INTO change_day VALUES (next_day);
    next_day := next_day + 1;
    number := number + 1;
  END LOOP;
  -- Each holds 2^24 nodes. The next is made when the last one is half full.
  SELECT max(substring(c.relname FROM '\d+$')::bigint) + 1 INTO next_id
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = 'notification'::regclass AND c.relname ~ '^notification_\d+$';
  WHILE next_id * 16777216 - 8388608 <= (SELECT last_value FROM node_seq)
      AND NOT EXISTS (SELECT FROM notification_other WHERE id >= next_id << 32) LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF notification FOR VALUES FROM (%s) TO (%s)',
      'notification_' || next_id, next_id << 32, next_id + 1 << 32);
    next_id := next_id + 1;
    number := number + 1;
  END LOOP;
  RETURN number;
END $$;
COMMENT ON FUNCTION keep_partitions IS
  'Creates the partitions of the coming days and IDs, and returns their number. Call it at least once a day.';
SELECT keep_partitions();

CREATE OR REPLACE FUNCTION forget_changes(keep interval DEFAULT '30 days') RETURNS bigint
LANGUAGE plpgsql SET lock_timeout = '3s' SET timezone = 'UTC' AS $$
DECLARE
  old change_day;
  last_gone xid8;
  rows_gone bigint;
  number bigint := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('keep_partitions'));
  FOR old IN SELECT * FROM change_day WHERE last_xid IS NOT NULL AND day + 1 <= now() - keep LOOP
    EXECUTE format('DROP TABLE %I', 'change_' || to_char(old.day, 'YYYYMMDD'));
    DELETE FROM change_day WHERE day = old.day;
    UPDATE change_horizon SET xid = greatest(xid, old.last_xid);
    number := number + 1;
  END LOOP;
  SELECT xid INTO last_gone FROM change_other
  WHERE logged_at < now() - keep AND xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY xid DESC LIMIT 1;
  IF last_gone IS NOT NULL THEN
    UPDATE change_horizon SET xid = greatest(xid, last_gone);
    DELETE FROM change_other WHERE xid <= last_gone;
    GET DIAGNOSTICS rows_gone = ROW_COUNT;
    number := number + rows_gone;
  END IF;
  -- Days are forgotten as a whole.
  DELETE FROM hidden_past WHERE gone_at < now() - keep - interval '2 days';
  RETURN number;
END $$;
COMMENT ON FUNCTION forget_changes IS
  'Deletes changes older than this, and returns the number of days and rows. Tokens from before then have expired.';

CREATE OR REPLACE FUNCTION forget_notifications(keep interval DEFAULT '1 year') RETURNS int
LANGUAGE plpgsql SET lock_timeout = '3s' AS $$
DECLARE
  oldest text;
  newest_in_it timestamptz;
  number int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('keep_partitions'));
  LOOP
    SELECT c.relname INTO oldest
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'notification'::regclass AND c.relname ~ '^notification_\d+$'
    ORDER BY substring(c.relname FROM '\d+$')::bigint LIMIT 1;
    -- not the one in use
    EXIT WHEN oldest IS NULL OR (substring(oldest FROM '\d+$')::bigint + 1) * 16777216
      > (SELECT last_value FROM node_seq);
    EXECUTE format('SELECT created_at FROM %I ORDER BY id DESC LIMIT 1', oldest) INTO newest_in_it;
    EXIT WHEN newest_in_it >= now() - keep;
    EXECUTE format('DROP TABLE %I', oldest);
    number := number + 1;
  END LOOP;
  RETURN number;
END $$;
COMMENT ON FUNCTION forget_notifications IS
  'Drops the partitions in which all notifications are older than this, and returns their number. The drop is not '
  'logged as a change.';

CREATE OR REPLACE FUNCTION forget_tokens() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
  number bigint := 0;
BEGIN
  DELETE FROM session s WHERE s.token_hash IN (
    SELECT o.token_hash FROM session o WHERE o.expires_at < now() - interval '1 day' LIMIT 10000);
  GET DIAGNOSTICS number = ROW_COUNT;
  DELETE FROM one_time_token t WHERE t.token_hash IN (
    SELECT o.token_hash FROM one_time_token o WHERE o.expires_at < now() LIMIT 10000);
  GET DIAGNOSTICS gone = ROW_COUNT;
  number := number + gone;
  DELETE FROM spent_credential c WHERE c.digest IN (
    SELECT o.digest FROM spent_credential o WHERE o.expires_at < now() LIMIT 10000);
  GET DIAGNOSTICS gone = ROW_COUNT;
  number := number + gone;
  DELETE FROM mail_time m WHERE m.key IN (
    SELECT o.key FROM mail_time o WHERE o.mailed_at < now() - interval '1 day' LIMIT 10000);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN number + gone;
END $$;
COMMENT ON FUNCTION forget_tokens IS
  'Deletes expired sessions, one-time tokens, used identity tokens and times of mails, and returns their number. '
  'At most 10,000 of each in one call.';

CREATE OR REPLACE FUNCTION forget_audit(keep interval DEFAULT '1 year') RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE number bigint;
BEGIN
  DELETE FROM audit_log a WHERE a.id IN (
    SELECT o.id FROM (SELECT e.id, e.at FROM audit_log e ORDER BY e.id LIMIT 10000) o
    WHERE o.at < now() - keep);
  GET DIAGNOSTICS number = ROW_COUNT;
  RETURN number;
END $$;
COMMENT ON FUNCTION forget_audit IS
  'Deletes entries of the audit log older than this, a year by default, and returns their number. At most 10,000 in '
  'one call.';

CREATE OR REPLACE FUNCTION forget_outbox(keep interval DEFAULT '7 days') RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE number bigint;
BEGIN
  DELETE FROM outbox o WHERE o.id IN (
    SELECT e.id FROM (SELECT * FROM outbox ORDER BY id LIMIT 10000) e
    WHERE coalesce(e.delivered_at, e.failed_at) < now() - keep);
  GET DIAGNOSTICS number = ROW_COUNT;
  RETURN number;
END $$;
COMMENT ON FUNCTION forget_outbox IS
  'Deletes entries that were delivered or abandoned this long ago, with their addresses and texts, and returns their '
  'number. At most 10,000 in one call.';

CREATE OR REPLACE VIEW background_task AS
SELECT * FROM (VALUES
  ('fold_counts', interval '500 milliseconds'),
  ('forget_touches', interval '10 seconds'),
  ('keep_partitions', interval '1 hour'),
  ('forget_changes', interval '1 hour'),
  ('forget_notifications', interval '1 hour'),
  ('forget_tokens', interval '1 hour'),
  ('forget_audit', interval '1 hour'),
  ('forget_outbox', interval '1 hour'),
  ('forget_uploads', interval '1 hour')
) AS t (task, period);
COMMENT ON VIEW background_task IS
  'One function without arguments that servers call periodically, and its period. Each call is a transaction of one '
  'server at a time, as the owner of the tables.';
