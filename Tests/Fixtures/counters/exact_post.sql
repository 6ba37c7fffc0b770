CREATE OR REPLACE FUNCTION graph.exact_post()
 RETURNS SETOF post
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ SELECT t.id, t.kind, t.author_id, t.body, t.location_id, t.circle_id, t.visibility, t.heart_count + CASE WHEN t.is_hot THEN slot_sum(t.id, 'heart_count') ELSE 0 END, t.like_count + CASE WHEN t.is_hot THEN slot_sum(t.id, 'like_count') ELSE 0 END, t.top_count + CASE WHEN t.is_hot THEN slot_sum(t.id, 'top_count') ELSE 0 END, t.comment_count + CASE WHEN t.is_hot THEN slot_sum(t.id, 'comment_count') ELSE 0 END, t.score + CASE WHEN t.is_hot THEN slot_sum(t.id, VARIADIC '{heart_count,like_count,top_count}') ELSE 0 END, t.is_hot, t.search, t.created_at, t.updated_at FROM post t $function$
