CREATE OR REPLACE FUNCTION graph.search(viewer bigint, words text, types text[], page integer, edge_id bigint)
 RETURNS TABLE(id bigint)
 LANGUAGE sql
 STABLE
AS $function$
  WITH
  some_1 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id FROM visible_circle(viewer) t
      WHERE (types IS NULL OR 'CIRCLE' = ANY (types)) AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND name_vector(folded(t.name)) @@ (SELECT prefix_query(words)) OFFSET 0) n LIMIT 200),
  new_1 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id, folded(t.name) AS sought FROM visible_circle(viewer) t
      WHERE (SELECT count(*) FROM some_1) = 200 AND t.id < coalesce(edge_id, 9223372036854775807)
      ORDER BY t.id DESC LIMIT 500) n
    WHERE name_vector(n.sought) @@ (SELECT prefix_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_2 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id FROM location t
      WHERE (types IS NULL OR 'LOCATION' = ANY (types)) AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND name_vector(t.name_key) @@ (SELECT prefix_query(words)) OFFSET 0) n LIMIT 200),
  new_2 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id, t.name_key AS sought FROM location t
      WHERE (SELECT count(*) FROM some_2) = 200 AND t.id < coalesce(edge_id, 9223372036854775807)
      ORDER BY t.id DESC LIMIT 500) n
    WHERE name_vector(n.sought) @@ (SELECT prefix_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_3 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id FROM visible_post(viewer) t
      WHERE (types IS NULL OR 'POST' = ANY (types)) AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND t.search @@ (SELECT word_query(words)) OFFSET 0) n LIMIT 200),
  new_3 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id, t.search AS sought FROM visible_post(viewer) t
      WHERE (SELECT count(*) FROM some_3) = 200 AND t.id < coalesce(edge_id, 9223372036854775807)
      ORDER BY t.id DESC LIMIT 2000) n
    WHERE n.sought @@ (SELECT word_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_4 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.post_id AS id FROM event t JOIN visible_post(viewer) p ON p.id = t.post_id
      WHERE (types IS NULL OR 'POST' = ANY (types)) AND t.post_id + 0 < coalesce(edge_id, 9223372036854775807)
        AND to_tsvector('simple', t.title) @@ (SELECT word_query(words)) AND NOT p.search @@ (SELECT word_query(words)) OFFSET 0) n LIMIT 200),
  new_4 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.post_id AS id, to_tsvector('simple', t.title) AS sought FROM event t
      WHERE (SELECT count(*) FROM some_4) = 200 AND t.post_id < coalesce(edge_id, 9223372036854775807)
      ORDER BY t.post_id DESC LIMIT 2000) n JOIN visible_post(viewer) p ON p.id = n.id
    WHERE n.sought @@ (SELECT word_query(words)) AND NOT p.search @@ (SELECT word_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_5 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id FROM product t
      WHERE (types IS NULL OR 'PRODUCT' = ANY (types)) AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND t.search @@ (SELECT word_query(words)) OFFSET 0) n LIMIT 200),
  new_5 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id, t.search AS sought FROM product t
      WHERE (SELECT count(*) FROM some_5) = 200 AND t.id < coalesce(edge_id, 9223372036854775807)
      ORDER BY t.id DESC LIMIT 500) n
    WHERE n.sought @@ (SELECT word_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_6 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id FROM visible_user(viewer) t
      WHERE (types IS NULL OR 'USER' = ANY (types)) AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND name_vector(t.name_key || ' ' || t.username) @@ (SELECT prefix_query(words)) OFFSET 0) n LIMIT 200),
  new_6 AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT t.id AS id, t.name_key || ' ' || t.username AS sought FROM visible_user(viewer) t
      WHERE (SELECT count(*) FROM some_6) = 200 AND t.id < coalesce(edge_id, 9223372036854775807)
      ORDER BY t.id DESC LIMIT 500) n
    WHERE name_vector(n.sought) @@ (SELECT prefix_query(words))
    ORDER BY n.id DESC LIMIT page)
  SELECT f.id FROM (
    SELECT s.id FROM some_1 s WHERE (SELECT count(*) FROM some_1) < 200
    UNION ALL
    SELECT n.id FROM new_1 n WHERE (SELECT count(*) FROM new_1) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.id AS id FROM visible_circle(viewer) t
      WHERE (SELECT count(*) FROM some_1) = 200 AND ((SELECT count(*) FROM new_1) >= page) IS NOT TRUE
        AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND name_vector(folded(t.name)) @@ (SELECT prefix_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_2 s WHERE (SELECT count(*) FROM some_2) < 200
    UNION ALL
    SELECT n.id FROM new_2 n WHERE (SELECT count(*) FROM new_2) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.id AS id FROM location t
      WHERE (SELECT count(*) FROM some_2) = 200 AND ((SELECT count(*) FROM new_2) >= page) IS NOT TRUE
        AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND name_vector(t.name_key) @@ (SELECT prefix_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_3 s WHERE (SELECT count(*) FROM some_3) < 200
    UNION ALL
    SELECT n.id FROM new_3 n WHERE (SELECT count(*) FROM new_3) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.id AS id FROM visible_post(viewer) t
      WHERE (SELECT count(*) FROM some_3) = 200 AND ((SELECT count(*) FROM new_3) >= page) IS NOT TRUE
        AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND t.search @@ (SELECT word_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_4 s WHERE (SELECT count(*) FROM some_4) < 200
    UNION ALL
    SELECT n.id FROM new_4 n WHERE (SELECT count(*) FROM new_4) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.post_id AS id FROM event t JOIN visible_post(viewer) p ON p.id = t.post_id
      WHERE (SELECT count(*) FROM some_4) = 200 AND ((SELECT count(*) FROM new_4) >= page) IS NOT TRUE
        AND t.post_id + 0 < coalesce(edge_id, 9223372036854775807)
        AND to_tsvector('simple', t.title) @@ (SELECT word_query(words)) AND NOT p.search @@ (SELECT word_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_5 s WHERE (SELECT count(*) FROM some_5) < 200
    UNION ALL
    SELECT n.id FROM new_5 n WHERE (SELECT count(*) FROM new_5) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.id AS id FROM product t
      WHERE (SELECT count(*) FROM some_5) = 200 AND ((SELECT count(*) FROM new_5) >= page) IS NOT TRUE
        AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND t.search @@ (SELECT word_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_6 s WHERE (SELECT count(*) FROM some_6) < 200
    UNION ALL
    SELECT n.id FROM new_6 n WHERE (SELECT count(*) FROM new_6) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT t.id AS id FROM visible_user(viewer) t
      WHERE (SELECT count(*) FROM some_6) = 200 AND ((SELECT count(*) FROM new_6) >= page) IS NOT TRUE
        AND t.id + 0 < coalesce(edge_id, 9223372036854775807)
        AND name_vector(t.name_key || ' ' || t.username) @@ (SELECT prefix_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)) f
  ORDER BY f.id DESC LIMIT page
$function$
