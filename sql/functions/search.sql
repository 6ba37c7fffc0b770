-- One search over whatever CALL sought names, newest first: ids grow, so they sort by age across types. The function
-- search is made of one block for each: Tests/Fixtures/catalog/search.sql shows it.
--
-- Of each type the word index is asked for 200 rows: where there are fewer, these are all, and are sorted. Of
-- a word that is more common the newest are looked through, 500 names or 2,000 texts, among which it is often
-- enough, however many rows have it in all. Where it is not, all are taken by the index. OFFSET 0 keeps
-- PostgreSQL from going through rows by age where the index is meant, + 0 from gathering all older rows, too.

CREATE OR REPLACE PROCEDURE make_search(name text, beyond text, direction text, note text) LANGUAGE plpgsql AS $make$
DECLARE
  found text;
  arms text;
BEGIN
  WITH part AS (
    SELECT row_number() OVER (ORDER BY p.type, p.id) AS place, p.*,
      coalesce((SELECT replace(n.visible, 'person', 'viewer') FROM noun n WHERE n.name = p.source), p.source) AS rows,
      CASE WHEN p.is_name THEN 'name_vector(%s) @@ (SELECT prefix_query(words))'
        ELSE '%s @@ (SELECT word_query(words))' END AS match
    FROM search_part p),
  whole AS (
    SELECT p.place, p.type, p.id, p.newest, p.words, p.rows,
      concat_ws(' ', 'n', nullif(format(p.joined, 'n.id'), '')) AS newest_rows,
      concat_ws(' ', format(p.match, 'n.sought'), nullif(p.besides, '')) AS newest_match,
      concat_ws(' ', p.rows, 't', nullif(format(p.joined, 't.' || p.id), '')) AS all_rows,
      concat_ws(' ', format(p.match, p.words), nullif(p.besides, '')) AS all_match
    FROM part p)
  SELECT string_agg(format($block$
  some_%1$s AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.%2$I AS id FROM %3$s
      WHERE (types IS NULL OR %4$L = ANY (types)) AND t.%2$I + 0 %11$s
        AND %5$s OFFSET 0) n LIMIT 200),
  new_%1$s AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.%2$I AS id, %6$s AS sought FROM %7$s t
      WHERE (SELECT count(*) FROM some_%1$s) = 200 AND t.%2$I %11$s
      ORDER BY t.%2$I %12$s LIMIT %8$s) %9$s
    WHERE %10$s
    ORDER BY n.id %12$s LIMIT page)$block$,
      w.place, w.id, w.all_rows, w.type, w.all_match, w.words, w.rows, w.newest, w.newest_rows, w.newest_match,
      beyond, direction),
      ',' ORDER BY w.place),
    string_agg(format($arm$
    SELECT s.id FROM some_%1$s s WHERE (SELECT count(*) FROM some_%1$s) < 200
    UNION ALL
    SELECT n.id FROM new_%1$s n WHERE (SELECT count(*) FROM new_%1$s) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.%2$I AS id FROM %3$s
      WHERE (SELECT count(*) FROM some_%1$s) = 200 AND ((SELECT count(*) FROM new_%1$s) >= page) IS NOT TRUE
        AND t.%2$I + 0 %5$s
        AND %4$s OFFSET 0) a
    ORDER BY a.id %6$s LIMIT page)$arm$, w.place, w.id, w.all_rows, w.all_match, beyond, direction),
      E'\n    UNION ALL' ORDER BY w.place)
  INTO found, arms FROM whole w;
  EXECUTE format($function$
CREATE OR REPLACE FUNCTION %s(viewer bigint, words text, types text[], page int, edge_id bigint)
RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $search$
  WITH%s
  SELECT f.id FROM (%s) f
  ORDER BY f.id %s LIMIT page
$search$$function$, name, found, arms, direction);
  EXECUTE format('COMMENT ON FUNCTION %I IS %L', name, note);
END $make$;
COMMENT ON PROCEDURE make_search IS
  'Creates a function that searches, with one block for each row of search_part: the nodes beyond an ID, in one '
  'direction.';

-- The best matches: of each type 200 that the word index gives, and where these are not all, the newest as well. Names
-- come before texts. Texts that match alike, to a tenth, and names of one rank are sorted by age, so that a place is
-- the same on every page. direction: 1 from the best one on, -1 from the last.
CREATE OR REPLACE PROCEDURE make_best() LANGUAGE plpgsql AS $make$
DECLARE
  found text;
  arms text;
