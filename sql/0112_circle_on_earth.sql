-- Circles that do not exist are refused: a radius below 0, a centre beyond the poles. What lies
-- beyond the date line is counted on, as maps do.

CREATE OR REPLACE FUNCTION refuse_radius(radius float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A radius is 0 to 500000 metres.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;
CREATE OR REPLACE FUNCTION checked_radius(radius float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN radius NOT BETWEEN 0 AND 500000 THEN refuse_radius(radius) ELSE radius END
$$;

CREATE FUNCTION refuse_latitude(latitude float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A latitude is -90 to 90 degrees.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;
CREATE FUNCTION checked_latitude(latitude float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN latitude NOT BETWEEN -90 AND 90 THEN refuse_latitude(latitude) ELSE latitude END
$$;

CREATE OR REPLACE FUNCTION near_box(latitude float8, longitude float8, radius float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT box(
    point(longitude - box_reach(latitude, checked_radius(radius)),
      checked_latitude(latitude) - degrees(checked_radius(radius) / 6371000) - 1e-6),
    point(longitude + box_reach(latitude, checked_radius(radius)),
      latitude + degrees(checked_radius(radius) / 6371000) + 1e-6))
$$;
