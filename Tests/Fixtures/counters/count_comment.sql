CREATE OR REPLACE FUNCTION graph.count_comment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
  ids bigint[];
  sums_1 int[];
BEGIN
  SELECT array_agg(s.id), array_agg(s.comment_count) INTO ids, sums_1 FROM (
    SELECT e.id, sign * sum(e.comment_count) AS comment_count FROM (SELECT subject_id, 1 FROM changed WHERE is_post(subject_id)) e(id, comment_count) WHERE e.id IS NOT NULL GROUP BY e.id) s;
  IF ids IS NOT NULL THEN
    PERFORM add_to_post(ids, comment_count => sums_1);
  END IF;
  SELECT array_agg(s.id), array_agg(s.comment_count) INTO ids, sums_1 FROM (
    SELECT e.id, sign * sum(e.comment_count) AS comment_count FROM (SELECT subject_id, 1 FROM changed WHERE is_location(subject_id)) e(id, comment_count) WHERE e.id IS NOT NULL GROUP BY e.id) s;
  IF ids IS NOT NULL THEN
    PERFORM add_to_location(ids, comment_count => sums_1);
  END IF;
  SELECT array_agg(s.id), array_agg(s.comment_count) INTO ids, sums_1 FROM (
    SELECT e.id, sign * sum(e.comment_count) AS comment_count FROM (SELECT subject_id, 1 FROM changed WHERE is_circle(subject_id)) e(id, comment_count) WHERE e.id IS NOT NULL GROUP BY e.id) s;
  IF ids IS NOT NULL THEN
    PERFORM add_to_circle(ids, comment_count => sums_1);
  END IF;
  RETURN NULL;
END $function$
