CREATE OR REPLACE FUNCTION graph.is_counted_there(node bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  CASE
  WHEN node & 240 = 16 THEN RETURN EXISTS (SELECT FROM post t WHERE t.id = node);
  WHEN node & 255 = 3 THEN RETURN EXISTS (SELECT FROM location t WHERE t.id = node);
  WHEN node & 255 = 4 THEN RETURN EXISTS (SELECT FROM product t WHERE t.id = node);
  WHEN node & 255 = 5 THEN RETURN EXISTS (SELECT FROM circle t WHERE t.id = node);
  WHEN node & 255 = 32 THEN RETURN EXISTS (SELECT FROM comment t WHERE t.id = node);
  ELSE RETURN NULL;
  END CASE;
END $function$
