CREATE OR REPLACE FUNCTION graph.add_to_post(ids bigint[], heart_count integer[] DEFAULT NULL::integer[], like_count integer[] DEFAULT NULL::integer[], top_count integer[] DEFAULT NULL::integer[], comment_count integer[] DEFAULT NULL::integer[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
  d record;
  is_free boolean;
  -- A transaction that counted in many rows before has said so in what it touched.
  are_few boolean := cardinality(ids) <= 32
    AND coalesce(length(current_setting('sociograph.touched', true)), 0) < 1000;
BEGIN
  FOR d IN SELECT u.id, coalesce(u.heart_count, 0) AS heart_count, coalesce(u.like_count, 0) AS like_count, coalesce(u.top_count, 0) AS top_count, coalesce(u.comment_count, 0) AS comment_count FROM unnest(ids, add_to_post.heart_count, add_to_post.like_count, add_to_post.top_count, add_to_post.comment_count) AS u(id, heart_count, like_count, top_count, comment_count)
    WHERE u.id IS NOT NULL ORDER BY u.id
  LOOP
    IF are_few THEN
      is_free := pg_try_advisory_xact_lock(count_lock(d.id));
    ELSE
      -- Two statements: the second one sees the row as it was locked. Within one it would start from the version
      -- before, which somebody holds who waits here although told to skip, as locking follows a row's versions.
      PERFORM FROM post t WHERE t.id = d.id FOR NO KEY UPDATE SKIP LOCKED;
      is_free := FOUND;
    END IF;
    IF is_free THEN
      UPDATE post t SET heart_count = t.heart_count + d.heart_count, like_count = t.like_count + d.like_count, top_count = t.top_count + d.top_count, comment_count = t.comment_count + d.comment_count WHERE t.id = d.id;
      CONTINUE;
    END IF;
    -- Whoever has a slot keeps the row from being deleted: who deletes it waits for no slots.
    PERFORM FROM post t WHERE t.id = d.id FOR KEY SHARE;
    CONTINUE WHEN NOT FOUND;
    IF d.heart_count <> 0 AND NOT add_to_slot(d.id, 'heart_count', d.heart_count) THEN
      UPDATE post t SET heart_count = t.heart_count + d.heart_count, is_hot = true WHERE t.id = d.id;
      PERFORM make_slot(d.id, 'heart_count');
    END IF;
    IF d.like_count <> 0 AND NOT add_to_slot(d.id, 'like_count', d.like_count) THEN
      UPDATE post t SET like_count = t.like_count + d.like_count, is_hot = true WHERE t.id = d.id;
      PERFORM make_slot(d.id, 'like_count');
    END IF;
    IF d.top_count <> 0 AND NOT add_to_slot(d.id, 'top_count', d.top_count) THEN
      UPDATE post t SET top_count = t.top_count + d.top_count, is_hot = true WHERE t.id = d.id;
      PERFORM make_slot(d.id, 'top_count');
    END IF;
    IF d.comment_count <> 0 AND NOT add_to_slot(d.id, 'comment_count', d.comment_count) THEN
      UPDATE post t SET comment_count = t.comment_count + d.comment_count, is_hot = true WHERE t.id = d.id;
      PERFORM make_slot(d.id, 'comment_count');
    END IF;
  END LOOP;
  PERFORM touch_nodes('node', ids, ids);
END $function$
