-- Names, as lists sort and searches find them.

-- A text without case and accents: what name_key holds of a name, and what a search is compared as.
CREATE FUNCTION folded(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(replace(translate(
    lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g')),
    'øłđðı', 'olddi'), 'ß', 'ss'), 'æ', 'ae')
$$;

-- What finds texts that hold a word beginning with each of these words. Of nothing: finds nothing.
CREATE FUNCTION prefix_query(words text) RETURNS tsquery LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE terms text;
BEGIN
  SELECT string_agg(quote_literal(word) || ':*', ' & ') INTO terms
  FROM regexp_split_to_table(translate(folded(words), '\', ' '), '[^[:alnum:]]+') AS word
  WHERE word <> '';
  RETURN to_tsquery('simple', coalesce(terms, ''));
END $$;

-- users(search:), search
CREATE INDEX ON app_user USING gin (to_tsvector('simple', name_key || ' ' || lower(username)));
-- locations(filter: {search}), search
CREATE INDEX ON location USING gin (to_tsvector('simple', name_key));
-- circles(search:), search
CREATE INDEX ON circle USING gin (to_tsvector('simple', folded(name)));
-- search, for events by title
CREATE INDEX ON event USING gin (to_tsvector('simple', title));
