CREATE OR REPLACE FUNCTION graph.is_commentable(id bigint)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (((id & (240)::bigint) = 16) OR ((id & (255)::bigint) = 3) OR ((id & (255)::bigint) = 5))