BEGIN
  WITH part AS (
    SELECT row_number() OVER (ORDER BY p.type, p.id) AS number, p.*,
      coalesce((SELECT replace(n.visible, 'person', 'viewer') FROM noun n WHERE n.name = p.source), p.source) AS rows,
      CASE WHEN p.is_name THEN 'name_vector(%s) @@ (SELECT prefix_query(words))'
        ELSE '%s @@ (SELECT word_query(words))' END AS match
    FROM search_part p WHERE p.type <> 'USER')
  SELECT string_agg(format($block$
  some_%1$s AS MATERIALIZED (
    SELECT n.id, n.sought FROM (
      SELECT t.%2$I AS id, %6$s AS sought FROM %3$s
      WHERE (types IS NULL OR %4$L = ANY (types)) AND %5$s OFFSET 0) n LIMIT 200),
  new_%1$s AS MATERIALIZED (
    SELECT n.id, n.sought FROM (
      SELECT t.%2$I AS id, %6$s AS sought FROM %7$s t
      WHERE (SELECT count(*) FROM some_%1$s) = 200
      ORDER BY t.%2$I DESC LIMIT %8$s) %9$s
    WHERE %10$s LIMIT 200)$block$,
      p.number, p.id, concat_ws(' ', p.rows, 't', nullif(format(p.joined, 't.' || p.id), '')), p.type,
      concat_ws(' ', format(p.match, p.words), nullif(p.besides, '')), p.words, p.rows, p.newest,
      concat_ws(' ', 'n', nullif(format(p.joined, 'n.id'), '')),
      concat_ws(' ', format(p.match, 'n.sought'), nullif(p.besides, ''))), ',' ORDER BY p.number),
    string_agg(format($arm$
    UNION ALL
    SELECT f.id, %2$s FROM (SELECT * FROM some_%1$s UNION ALL SELECT * FROM new_%1$s) f$arm$, p.number,
      CASE WHEN p.is_name THEN $$CASE WHEN f.sought = (SELECT folded(btrim(words))) THEN 4000000
        WHEN starts_with(f.sought, (SELECT folded(btrim(words)))) THEN 3000000 ELSE 2000000 END$$
      ELSE 'round(10 * ts_rank_cd(f.sought, (SELECT word_query(words)), 32))::bigint * 100000' END),
      '' ORDER BY p.number)
  INTO found, arms FROM part p;
  EXECUTE format($function$
CREATE OR REPLACE FUNCTION search_best(viewer bigint, words text, types text[], direction int, page int,
  edge_place bigint, edge_id bigint)
RETURNS TABLE (id bigint, place bigint) LANGUAGE sql STABLE AS $search$
  WITH%s,
  ranked AS (
    SELECT f.id, max(f.place) AS place FROM (
    SELECT u.id, 5000000 - (u.place - 1) / 4294967296 / 2 * 1000000 AS place
    FROM found_user(viewer, words, NULL, 1, 200, NULL, NULL) u
    WHERE types IS NULL OR 'USER' = ANY (types)%s) f
    GROUP BY f.id)
  SELECT r.id, r.place FROM ranked r
  WHERE edge_place IS NULL OR (direction * r.place, direction * r.id) < (direction * edge_place, direction * edge_id)
  ORDER BY direction * r.place DESC, direction * r.id DESC LIMIT page
$search$$function$, found, arms);
  COMMENT ON FUNCTION search_best IS
  'Returns the nodes of these types that match all words, best match first. Users come before other nodes with such a '
  'name, and names before texts.';
END $make$;
COMMENT ON PROCEDURE make_best IS 'Creates the function search_best, with one block for each row of search_part.';

CREATE OR REPLACE PROCEDURE make_searches() LANGUAGE plpgsql AS $$
BEGIN
  CALL make_best();
  CALL make_search('search', '< coalesce(edge_id, 9223372036854775807)', 'DESC',
    'Returns the nodes of these types that match all words. In names, the beginning of a word is enough; in texts, '
    'words must be complete.');
  CALL make_search('search_newer', '> coalesce(edge_id, 0)', 'ASC',
    'Returns the same nodes as search, from the end of its order.');
END $$;
COMMENT ON PROCEDURE make_searches IS 'Creates the functions that search, newest first and oldest first.';
