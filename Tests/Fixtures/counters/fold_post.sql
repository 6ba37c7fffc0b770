CREATE OR REPLACE FUNCTION graph.fold_post(ids bigint[], is_held boolean DEFAULT false)
 RETURNS bigint[]
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  hot bigint[];
  row_id bigint;
  s record;
  stays boolean;
  held bigint[];
  again bigint[] := '{}';
BEGIN
  hot := ARRAY(SELECT t.id FROM post t WHERE t.id = ANY (ids) AND t.is_hot ORDER BY 1);
  again := hot[1001:];
  FOREACH row_id IN ARRAY hot[:1000] LOOP
    IF is_held THEN
      WITH g AS (
        DELETE FROM count_slot o WHERE o.subject_id = row_id AND o.counter = ANY ('{heart_count,like_count,top_count,comment_count}'::text[])
        RETURNING o.counter, o.amount)
      SELECT coalesce(sum(g.amount) FILTER (WHERE g.counter = 'heart_count'), 0) AS heart_count, coalesce(sum(g.amount) FILTER (WHERE g.counter = 'like_count'), 0) AS like_count, coalesce(sum(g.amount) FILTER (WHERE g.counter = 'top_count'), 0) AS top_count, coalesce(sum(g.amount) FILTER (WHERE g.counter = 'comment_count'), 0) AS comment_count INTO s FROM g;
    ELSE
      -- So that nobody who counts waits for this.
      IF NOT pg_try_advisory_xact_lock(count_lock(row_id)) THEN
        again := again || row_id;
        CONTINUE;
      END IF;
      PERFORM FROM post t WHERE t.id = row_id FOR NO KEY UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        again := again || row_id;
        CONTINUE;
      END IF;
      WITH f AS MATERIALIZED (
        SELECT o.counter, o.slot FROM count_slot o
        WHERE o.subject_id = row_id AND o.counter = ANY ('{heart_count,like_count,top_count,comment_count}'::text[])
        ORDER BY o.counter, o.slot FOR UPDATE SKIP LOCKED),
      g AS (
        DELETE FROM count_slot o USING f
        WHERE o.subject_id = row_id AND o.counter = f.counter AND o.slot = f.slot
        RETURNING o.counter, o.amount)
      SELECT coalesce(sum(g.amount) FILTER (WHERE g.counter = 'heart_count'), 0) AS heart_count, coalesce(sum(g.amount) FILTER (WHERE g.counter = 'like_count'), 0) AS like_count, coalesce(sum(g.amount) FILTER (WHERE g.counter = 'top_count'), 0) AS top_count, coalesce(sum(g.amount) FILTER (WHERE g.counter = 'comment_count'), 0) AS comment_count INTO s FROM g;
    END IF;
    UPDATE post t SET heart_count = t.heart_count + s.heart_count, like_count = t.like_count + s.like_count, top_count = t.top_count + s.top_count, comment_count = t.comment_count + s.comment_count, is_hot = EXISTS (
      SELECT FROM count_slot o WHERE o.subject_id = row_id AND o.counter = ANY ('{heart_count,like_count,top_count,comment_count}'::text[]))
    WHERE t.id = row_id RETURNING t.is_hot INTO stays;
    IF stays THEN again := again || row_id; END IF;
  END LOOP;
  IF is_held THEN RETURN again; END IF;
  -- Only this pass raises ranks; somebody else locks them only to move or delete.
  held := ARRAY(SELECT r.post_id FROM post_rank r JOIN exact_post() t ON t.id = r.post_id
    WHERE r.post_id = ANY (ids) AND (r.score <> t.score) ORDER BY r.post_id FOR NO KEY UPDATE OF r SKIP LOCKED);
  UPDATE post_rank r SET score = t.score FROM exact_post() t WHERE t.id = r.post_id AND r.post_id = ANY (held);
  IF held <> '{}' THEN PERFORM touch_nodes('post_rank', '{0}', '{0}'); END IF;
  again := again || ARRAY(SELECT r.post_id FROM post_rank r JOIN exact_post() t ON t.id = r.post_id
    WHERE r.post_id = ANY (ids) AND (r.score <> t.score));
  RETURN again;
END $function$
