-- What staff decides about: flags.

-- Flags are numbered, but are no nodes.
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

CREATE OR REPLACE FUNCTION unflag_subject(viewer bigint, subject bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT coalesce(is_flaggable(subject) AND sees(viewer, subject), false) THEN
    PERFORM refuse('NOT_FOUND', 'subjectId');
  END IF;
  IF NOT lock_subject(subject) THEN PERFORM refuse('NOT_FOUND', 'subjectId'); END IF;
  DELETE FROM flag f WHERE f.subject_id = subject AND f.user_id = viewer AND f.resolved_at IS NULL;
  IF NOT FOUND AND EXISTS (SELECT FROM flag f WHERE f.subject_id = subject AND f.user_id = viewer) THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'subjectId'), 'FLAG_RESOLVED'));
  END IF;
END $$;
COMMENT ON FUNCTION unflag_subject IS 'Implements Mutation.unflag, while staff have not resolved the flag.';

CREATE OR REPLACE FUNCTION flagged_subject(viewer bigint)
RETURNS TABLE (id bigint, open_flag_count int, flagged_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT f.subject_id, count(*)::int, min(f.created_at) FROM flag f
  WHERE f.is_open = 1 AND EXISTS (SELECT FROM staff(viewer))
  GROUP BY f.subject_id
$$;
COMMENT ON FUNCTION flagged_subject IS
  'Returns the nodes with open flags, with their number and the time of the first, for staff, and none for others.';

CREATE OR REPLACE FUNCTION resolve_flags(viewer bigint, subject bigint, note text)
RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  settled bigint[];
  last flag;
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  -- what was flagged goes first, as it does for who deletes that
  PERFORM lock_subject(subject);
  PERFORM FROM flag f WHERE f.subject_id = subject ORDER BY f.user_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'subjectId'); END IF;
  PERFORM refuse_all(text_refusals(note, false, 2000, 'note'));
  WITH changed AS (
    UPDATE flag f SET resolved_at = now(), resolved_by_id = viewer, resolution = words(resolve_flags.note)
    WHERE f.subject_id = subject AND f.resolved_at IS NULL RETURNING f.id)
  SELECT array_agg(c.id ORDER BY c.id) INTO settled FROM changed c;
  IF settled IS NOT NULL THEN
    PERFORM audit(viewer, 'RESOLVE_FLAGS', subject);
    RETURN settled[:100];
  END IF;
  -- The same again changes nothing, and another answer comes too late.
  SELECT f.* INTO last FROM flag f WHERE f.subject_id = subject ORDER BY f.resolved_at DESC, f.id DESC LIMIT 1;
  IF last.resolution IS DISTINCT FROM words(resolve_flags.note) THEN
    PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'subjectId'), 'FLAG_RESOLVED'));
  END IF;
  RETURN ARRAY(SELECT f.id FROM flag f WHERE f.subject_id = subject AND f.resolved_at = last.resolved_at
    ORDER BY f.id LIMIT 100);
END $$;
COMMENT ON FUNCTION resolve_flags IS
  'Implements Mutation.resolveFlags: settles all open flags of a node, and returns them, oldest first.';
