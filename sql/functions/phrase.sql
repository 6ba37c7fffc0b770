-- What the server says to people, in their language: the phrases of sql/phrases, and what finds and fills them.

DELETE FROM phrase WHERE is_shipped;

CREATE OR REPLACE FUNCTION tell_phrases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed WHERE NOT is_shipped) THEN PERFORM touch_nodes('phrase', '{0}', '{0}'); END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_phrases IS
  'Touches the phrases when those of a graph change. Shipped ones change with the files, when servers start.';

-- A language matters from its first phrase on.
CALL watch('phrase', '{added,edited,removed}', 'tell_phrases');
CALL told('phrase', 'phrase');
CALL told('locale', 'phrase');

CREATE OR REPLACE PROCEDURE phrases(language text, list text) LANGUAGE plpgsql AS $$
DECLARE
  line text;
  part text[];
BEGIN
  INSERT INTO locale (name) VALUES (language) ON CONFLICT (name) DO NOTHING;
  -- a line that begins with spaces goes on with the one before
  FOREACH line IN ARRAY string_to_array(regexp_replace(list, E'\n +', ' ', 'g'), E'\n') LOOP
    CONTINUE WHEN line = '' OR line LIKE '#%';
    part := regexp_match(line, '^([A-Za-z0-9_.]+)(?:\[([a-z]+)\])?: (.+)$');
    IF part IS NULL THEN RAISE EXCEPTION 'This is no phrase: %', line; END IF;
    INSERT INTO phrase (locale, key, form, words, is_shipped)
    VALUES (language, part[1], coalesce(part[2], 'other'), replace(part[3], '\n', E'\n'), true)
    ON CONFLICT (locale, key, form, is_shipped) DO UPDATE SET words = EXCLUDED.words;
  END LOOP;
END $$;
COMMENT ON PROCEDURE phrases IS
  'Adds the phrases of a language, one a line: the key, the plural form in brackets if it is not "other", a colon, and '
  'the words. \n is a line break, and # begins a remark. For the files in sql/phrases.';

CREATE OR REPLACE FUNCTION plural_form(language text, number numeric) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN CASE split_part(language, '-', 1) WHEN 'fr' THEN number < 2 WHEN 'pt' THEN number < 2
    ELSE number = 1 END THEN 'one' ELSE 'other' END;
COMMENT ON FUNCTION plural_form IS 'Returns the plural form of a number in a language, as Unicode''s CLDR names it.';

CREATE OR REPLACE FUNCTION known_locale(wanted text) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  tag text;
  found_name text;
BEGIN
  FOREACH tag IN ARRAY coalesce(string_to_array(wanted, ' '), '{}') LOOP
    WHILE tag <> '' LOOP
      SELECT l.name INTO found_name FROM locale l WHERE lower(l.name) = lower(tag);
      IF FOUND THEN RETURN found_name; END IF;
      tag := CASE WHEN strpos(tag, '-') > 0 THEN left(tag, -strpos(reverse(tag), '-')) ELSE '' END;
    END LOOP;
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION known_locale IS
  'Returns the first of these language tags, separated by spaces, that has phrases, or the language with phrases that '
  'it is a dialect of (RFC 4647, 3.4). Null if there is none.';

CREATE OR REPLACE FUNCTION spoken(wanted text, viewer bigint DEFAULT 0) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce(known_locale(wanted),
    CASE WHEN viewer <> 0 THEN
      known_locale((SELECT s.locale FROM user_setting s WHERE s.user_id = viewer)) END, 'en');
END $$;
COMMENT ON FUNCTION spoken IS
  'Returns the language for a reader: that of the request''s tags, otherwise that of the account, otherwise English.';

CREATE OR REPLACE FUNCTION spoken_now() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT spoken(coalesce(current_setting('sociograph.locale', true), ''),
    coalesce(nullif(current_setting('sociograph.viewer', true), '')::bigint, 0))
$$;
COMMENT ON FUNCTION spoken_now IS 'Returns the language of the mutation''s client.';

CREATE OR REPLACE FUNCTION phrase_words(language text, key text, number numeric DEFAULT NULL) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  tongue text;
  name text;
  found_words text;
BEGIN
  IF key IS NULL THEN RETURN NULL; END IF;
  FOREACH tongue IN ARRAY ARRAY[language, split_part(language, '-', 1), 'en'] LOOP
    name := key;
    LOOP
      SELECT p.words INTO found_words FROM phrase p
      WHERE p.locale = tongue AND p.key = name AND p.form IN ('other', plural_form(tongue, number))
      ORDER BY p.form = 'other', p.is_shipped LIMIT 1;
      IF FOUND THEN RETURN found_words; END IF;
      EXIT WHEN coalesce(strpos(name, '.'), 0) = 0;
      name := left(name, -strpos(reverse(name), '.'));
    END LOOP;
  END LOOP;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION phrase_words IS
  'Returns the words of a key in a language, in what it is a dialect of, or in English; in each for the key itself, '
  'then without its last part. Null if there are none.';

