-- What mutation functions share: reading an input, finding what is named in it, and saying what is
-- wrong with it. An input is jsonb: ids are numbers (0 for what is no id), what was left out is not there.

CREATE OR REPLACE FUNCTION words(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT nullif(btrim(value, E' \t\r\n'), '')
$$;
COMMENT ON FUNCTION words IS 'Returns a text without white space at its ends. Null if nothing remains.';

CREATE OR REPLACE FUNCTION text_refusals(value text, is_needed boolean, longest int,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN is_needed AND words(value) IS NULL THEN jsonb_build_array(refusal('REQUIRED', VARIADIC path))
    WHEN length(value) > longest THEN jsonb_build_array(
      limited(worded(refusal('TOO_LONG', VARIADIC path), 'LONGEST'), NULL, longest))
    ELSE '[]'::jsonb END
$$;
COMMENT ON FUNCTION text_refusals IS
  'Returns the errors of a text: missing if it is required, or longer than this many characters.';

CREATE OR REPLACE FUNCTION name_refusals(value text, is_needed boolean, longest int,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT text_refusals(value, is_needed, longest, VARIADIC path) || CASE
    WHEN words(value) ~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
    THEN jsonb_build_array(worded(refusal('INVALID', VARIADIC path), 'ONE_LINE')) ELSE '[]'::jsonb END
$$;
COMMENT ON FUNCTION name_refusals IS
  'Returns the errors of a name or title: those of a text, and characters that break its line, control something, or '
  'turn the direction of what follows, by which it could pass for another one.';

CREATE OR REPLACE FUNCTION list_refusals(ids bigint[], is_needed boolean, most int,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM refuse_longer(cardinality(ids), most, 'MOST', VARIADIC path);
  RETURN CASE WHEN is_needed AND coalesce(cardinality(ids), 0) = 0
    THEN jsonb_build_array(worded(refusal('REQUIRED', VARIADIC path), 'CHOOSE')) ELSE '[]'::jsonb END;
END $$;
COMMENT ON FUNCTION list_refusals IS
  'Returns the error of a list of IDs that is empty and must not be. A list that is too long ends the mutation, so '
  'that its elements are not looked at: call it before them.';

CREATE OR REPLACE FUNCTION refuse_longer(length int, most int, rule text, VARIADIC path text[])
RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF length > most THEN
    PERFORM refuse_as(limited(worded(refusal('TOO_MANY', VARIADIC path), rule), NULL, most));
  END IF;
END $$;
COMMENT ON FUNCTION refuse_longer IS
  'Ends the mutation with TOO_MANY if a list is longer than it may be, before its elements are looked at.';

CREATE OR REPLACE FUNCTION people_refusals(viewer bigint, ids bigint[], may_name_self boolean,
  VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT coalesce(jsonb_agg(refusal(bad.code, VARIADIC path || (bad.place - 1)::text)
      || CASE bad.code WHEN 'INVALID' THEN '{"rule": "SELF"}' ELSE '{}'::jsonb END
    ORDER BY bad.place), '[]'::jsonb)
  FROM (
    SELECT e.place, person_fault(viewer, e.id, may_name_self) AS code
    FROM unnest(ids) WITH ORDINALITY AS e(id, place)) bad
  WHERE bad.code IS NOT NULL);
END $$;
COMMENT ON FUNCTION people_refusals IS
  'Returns an error for each user in a list whom the viewer may not name: unknown or blocking the viewer (NOT_FOUND), '
  'blocked by the viewer (BLOCKED), or the viewer (INVALID, unless allowed).';

CREATE OR REPLACE FUNCTION person_fault(viewer bigint, person bigint, may_name_self boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE
    WHEN person = viewer THEN CASE WHEN may_name_self THEN NULL ELSE 'INVALID' END
    WHEN NOT EXISTS (SELECT FROM app_user u WHERE u.id = person) THEN 'NOT_FOUND'
    WHEN EXISTS (SELECT FROM block b WHERE b.blocker_id = person AND b.blocked_id = viewer)
      THEN 'NOT_FOUND'
    WHEN EXISTS (SELECT FROM block b WHERE b.blocker_id = viewer AND b.blocked_id = person)
      THEN 'BLOCKED' END;
END $$;
COMMENT ON FUNCTION person_fault IS
  'Returns the code of the reason why the viewer may not name this user. Null if the viewer may.';

CREATE OR REPLACE FUNCTION has_role(person bigint, VARIADIC wanted text[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM app_user u WHERE u.id = person AND u.roles && wanted);
END $$;
COMMENT ON FUNCTION has_role IS 'Returns whether a user has one of the roles.';

CREATE OR REPLACE FUNCTION require_role(viewer bigint, VARIADIC wanted text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT has_role(viewer, VARIADIC wanted) THEN PERFORM refuse('FORBIDDEN'); END IF;
END $$;
COMMENT ON FUNCTION require_role IS 'Refuses unless the viewer has one of the roles.';

CREATE OR REPLACE FUNCTION is_url(address text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT length(address) <= 2000 AND address ~* '^[a-z][a-z0-9+.-]*:[^\s<>"]+$'
    AND address !~* '^(javascript|data|vbscript):'
$$;
COMMENT ON FUNCTION is_url IS
  'Returns whether a text is a web address, or an address with the scheme of an application.';

CREATE OR REPLACE FUNCTION web_address(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN words(value) ~* '^www\.[^\s/:]' THEN 'https://' || words(value) ELSE words(value) END
$$;
COMMENT ON FUNCTION web_address IS
  'Returns an address as it is kept: one that begins with www. as people type it gets https. Null if there is none.';

CREATE OR REPLACE FUNCTION is_email(address text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT length(address) <= 254 AND address ~ '^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+\.[^\s@<>"(),:;\\[\]]+$'
    AND address = one_line(address)
$$;
COMMENT ON FUNCTION is_email IS
  'Returns whether a text looks like an email address: one @ with text on both sides, without spaces and control '
  'characters.';

CREATE OR REPLACE FUNCTION one_line(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(value, '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+', ' ', 'g')
$$;
COMMENT ON FUNCTION one_line IS
  'Returns a text with line breaks, other control characters and overrides of direction replaced by a space.';

CREATE OR REPLACE FUNCTION audit(actor bigint, act text, about bigint DEFAULT NULL, detail text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO audit_log (actor_id, act, about_id, detail) VALUES (nullif(actor, 0), act, about, detail);
END $$;
COMMENT ON FUNCTION audit IS
  'Adds an entry to the audit log about an account. Never includes secrets or texts by users.';

CREATE OR REPLACE FUNCTION hold_people(people bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('person', e.id))
  FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id) WHERE u.id IS NOT NULL ORDER BY u.id) e;
END $$;
COMMENT ON FUNCTION hold_people IS
  'Locks users, shared, until the transaction ends: they cannot block users or delete their accounts meanwhile. Call '
  'it before any other lock.';

CREATE OR REPLACE FUNCTION take_people(people bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('person', e.id))
  FROM (SELECT DISTINCT u.id FROM unnest(people) AS u(id) WHERE u.id IS NOT NULL ORDER BY u.id) e;
END $$;
COMMENT ON FUNCTION take_people IS 'Locks users exclusively until the transaction ends, and waits for shared locks.';

CREATE OR REPLACE VIEW constraint_error AS
SELECT c.table_name, c.constraint_name, substring(c.note, ': ([A-Z_]+)$') AS code,
  substring(c.note, '^(\w+): ') AS argument
FROM (
  SELECT t.relname::text COLLATE "default" AS table_name, k.conname::text COLLATE "default" AS constraint_name,
    obj_description(k.oid, 'pg_constraint') COLLATE "default" AS note
  FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
  WHERE t.relnamespace = (SELECT n.relnamespace FROM pg_class n WHERE n.oid = 'app_user'::regclass)
  UNION ALL SELECT t.relname::text, i.relname::text, obj_description(i.oid, 'pg_class')
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
  WHERE x.indisunique AND t.relnamespace = (SELECT n.relnamespace FROM pg_class n WHERE n.oid = 'app_user'::regclass)
) c
WHERE c.note ~ '^(\w+: [A-Z_]+|unreachable)$';
COMMENT ON VIEW constraint_error IS
  'One constraint with the code and the argument of the user error for a violation, from the comment of the '
  'constraint, argument: CODE. Without a code (unreachable), no input can violate the constraint.';
