-- Names, as lists sort and searches find them.

-- A text without case and accents: what name_key holds of a name, and what a search is compared as.
CREATE FUNCTION folded(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(translate(
    lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g')),
    'øłđðı', 'olddi'), 'ß', 'ss'), 'æ', 'ae')
$$;

-- A folded name with its words apart: "anne-marie o'neill" holds four.
CREATE FUNCTION spaced(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(name, '-.,''’_/()', '          ')
$$;

-- The words of a name, for an index.
CREATE FUNCTION name_vector(name text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', regexp_replace(name, '[^[:alnum:]]+', ' ', 'g'))
$$;

-- What finds names that hold a word beginning with each of these words. Of nothing: finds nothing.
CREATE FUNCTION prefix_query(words text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE terms text;
BEGIN
  SELECT string_agg(quote_literal(word) || ':*', ' & ') INTO terms
  FROM regexp_split_to_table(folded(left(words, 1000)), '[^[:alnum:]]+') AS word
  WHERE word <> '';
  RETURN to_tsquery('simple', coalesce(terms, ''));
END $$;

-- What finds texts that hold every one of these words; of nothing: finds nothing. Beyond a thousand
-- characters nobody searches, and queries of many words exhaust the stack.
CREATE FUNCTION word_query(words text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT plainto_tsquery('simple', left(words, 1000))
$$;

-- users(search:), search
CREATE INDEX ON app_user USING gin (name_vector(name_key || ' ' || username));
-- locations(filter: {search}), search
CREATE INDEX ON location USING gin (name_vector(name_key));
-- circles(search:), search
CREATE INDEX ON circle USING gin (name_vector(folded(name)));
-- search, for events by title
CREATE INDEX ON event USING gin (to_tsvector('simple', title));