CREATE OR REPLACE FUNCTION grouped(language text, number numeric) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  IF abs(number) < 1000 OR number <> trunc(number) THEN RETURN number::text; END IF;
  RETURN replace(to_char(number, 'FM999,999,999,999,999'), ',', phrase_words(language, 'number.group'));
END $$;
COMMENT ON FUNCTION grouped IS 'Returns a number with its thousands separated as in the language.';

CREATE OR REPLACE FUNCTION zone_of(person bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT s.time_zone FROM user_setting s WHERE s.user_id = person), 'UTC');
END $$;
COMMENT ON FUNCTION zone_of IS 'Returns the time zone of an account, for times in texts: UTC unless its owner said.';

CREATE OR REPLACE FUNCTION spoken_time(language text, zone text, instant timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE moment timestamp := instant AT TIME ZONE zone;
BEGIN
  RETURN filled(language, phrase_words(language, 'date.form'), jsonb_build_object(
    'weekday', split_part(phrase_words(language, 'date.weekdays'), ' ', extract(isodow FROM moment)::int),
    'day', extract(day FROM moment)::int::text,
    'month', split_part(phrase_words(language, 'date.months'), ' ', extract(month FROM moment)::int),
    'time', to_char(moment, 'HH24:MI')));
END $$;
COMMENT ON FUNCTION spoken_time IS 'Returns a date and time in words, in a time zone.';

CREATE OR REPLACE FUNCTION filled(language text, words text, given jsonb)
RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  parts text[] := string_to_array(words, '{');
  made text := parts[1];
  name text;
  value text;
BEGIN
  IF words IS NULL THEN RETURN NULL; END IF;
  -- in one pass: a display name of "{count}" stays what it is
  FOR i IN 2..cardinality(parts) LOOP
    name := split_part(parts[i], '}', 1);
    value := given ->> name;
    IF value IS NULL THEN
      made := made || '{' || parts[i];
      CONTINUE;
    END IF;
    IF jsonb_typeof(given -> name) = 'number' THEN value := grouped(language, value::numeric); END IF;
    made := made || value || substr(parts[i], length(name) + 2);
  END LOOP;
  RETURN made;
END $$;
COMMENT ON FUNCTION filled IS
  'Returns words with values in place of the names between braces. Names without a value remain.';

CREATE OR REPLACE FUNCTION phrase(language text, key text, given jsonb DEFAULT '{}') RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN filled(language, coalesce(phrase_words(language, key, (given ->> 'count')::numeric), key), given);
END $$;
COMMENT ON FUNCTION phrase IS 'Returns a text in a language, with values in it. The key if there is no such phrase.';

CREATE OR REPLACE FUNCTION refusal_message(language text, refusal jsonb) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  place text := (SELECT '.' || e.step FROM jsonb_array_elements_text(nullif(refusal -> 'path', 'null'))
    WITH ORDINALITY AS e(step, place) WHERE e.step !~ '^\d+$' ORDER BY e.place DESC LIMIT 1);
  given jsonb := jsonb_strip_nulls(jsonb_build_object('min', refusal -> 'min', 'max', refusal -> 'max'))
    || coalesce(refusal -> 'given', '{}');
  number numeric := coalesce(given ->> 'count', given ->> 'max', given ->> 'min')::numeric;
BEGIN
  RETURN filled(language, coalesce(
    CASE WHEN refusal ? 'rule' THEN
      phrase_words(language, concat('error.', refusal ->> 'rule', place), number) END,
    phrase_words(language, concat('error.', refusal ->> 'code', place), number)), given);
END $$;
COMMENT ON FUNCTION refusal_message IS
  'Returns the message of a refusal: by its rule, otherwise by its code, and in each for the last name of its path. '
  'Null if there is none, so that clients read the description of the code.';

CREATE OR REPLACE FUNCTION worded_refusals(refusals jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE language text := spoken_now();
BEGIN
  RETURN (SELECT jsonb_agg(CASE WHEN e.refusal ? 'message' THEN e.refusal
      ELSE e.refusal - 'given' || jsonb_build_object('message', refusal_message(language, e.refusal)) END
    ORDER BY e.place)
  FROM jsonb_array_elements(refusals) WITH ORDINALITY AS e(refusal, place));
END $$;
COMMENT ON FUNCTION worded_refusals IS
  'Returns refusals with their messages in the language of the mutation''s client. refuse_all calls it.';
