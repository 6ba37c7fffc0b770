CREATE OR REPLACE FUNCTION graph.is_event(id bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((id & (255)::bigint) = 23)
