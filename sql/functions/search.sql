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

CREATE OR REPLACE PROCEDURE make_searches() LANGUAGE plpgsql AS $$
BEGIN
  CALL make_search('search', '< coalesce(edge_id, 9223372036854775807)', 'DESC',
    'Returns the nodes of these types that match all words. In names, the beginning of a word is enough; in texts, '
    'words must be complete.');
  CALL make_search('search_newer', '> coalesce(edge_id, 0)', 'ASC',
    'Returns the same nodes as search, from the end of its order.');
END $$;
COMMENT ON PROCEDURE make_searches IS 'Creates the functions that search, newest first and oldest first.';
