-- Circles that do not exist are refused: a radius below 0, a centre beyond the poles. What lies
-- beyond the date line is counted on, as maps do.

CREATE OR REPLACE FUNCTION refuse_radius(radius float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A radius is 0 to 500000 metres.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;

CREATE FUNCTION refuse_latitude(latitude float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A latitude is -90 to 90 degrees.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;

-- The radius of a circle, in metres, unless there is no such circle.
CREATE FUNCTION circle_radius(latitude float8, radius float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN latitude NOT BETWEEN -90 AND 90 THEN refuse_latitude(latitude)
    WHEN radius NOT BETWEEN 0 AND 500000 THEN refuse_radius(radius) ELSE radius END
$$;

-- As before, but for the check.
CREATE OR REPLACE FUNCTION near_box(latitude float8, longitude float8, radius float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT box(
    point(longitude - box_reach(latitude, circle_radius(latitude, radius)),
      latitude - degrees(circle_radius(latitude, radius) / 6371000) - 1e-6),
    point(longitude + box_reach(latitude, circle_radius(latitude, radius)),
      latitude + degrees(circle_radius(latitude, radius) / 6371000) + 1e-6))
$$;

-- Whichever condition PostgreSQL looks at first refuses.
CREATE OR REPLACE FUNCTION places_near(latitude float8, longitude float8,
  radius float8) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT l.id FROM location l
  WHERE l.latitude IS NOT NULL
    AND (point(l.longitude, l.latitude)
        <@ near_box(places_near.latitude, places_near.longitude, radius)
      OR point(l.longitude, l.latitude)
        <@ date_line_box(places_near.latitude, places_near.longitude, radius))
    AND great_circle(l.latitude, l.longitude, places_near.latitude, places_near.longitude)
      <= circle_radius(places_near.latitude, radius)
$$;
