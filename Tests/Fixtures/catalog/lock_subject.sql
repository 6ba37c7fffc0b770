CREATE OR REPLACE FUNCTION graph.lock_subject(node bigint)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  CASE
  WHEN node & 240 = 16 THEN PERFORM FROM post t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 1 THEN PERFORM FROM app_user t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 2 THEN PERFORM FROM photo t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 3 THEN PERFORM FROM location t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 4 THEN PERFORM FROM product t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 5 THEN PERFORM FROM circle t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 32 THEN PERFORM FROM comment t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 33 THEN PERFORM FROM invitation t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 34 THEN PERFORM FROM info_request t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 35 THEN PERFORM FROM follow_up t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 40 THEN PERFORM FROM program t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 41 THEN PERFORM FROM class_session t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 42 THEN PERFORM FROM booking t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 43 THEN PERFORM FROM activity_track t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 48 THEN PERFORM FROM conversation t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 49 THEN PERFORM FROM message t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 50 THEN PERFORM FROM notification t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  WHEN node & 255 = 51 THEN PERFORM FROM external_contact t WHERE t.id = node FOR KEY SHARE; RETURN FOUND;
  ELSE RETURN false;
  END CASE;
END $function$
