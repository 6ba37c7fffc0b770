-- Names, as lists sort and searches find them.

CREATE OR REPLACE FUNCTION spaced(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT translate(name, '-.,''’_/()', '          ')
$$;
COMMENT ON FUNCTION spaced IS
  'A folded name with its words apart: "anne-marie o''neill" holds four.';

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
  'What finds names that hold a word beginning with each of these words. Of nothing: finds '
  'nothing.';

CREATE OR REPLACE FUNCTION word_query(words text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT plainto_tsquery('simple', left(words, 1000))
$$;
COMMENT ON FUNCTION word_query IS
  'What finds texts that hold every one of these words; of nothing: finds nothing. Beyond a '
  'thousand characters nobody searches, and queries of many words exhaust the stack.';
