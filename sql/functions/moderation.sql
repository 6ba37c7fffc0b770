-- What staff decides about: flags.

-- Flags have names of their own, but are no nodes.
CALL number_by('flag', 61, 'flag_seq');
CALL tell('flag', 'flag', 'subject_id', '{subject_id}');
CALL exported('flags', $$
  SELECT jsonb_build_object('subject', wire_id(f.subject_id),
    'reason', f.reason, 'note', f.note, 'createdAt', wire_time(f.created_at))
  FROM flag f WHERE f.user_id = $1 AND sees($1, f.subject_id)
  ORDER BY f.created_at$$);

CREATE OR REPLACE FUNCTION visible_flag(viewer bigint) RETURNS SETOF flag
LANGUAGE sql STABLE AS $$
  SELECT f.* FROM flag f
  WHERE EXISTS (SELECT FROM staff(viewer))
$$;
COMMENT ON FUNCTION visible_flag IS 'Returns all flags for staff, and none for others.';

CREATE OR REPLACE FUNCTION flag_subject(viewer bigint, subject bigint, reason text, note text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT coalesce(is_flaggable(subject) AND sees(viewer, subject), false) THEN
    PERFORM refuse('NOT_FOUND', 'subjectId');
  END IF;
  PERFORM refuse_all(text_refusals(note, false, 2000, 'note'));
  IF owner_of(subject) = viewer THEN PERFORM refuse('FORBIDDEN', 'subjectId'); END IF;
  IF NOT lock_subject(subject) THEN PERFORM refuse('NOT_FOUND', 'subjectId'); END IF;
  INSERT INTO flag (subject_id, user_id, reason, note)
  VALUES (subject, viewer, flag_subject.reason, words(flag_subject.note))
  ON CONFLICT (subject_id, user_id) DO NOTHING;
END $$;
COMMENT ON FUNCTION flag_subject IS 'Implements Mutation.flag, once for each user, not for the viewer''s own nodes.';

CREATE OR REPLACE FUNCTION resolve_flag(viewer bigint, target bigint, note text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  settled flag;
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  PERFORM refuse_all(text_refusals(note, false, 2000, 'note'));
  UPDATE flag f SET resolved_at = now(), resolved_by_id = viewer, resolution = words(resolve_flag.note)
  WHERE f.id = target AND f.resolved_at IS NULL;
  IF FOUND THEN
    PERFORM audit(viewer, 'RESOLVE_FLAG', (SELECT f.subject_id FROM flag f WHERE f.id = target));
    RETURN target;
  END IF;
  -- The same again changes nothing, and another answer comes too late.
  SELECT * INTO settled FROM flag f WHERE f.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'flagId'); END IF;
  IF settled.resolved_by_id IS DISTINCT FROM viewer OR settled.resolution IS DISTINCT FROM words(resolve_flag.note) THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'flagId'), 'FLAG_RESOLVED'));
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION resolve_flag IS 'Implements Mutation.resolveFlag.';
