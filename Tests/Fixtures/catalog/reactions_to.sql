CREATE OR REPLACE FUNCTION graph.reactions_to(id bigint)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((id & (240)::bigint) = 16) THEN '{HEART,LIKE,TOP}'::text[] WHEN ((id & (255)::bigint) = 3) THEN '{TOP}'::text[] WHEN ((id & (255)::bigint) = 4) THEN '{HEART}'::text[] WHEN ((id & (255)::bigint) = 32) THEN '{AGREE}'::text[] ELSE NULL::text[] END
