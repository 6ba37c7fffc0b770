-- One search over people, posts, locations, products and circles, newest first: ids grow, so they
-- sort by age across types.
--
-- Of each type the word index is asked for 200 rows: where there are fewer, these are all, and are sorted. Of
-- a word that is more common the newest are looked through, 500 names or 2,000 texts, among which it is often
-- enough, however many rows have it in all. Where it is not, all are taken by the index. OFFSET 0 keeps
-- PostgreSQL from going through rows by age where the index is meant, + 0 from gathering all older rows, too.

CREATE OR REPLACE FUNCTION search(viewer bigint, words text, types text[], page int,
  before_id bigint) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  WITH some_user AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT u.id AS id FROM visible_user(viewer) u
      WHERE (types IS NULL OR 'USER' = ANY (types)) AND u.id + 0 < coalesce(before_id, 9223372036854775807)
        AND name_vector(u.name_key || ' ' || u.username) @@ (SELECT prefix_query(words)) OFFSET 0) n LIMIT 200),
  new_user AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT u.id AS id, u.name_key || ' ' || u.username AS name FROM visible_user(viewer) u
      WHERE (SELECT count(*) FROM some_user) = 200 AND u.id < coalesce(before_id, 9223372036854775807)
      ORDER BY u.id DESC LIMIT 500) n
    WHERE name_vector(n.name) @@ (SELECT prefix_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_post AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT p.id AS id FROM visible_post(viewer) p
      WHERE (types IS NULL OR 'POST' = ANY (types)) AND p.id + 0 < coalesce(before_id, 9223372036854775807)
        AND p.search @@ (SELECT word_query(words)) OFFSET 0) n LIMIT 200),
  new_post AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT p.id AS id, p.search FROM visible_post(viewer) p
      WHERE (SELECT count(*) FROM some_post) = 200 AND p.id < coalesce(before_id, 9223372036854775807)
      ORDER BY p.id DESC LIMIT 2000) n
    WHERE n.search @@ (SELECT word_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_event AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT e.post_id AS id FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
      WHERE (types IS NULL OR 'POST' = ANY (types)) AND e.post_id + 0 < coalesce(before_id, 9223372036854775807)
        AND to_tsvector('simple', e.title) @@ (SELECT word_query(words))
        AND NOT p.search @@ (SELECT word_query(words)) OFFSET 0) n LIMIT 200),
  new_event AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT e.post_id AS id, e.title FROM event e
      WHERE (SELECT count(*) FROM some_event) = 200 AND e.post_id < coalesce(before_id, 9223372036854775807)
      ORDER BY e.post_id DESC LIMIT 2000) n JOIN visible_post(viewer) p ON p.id = n.id
    WHERE to_tsvector('simple', n.title) @@ (SELECT word_query(words))
      AND NOT p.search @@ (SELECT word_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_location AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT l.id AS id FROM location l
      WHERE (types IS NULL OR 'LOCATION' = ANY (types)) AND l.id + 0 < coalesce(before_id, 9223372036854775807)
        AND name_vector(l.name_key) @@ (SELECT prefix_query(words)) OFFSET 0) n LIMIT 200),
  new_location AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT l.id AS id, l.name_key FROM location l
      WHERE (SELECT count(*) FROM some_location) = 200 AND l.id < coalesce(before_id, 9223372036854775807)
      ORDER BY l.id DESC LIMIT 500) n
    WHERE name_vector(n.name_key) @@ (SELECT prefix_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_product AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT r.id AS id FROM product r
      WHERE (types IS NULL OR 'PRODUCT' = ANY (types)) AND r.id + 0 < coalesce(before_id, 9223372036854775807)
        AND r.search @@ (SELECT word_query(words)) OFFSET 0) n LIMIT 200),
  new_product AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT r.id AS id, r.search FROM product r
      WHERE (SELECT count(*) FROM some_product) = 200 AND r.id < coalesce(before_id, 9223372036854775807)
      ORDER BY r.id DESC LIMIT 500) n
    WHERE n.search @@ (SELECT word_query(words))
    ORDER BY n.id DESC LIMIT page),
  some_circle AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT c.id AS id FROM visible_circle(viewer) c
      WHERE (types IS NULL OR 'CIRCLE' = ANY (types)) AND c.id + 0 < coalesce(before_id, 9223372036854775807)
        AND name_vector(folded(c.name)) @@ (SELECT prefix_query(words)) OFFSET 0) n LIMIT 200),
  new_circle AS MATERIALIZED (
    SELECT n.id FROM (
      SELECT c.id AS id, folded(c.name) AS name FROM visible_circle(viewer) c
      WHERE (SELECT count(*) FROM some_circle) = 200 AND c.id < coalesce(before_id, 9223372036854775807)
      ORDER BY c.id DESC LIMIT 500) n
    WHERE name_vector(n.name) @@ (SELECT prefix_query(words))
    ORDER BY n.id DESC LIMIT page)
  SELECT f.id FROM (
    SELECT s.id FROM some_user s WHERE (SELECT count(*) FROM some_user) < 200
    UNION ALL
    SELECT n.id FROM new_user n WHERE (SELECT count(*) FROM new_user) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT u.id AS id FROM visible_user(viewer) u
      WHERE (SELECT count(*) FROM some_user) = 200
        AND ((SELECT count(*) FROM new_user) >= page) IS NOT TRUE
        AND u.id + 0 < coalesce(before_id, 9223372036854775807)
        AND name_vector(u.name_key || ' ' || u.username) @@ (SELECT prefix_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_post s WHERE (SELECT count(*) FROM some_post) < 200
    UNION ALL
    SELECT n.id FROM new_post n WHERE (SELECT count(*) FROM new_post) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT p.id AS id FROM visible_post(viewer) p
      WHERE (SELECT count(*) FROM some_post) = 200
        AND ((SELECT count(*) FROM new_post) >= page) IS NOT TRUE
        AND p.id + 0 < coalesce(before_id, 9223372036854775807)
        AND p.search @@ (SELECT word_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_event s WHERE (SELECT count(*) FROM some_event) < 200
    UNION ALL
    SELECT n.id FROM new_event n WHERE (SELECT count(*) FROM new_event) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT e.post_id AS id FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
      WHERE (SELECT count(*) FROM some_event) = 200
        AND ((SELECT count(*) FROM new_event) >= page) IS NOT TRUE
        AND e.post_id + 0 < coalesce(before_id, 9223372036854775807)
        AND to_tsvector('simple', e.title) @@ (SELECT word_query(words))
        AND NOT p.search @@ (SELECT word_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_location s WHERE (SELECT count(*) FROM some_location) < 200
    UNION ALL
    SELECT n.id FROM new_location n WHERE (SELECT count(*) FROM new_location) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT l.id AS id FROM location l
      WHERE (SELECT count(*) FROM some_location) = 200
        AND ((SELECT count(*) FROM new_location) >= page) IS NOT TRUE
        AND l.id + 0 < coalesce(before_id, 9223372036854775807)
        AND name_vector(l.name_key) @@ (SELECT prefix_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_product s WHERE (SELECT count(*) FROM some_product) < 200
    UNION ALL
    SELECT n.id FROM new_product n WHERE (SELECT count(*) FROM new_product) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT r.id AS id FROM product r
      WHERE (SELECT count(*) FROM some_product) = 200
        AND ((SELECT count(*) FROM new_product) >= page) IS NOT TRUE
        AND r.id + 0 < coalesce(before_id, 9223372036854775807)
        AND r.search @@ (SELECT word_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)
    UNION ALL
    SELECT s.id FROM some_circle s WHERE (SELECT count(*) FROM some_circle) < 200
    UNION ALL
    SELECT n.id FROM new_circle n WHERE (SELECT count(*) FROM new_circle) >= page
    UNION ALL
    (SELECT a.id FROM (
      SELECT c.id AS id FROM visible_circle(viewer) c
      WHERE (SELECT count(*) FROM some_circle) = 200
        AND ((SELECT count(*) FROM new_circle) >= page) IS NOT TRUE
        AND c.id + 0 < coalesce(before_id, 9223372036854775807)
        AND name_vector(folded(c.name)) @@ (SELECT prefix_query(words)) OFFSET 0) a
    ORDER BY a.id DESC LIMIT page)) f
  ORDER BY f.id DESC LIMIT page
$$;
COMMENT ON FUNCTION search IS
  'In names the beginning of a word is enough; in texts words must be whole. All must occur.';
