-- The points of a recorded track, in order.
CREATE OR REPLACE FUNCTION track_point(path jsonb)
RETURNS TABLE (reached_at timestamptz, latitude float8, longitude float8, "position" bigint)
LANGUAGE sql STABLE AS $$
  SELECT (p.point ->> 'at')::timestamptz, (p.point ->> 'latitude')::float8,
    (p.point ->> 'longitude')::float8, p.position
  FROM jsonb_array_elements(path) WITH ORDINALITY p(point, position)
$$;
COMMENT ON FUNCTION track_point IS 'The points of a recorded track, in order.';
