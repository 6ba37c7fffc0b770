-- Names, as lists sort and searches find them.

CREATE OR REPLACE FUNCTION spaced(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(name, '-.,''’_/()', '          ')
$$;
COMMENT ON FUNCTION spaced IS 'Returns a folded name with its words separated: "anne-marie o''neill" has four.';

CREATE OR REPLACE FUNCTION prefix_query(words text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE terms text;
BEGIN
  SELECT string_agg(quote_literal(word) || ':*', ' & ') INTO terms
  FROM regexp_split_to_table(folded(left(words, 1000)), '[^[:alnum:]]+') AS word
  WHERE word <> '';
  RETURN to_tsquery('simple', coalesce(terms, ''));
END $$;
COMMENT ON FUNCTION prefix_query IS
  'Returns a query for names that contain a word beginning with each of these words. Finds nothing if there are none.';

CREATE OR REPLACE FUNCTION word_query(words text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE all_words tsquery := plainto_tsquery('simple', left(words, 1000));
BEGIN
  RETURN CASE WHEN numnode(all_words) = 0 THEN all_words ELSE (all_words::text || ':*')::tsquery END;
END $$;
COMMENT ON FUNCTION word_query IS
  'Returns a query for texts that contain all of these words, of the last one at least the beginning. Finds nothing if '
  'there are none. Only the first 1000 characters count, because queries of many words exhaust the stack.';
