-- One search over people, posts, locations, products and circles, newest first: ids grow, so they
-- sort by age across types. Each type gives its newest few by its own word index.

CREATE OR REPLACE FUNCTION search(viewer bigint, words text, types text[], page int,
  before_id bigint) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT f.id FROM (
    (SELECT u.id FROM visible_user(viewer) u
    WHERE (types IS NULL OR 'USER' = ANY (types))
      AND name_vector(u.name_key || ' ' || u.username) @@ (SELECT prefix_query(words))
      AND u.id < coalesce(before_id, 9223372036854775807)
    ORDER BY u.id DESC LIMIT page)
    UNION ALL
    (SELECT p.id FROM visible_post(viewer) p
    WHERE (types IS NULL OR 'POST' = ANY (types))
      AND p.search @@ (SELECT word_query(words))
      AND p.id < coalesce(before_id, 9223372036854775807)
    ORDER BY p.id DESC LIMIT page)
    UNION ALL
    (SELECT p.id FROM event e JOIN visible_post(viewer) p ON p.id = e.post_id
    WHERE (types IS NULL OR 'POST' = ANY (types))
      AND to_tsvector('simple', e.title) @@ (SELECT word_query(words))
      AND NOT p.search @@ (SELECT word_query(words))
      AND p.id < coalesce(before_id, 9223372036854775807)
    ORDER BY p.id DESC LIMIT page)
    UNION ALL
    (SELECT l.id FROM location l
    WHERE (types IS NULL OR 'LOCATION' = ANY (types))
      AND name_vector(l.name_key) @@ (SELECT prefix_query(words))
      AND l.id < coalesce(before_id, 9223372036854775807)
    ORDER BY l.id DESC LIMIT page)
    UNION ALL
    (SELECT r.id FROM product r
    WHERE (types IS NULL OR 'PRODUCT' = ANY (types))
      AND r.search @@ (SELECT word_query(words))
      AND r.id < coalesce(before_id, 9223372036854775807)
    ORDER BY r.id DESC LIMIT page)
    UNION ALL
    (SELECT c.id FROM visible_circle(viewer) c
    WHERE (types IS NULL OR 'CIRCLE' = ANY (types))
      AND name_vector(folded(c.name)) @@ (SELECT prefix_query(words))
      AND c.id < coalesce(before_id, 9223372036854775807)
    ORDER BY c.id DESC LIMIT page)) f
  ORDER BY f.id DESC LIMIT page
$$;
COMMENT ON FUNCTION search IS
  'In names the beginning of a word is enough; in texts words must be whole. All must occur.';
