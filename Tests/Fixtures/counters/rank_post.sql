CREATE OR REPLACE FUNCTION graph.rank_post()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE gone bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO post_rank (post_id, score, kind, author_id, location_id, visibility) SELECT id, score, kind, author_id, location_id, visibility FROM changed;
  ELSE
    gone := ARRAY(SELECT id FROM changed);
    DELETE FROM post_rank WHERE post_id = ANY (gone);
  END IF;
  RETURN NULL;
END $function$
