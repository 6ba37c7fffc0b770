CREATE OR REPLACE FUNCTION graph.sees(person bigint, node bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  CASE
  WHEN node & 240 = 16 THEN RETURN EXISTS (SELECT FROM visible_post(person) v WHERE v.id = node);
  WHEN node & 255 = 1 THEN RETURN EXISTS (SELECT FROM visible_user(person) v WHERE v.id = node);
  WHEN node & 255 = 2 THEN RETURN EXISTS (SELECT FROM visible_photo(person) v WHERE v.id = node);
  WHEN node & 255 = 3 THEN RETURN EXISTS (SELECT FROM location v WHERE v.id = node);
  WHEN node & 255 = 4 THEN RETURN EXISTS (SELECT FROM product v WHERE v.id = node);
  WHEN node & 255 = 5 THEN RETURN EXISTS (SELECT FROM visible_circle(person) v WHERE v.id = node);
  WHEN node & 255 = 32 THEN RETURN EXISTS (SELECT FROM visible_comment(person) v WHERE v.id = node);
  WHEN node & 255 = 33 THEN RETURN EXISTS (SELECT FROM visible_invitation(person) v WHERE v.id = node);
  WHEN node & 255 = 34 THEN RETURN EXISTS (SELECT FROM visible_info_request(person) v WHERE v.id = node);
  WHEN node & 255 = 35 THEN RETURN EXISTS (SELECT FROM visible_follow_up(person) v WHERE v.id = node);
  WHEN node & 255 = 40 THEN RETURN EXISTS (SELECT FROM program v WHERE v.id = node);
  WHEN node & 255 = 41 THEN RETURN EXISTS (SELECT FROM class_session v WHERE v.id = node);
  WHEN node & 255 = 42 THEN RETURN EXISTS (SELECT FROM visible_booking(person) v WHERE v.id = node);
  WHEN node & 255 = 43 THEN RETURN EXISTS (SELECT FROM visible_activity_track(person) v WHERE v.id = node);
  WHEN node & 255 = 44 THEN RETURN EXISTS (SELECT FROM visible_test_result(person) v WHERE v.id = node);
  WHEN node & 255 = 48 THEN RETURN EXISTS (SELECT FROM visible_conversation(person) v WHERE v.id = node);
  WHEN node & 255 = 49 THEN RETURN EXISTS (SELECT FROM visible_message(person) v WHERE v.id = node);
  WHEN node & 255 = 50 THEN RETURN EXISTS (SELECT FROM visible_notification(person) v WHERE v.id = node);
  WHEN node & 255 = 51 THEN RETURN EXISTS (SELECT FROM visible_external_contact(person) v WHERE v.id = node);
  WHEN node & 255 = 60 THEN RETURN EXISTS (SELECT FROM visible_session(person) v WHERE v.id = node);
  ELSE RETURN false;
  END CASE;
END $function$
