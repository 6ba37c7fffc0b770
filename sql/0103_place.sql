-- Places: how far they are, who was there, who likes them.

-- Metres along the surface between two points, both in degrees; null if one is missing. (least()
-- would pass over a null, so what it is limited by is null then, too.)
CREATE FUNCTION great_circle(latitude float8, longitude float8,
  to_latitude float8, to_longitude float8)
RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 12742000 * asin(sqrt(least(
    1 + 0 * latitude + 0 * longitude + 0 * to_latitude + 0 * to_longitude,
    sin(radians(latitude - to_latitude) / 2) ^ 2
    + cos(radians(to_latitude)) * cos(radians(latitude))
      * sin(radians(longitude - to_longitude) / 2) ^ 2)))
$$;

-- Half the width in degrees of the box around a circle: all the way round where it holds a pole.
CREATE FUNCTION box_reach(latitude float8, radius float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN abs(latitude) + degrees(radius / 6371000) >= 89.9 THEN 180
    ELSE degrees(asin(least(1, sin(radius / 6371000) / cos(radians(latitude))))) + 1e-6 END
$$;

-- The radius of a circle to look in, in metres, unless it is too long. Refusing costs nothing, or
-- the planner would not put the functions below in place of their calls.
CREATE FUNCTION refuse_radius(radius float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A radius is at most 500000 metres.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;
CREATE FUNCTION checked_radius(radius float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN radius > 500000 THEN refuse_radius(radius) ELSE radius END
$$;

-- The box, in (longitude, latitude), that holds the circle, at most 500 km of radius; and, where it
-- reaches over the date line, the part beyond, as seen from the other side. Null where it does not.
CREATE FUNCTION near_box(latitude float8, longitude float8, radius float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT box(
    point(longitude - box_reach(latitude, checked_radius(radius)),
      latitude - degrees(checked_radius(radius) / 6371000) - 1e-6),
    point(longitude + box_reach(latitude, checked_radius(radius)),
      latitude + degrees(checked_radius(radius) / 6371000) + 1e-6))
$$;
CREATE FUNCTION date_line_box(latitude float8, longitude float8, radius float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN longitude + box_reach(latitude, checked_radius(radius)) > 180
      THEN near_box(latitude, longitude - 360, radius)
    WHEN longitude - box_reach(latitude, checked_radius(radius)) < -180
      THEN near_box(latitude, longitude + 360, radius) END
$$;

-- Locations in a circle.
CREATE FUNCTION places_near(latitude float8, longitude float8,
  radius float8) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT l.id FROM location l
  WHERE l.latitude IS NOT NULL
    AND (point(l.longitude, l.latitude)
        <@ near_box(places_near.latitude, places_near.longitude, radius)
      OR point(l.longitude, l.latitude)
        <@ date_line_box(places_near.latitude, places_near.longitude, radius))
    AND great_circle(l.latitude, l.longitude, places_near.latitude, places_near.longitude) <= radius
$$;

-- Who posted at a place, each once, and when last.
CREATE FUNCTION visitor(viewer bigint, place bigint, part text)
RETURNS TABLE (id bigint, visited_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT p.author_id, max(p.created_at) FROM visible_post(viewer) p
  WHERE p.location_id = place
    AND (part = 'EVERYONE' OR p.author_id IN (SELECT n.id FROM network(viewer, part) n))
  GROUP BY p.author_id
$$;

-- Places where people of this part of the network posted; some more than once.
CREATE FUNCTION visited_place(viewer bigint, part text) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT p.location_id
  FROM visible_post(viewer) p JOIN network(viewer, part) n ON n.id = p.author_id
  WHERE p.location_id IS NOT NULL
$$;

-- Places that people of this part of the network topped; some more than once.
CREATE FUNCTION topped_place(viewer bigint, part text) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT r.subject_id FROM reaction r JOIN network(viewer, part) n ON n.id = r.user_id
  WHERE r.kind = 'TOP' AND r.subject_id & 255 = 3
$$;

-- Places that people followed, or followed by those, topped and where the viewer has not been.
CREATE FUNCTION recommended_place(viewer bigint) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT t.id FROM (
    SELECT f.id FROM topped_place(viewer, 'FOLLOWING') f
    UNION ALL SELECT s.id FROM topped_place(viewer, 'FRIENDS_OF_FRIENDS') s) t
  WHERE t.id <> ALL (ARRAY(
    SELECT p.location_id FROM post p WHERE p.author_id = viewer AND p.location_id IS NOT NULL))
$$;
