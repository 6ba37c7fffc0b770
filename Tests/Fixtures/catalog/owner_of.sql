CREATE OR REPLACE FUNCTION graph.owner_of(node bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  CASE
  WHEN node & 240 = 16 THEN RETURN (SELECT t.author_id FROM post t WHERE t.id = node);
  WHEN node & 255 = 1 THEN RETURN (SELECT t.id FROM app_user t WHERE t.id = node);
  WHEN node & 255 = 2 THEN RETURN (SELECT t.owner_id FROM photo t WHERE t.id = node);
  WHEN node & 255 = 5 THEN RETURN (SELECT t.owner_id FROM circle t WHERE t.id = node);
  WHEN node & 255 = 32 THEN RETURN (SELECT t.author_id FROM comment t WHERE t.id = node);
  WHEN node & 255 = 42 THEN RETURN (SELECT t.user_id FROM booking t WHERE t.id = node);
  WHEN node & 255 = 43 THEN RETURN (SELECT t.user_id FROM activity_track t WHERE t.id = node);
  WHEN node & 255 = 44 THEN RETURN (SELECT t.user_id FROM test_result t WHERE t.id = node);
  WHEN node & 255 = 49 THEN RETURN (SELECT t.author_id FROM message t WHERE t.id = node);
  WHEN node & 255 = 50 THEN RETURN (SELECT t.recipient_id FROM notification t WHERE t.id = node);
  WHEN node & 255 = 51 THEN RETURN (SELECT t.owner_id FROM external_contact t WHERE t.id = node);
  WHEN node & 255 = 60 THEN RETURN (SELECT t.user_id FROM session t WHERE t.id = node);
  ELSE RETURN NULL;
  END CASE;
END $function$
