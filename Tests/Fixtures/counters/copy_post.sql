CREATE OR REPLACE FUNCTION graph.copy_post()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  UPDATE post_rank r SET kind = NEW.kind, author_id = NEW.author_id, location_id = NEW.location_id, visibility = NEW.visibility WHERE r.post_id = NEW.id;
  RETURN NULL;
END $function$
