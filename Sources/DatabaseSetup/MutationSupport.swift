import SQL

/// The part of a database that the server itself needs for mutations: the requests that must not be
/// repeated, and the functions with which mutations report errors. It is in the namespace of the
/// graph, so that its functions use it without a qualifier.
enum MutationSupport {
  /// The tables, created once. Days share four partitions, so that removing a day truncates one.
  static let tables = """
    CREATE TABLE IF NOT EXISTS sociograph_request (
      viewer_id bigint NOT NULL,
      key text NOT NULL,
      day date NOT NULL DEFAULT current_date,
      slot smallint NOT NULL DEFAULT (current_date - date '2000-01-01') % 4,
      body_hash bytea NOT NULL,
      result text,
      statement bigint NOT NULL,
      answer bytea,
      CONSTRAINT sociograph_request_key PRIMARY KEY (viewer_id, key, day, slot)
    ) PARTITION BY LIST (slot);
    COMMENT ON TABLE sociograph_request IS
      'One executed request that must not be executed twice, by the viewer (0 for an anonymous client).';
    CREATE TABLE IF NOT EXISTS sociograph_request_0 PARTITION OF sociograph_request FOR VALUES IN (0);
    CREATE TABLE IF NOT EXISTS sociograph_request_1 PARTITION OF sociograph_request FOR VALUES IN (1);
    CREATE TABLE IF NOT EXISTS sociograph_request_2 PARTITION OF sociograph_request FOR VALUES IN (2);
    CREATE TABLE IF NOT EXISTS sociograph_request_3 PARTITION OF sociograph_request FOR VALUES IN (3);
    """

  /// The functions, replaced together with the graph's.
  static let functions = Migrations.File(
    name: "sociograph.sql", text: requests + conditions + BackgroundTask.functions)

  /// Statements to run after the functions exist: functions that run with their owner's privileges
  /// may be called only by roles to which that was granted.
  static let rights = """
    DO $$
    DECLARE routine regprocedure;
    BEGIN
      FOR routine IN SELECT p.oid FROM pg_proc p
        WHERE p.prosecdef AND p.pronamespace = to_regnamespace(quote_ident(current_schema))
      LOOP
        EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', routine);
      END LOOP;
    END $$
    """

  private static let requests = """
    CREATE OR REPLACE FUNCTION sociograph_claim(viewer bigint, request_key text, hash bytea)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE
      today int := (current_date - date '2000-01-01') % 4;
      seen bytea;
    BEGIN
      IF NOT pg_try_advisory_xact_lock(hashtextextended(request_key, viewer)) THEN
        RAISE EXCEPTION USING ERRCODE = 'SG409', MESSAGE = 'The request is being worked on.';
      END IF;
      SELECT r.body_hash INTO seen FROM sociograph_request r
      WHERE r.viewer_id = viewer AND r.key = request_key AND r.day >= current_date - 1
        AND r.slot IN (today, (today + 3) % 4);
      IF NOT FOUND THEN
        RETURN true;
      ELSIF seen <> hash THEN
        RAISE EXCEPTION USING ERRCODE = 'SG422', MESSAGE = 'The key was used with another request.';
      END IF;
      RAISE EXCEPTION USING ERRCODE = 'SG208', MESSAGE = 'The request was done.';
    END $$;
    COMMENT ON FUNCTION sociograph_claim IS
      'Claims a request until the transaction ends, and returns true. Fails with SG409 if it is being executed, with '
      'SG422 if its key was used with another body, and with SG208 if it was executed. The check is a separate '
      'statement, so that its snapshot is taken after the lock.';

    CREATE OR REPLACE FUNCTION sociograph_keep(
      viewer bigint, request_key text, hash bytea, statement bigint, answer bytea)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO sociograph_request (viewer_id, key, body_hash, result, statement, answer)
      VALUES (viewer, request_key, hash, nullif(current_setting('sociograph.result', true), ''),
        statement, CASE WHEN length(answer) <= 65536 THEN answer END);
    END $$;
    COMMENT ON FUNCTION sociograph_keep IS
      'Stores the result of this transaction''s request. A response over 64 KiB is not stored, and generated again for '
      'a repeated request.';

    CREATE OR REPLACE FUNCTION sociograph_replay(viewer bigint, request_key text, statement bigint)
    RETURNS TABLE (result text, answer bytea)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
      SELECT r.result, CASE WHEN r.statement = sociograph_replay.statement THEN r.answer END
      FROM sociograph_request r
      WHERE r.viewer_id = viewer AND r.key = request_key AND r.day >= current_date - 1
    $$;
    COMMENT ON FUNCTION sociograph_replay IS
      'Returns the result of an executed request. The response is returned only for the same selection.';

    CREATE OR REPLACE FUNCTION sociograph_forget_requests()
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE
      today int := (current_date - date '2000-01-01') % 4;
      old int;
    BEGIN
      FOREACH old IN ARRAY ARRAY[(today + 1) % 4, (today + 2) % 4] LOOP
        IF pg_relation_size(format('sociograph_request_%s', old)) > 0 THEN
          EXECUTE format('TRUNCATE sociograph_request_%s', old);
        END IF;
      END LOOP;
    END $$;
    COMMENT ON FUNCTION sociograph_forget_requests IS
      'Deletes the requests from before yesterday, whose partitions are not in use.';
    """

