-- Reacting.

CALL told('reaction', 'node', '{subject_id}', '{post,location,product,circle,comment}');
CALL exported('reactions', $$
  SELECT jsonb_build_object('subject', wire_id(r.subject_id),
    'kind', r.kind, 'createdAt', wire_time(r.created_at))
  FROM reaction r WHERE r.user_id = $1 AND sees($1, r.subject_id)
  ORDER BY r.created_at$$);

CREATE OR REPLACE FUNCTION hold_seen(viewer bigint, target bigint, is_fit boolean, VARIADIC path text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT coalesce(is_fit AND sees(viewer, target) AND lock_subject(target), false) THEN
    PERFORM refuse('NOT_FOUND', VARIADIC path);
  END IF;
END $$;
COMMENT ON FUNCTION hold_seen IS
  'Refuses a node unless it is fit and the viewer may see it. Locks it against deletion.';

CREATE OR REPLACE FUNCTION react(viewer bigint, target bigint, how text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM hold_seen(viewer, target, reactions_to(target) IS NOT NULL, 'subjectId');
  IF how <> ALL (reactions_to(target)) THEN
    PERFORM refuse_as(worded(refusal('INVALID', 'kind'), 'REACTION_KIND'));
  END IF;
  INSERT INTO reaction (subject_id, user_id, kind) VALUES (target, viewer, how::reaction_kind)
  ON CONFLICT (subject_id, user_id, kind) DO NOTHING;
  IF FOUND AND owner_of(target) IS NOT NULL THEN
    PERFORM notify_people(ARRAY[owner_of(target)], 'REACTED', viewer, target,
      concat_ws('.', 'REACTED', how, node_type(target)),
      (SELECT jsonb_build_object('title', e.title) FROM event e WHERE e.post_id = target),
      destination := comment_link(target), is_once := true);
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION react IS 'Implements Mutation.react.';

CREATE OR REPLACE FUNCTION unreact(viewer bigint, target bigint, how text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM hold_seen(viewer, target, reactions_to(target) IS NOT NULL, 'subjectId');
  DELETE FROM reaction r
  WHERE r.subject_id = target AND r.user_id = viewer AND r.kind = how::reaction_kind;
  IF FOUND AND owner_of(target) IS NOT NULL AND NOT EXISTS (
      SELECT FROM reaction r WHERE r.subject_id = target AND r.user_id = viewer) THEN
    PERFORM unnotify(ARRAY[owner_of(target)], 'REACTED', viewer, target);
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION unreact IS 'Implements Mutation.unreact.';