  private static let conditions = """
    CREATE OR REPLACE FUNCTION refusal(code text, VARIADIC path text[] DEFAULT '{}')
    RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT jsonb_build_object('code', code, 'path', nullif(path, '{}'))
    $$;
    COMMENT ON FUNCTION refusal IS
      'Returns a reason to refuse for refuse_all: the code, and the path of the argument that caused it.';

    CREATE OR REPLACE FUNCTION refuse_all(refusals jsonb)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF jsonb_array_length(refusals) > 0 THEN
        IF jsonb_array_length(refusals) > 100 THEN
          refusals := (SELECT jsonb_agg(e.refusal ORDER BY e.place)
            FROM jsonb_array_elements(refusals) WITH ORDINALITY AS e(refusal, place) WHERE e.place <= 100);
        END IF;
        IF to_regproc('\(GraphContract.wordedRefusals)') IS NOT NULL THEN
          EXECUTE 'SELECT \(GraphContract.wordedRefusals)($1)' INTO refusals USING refusals;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'SG100', MESSAGE = 'refused', DETAIL = refusals::text;
      END IF;
    END $$;
    COMMENT ON FUNCTION refuse_all IS
      'Ends the mutation without effect, with the first 100 of these user errors in its payload. An empty list has no '
      'effect. The graph may have a function that words their messages.';

    CREATE OR REPLACE FUNCTION worded(refusal jsonb, rule text, given jsonb DEFAULT '{}')
    RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT refusal || jsonb_build_object('rule', rule,
        'given', coalesce(refusal -> 'given', '{}') || given)
    $$;
    COMMENT ON FUNCTION worded IS
      'Returns a refusal with the rule that was broken, by which the graph words its message, and the values in it: '
      'worded(refusal(''INVALID'', ''endsAt''), ''ENDS_BEFORE_START'').';

    CREATE OR REPLACE FUNCTION limited(refusal jsonb, smallest numeric, largest numeric)
    RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT refusal || jsonb_strip_nulls(jsonb_build_object('min', smallest, 'max', largest))
    $$;
    COMMENT ON FUNCTION limited IS
      'Returns a refusal with the smallest and the largest value that the rule allows. Null where there is none.';

    CREATE OR REPLACE FUNCTION refuse_as(refusal jsonb)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM refuse_all(jsonb_build_array(refusal));
    END $$;
    COMMENT ON FUNCTION refuse_as IS
      'Ends the mutation for one reason: refuse_as(worded(refusal(''CLOSED'', ''offerId''), ''OFFER_CLOSED'')).';

    CREATE OR REPLACE FUNCTION refuse(code text, VARIADIC path text[] DEFAULT '{}')
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM refuse_all(
        jsonb_build_array(refusal(code, VARIADIC path)));
    END $$;
    COMMENT ON FUNCTION refuse IS
      'Ends the mutation for one reason: refuse(''NOT_FOUND'', ''input'', ''circleId'').';

    CREATE OR REPLACE FUNCTION saying(message text)
    RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT jsonb_build_object('message', message)
    $$;
    COMMENT ON FUNCTION saying IS
      'Returns the message for a refusal, in place of its code''s: refusal(''TAKEN'', ''name'') || saying(''...'').';

    CREATE OR REPLACE FUNCTION refuse_saying(message text, code text, VARIADIC path text[] DEFAULT '{}')
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM refuse_all(
        jsonb_build_array(refusal(code, VARIADIC path) || saying(message)));
    END $$;
    COMMENT ON FUNCTION refuse_saying IS
      'Ends the mutation for one reason, with a message in place of the code''s: refuse_saying(''This offer is closed.'', '
      '''CLOSED'', ''offerId'').';

    CREATE OR REPLACE FUNCTION fail(code text, message text)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION USING ERRCODE = 'SG000', MESSAGE = message, DETAIL = code;
    END $$;
    COMMENT ON FUNCTION fail IS
      'Fails the mutation with an error for the developer of the client.';

    CREATE OR REPLACE FUNCTION require_viewer(viewer bigint)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF viewer = 0 THEN
        RAISE EXCEPTION USING ERRCODE = 'SG000', MESSAGE = 'Sign in to do this.',
          DETAIL = 'UNAUTHENTICATED';
      END IF;
      PERFORM pg_advisory_xact_lock_shared(hashtextextended('viewer', viewer));
    END $$;
    COMMENT ON FUNCTION require_viewer IS
      'Fails unless a user is signed in. Locks the account, shared, until the transaction ends; deleting an account '
      'takes the lock exclusively first.';

    CREATE OR REPLACE FUNCTION id_list(list jsonb) RETURNS bigint[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
      RETURN CASE WHEN jsonb_typeof(list) = 'array'
        THEN ARRAY(SELECT e.id::bigint FROM jsonb_array_elements_text(list) WITH ORDINALITY
          AS e(id, place) ORDER BY e.place) END;
    END $$;
    COMMENT ON FUNCTION id_list IS
      'Returns the IDs of a list in an input. Null if there is no list.';
    """
}
