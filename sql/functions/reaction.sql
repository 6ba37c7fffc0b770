-- Reacting.

CREATE OR REPLACE FUNCTION seen_subject(viewer bigint, target bigint, types int[],
  VARIADIC path text[])
RETURNS int LANGUAGE plpgsql AS $$
DECLARE type int := CASE WHEN target & 240 = 16 THEN 16 ELSE (target & 255)::int END;
BEGIN
  PERFORM require_viewer(viewer);
  IF type <> ALL (types) OR NOT coalesce(sees(viewer, target), false) THEN
    PERFORM refuse('NOT_FOUND', VARIADIC path);
  END IF;
  CASE type
  WHEN 16 THEN PERFORM FROM post p WHERE p.id = target FOR KEY SHARE;
  WHEN 32 THEN PERFORM FROM comment c WHERE c.id = target FOR KEY SHARE;
  WHEN 3 THEN PERFORM FROM location l WHERE l.id = target FOR KEY SHARE;
  WHEN 4 THEN PERFORM FROM product p WHERE p.id = target FOR KEY SHARE;
  WHEN 5 THEN PERFORM FROM circle c WHERE c.id = target FOR KEY SHARE;
  ELSE NULL;
  END CASE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', VARIADIC path); END IF;
  RETURN type;
END $$;
COMMENT ON FUNCTION seen_subject IS
  'What somebody reacts to or comments on: its type, and who is told of it. Locked, so that '
  'nothing is added to what is being deleted.';

CREATE OR REPLACE FUNCTION author_of(target bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE
    WHEN target & 240 = 16 THEN (SELECT p.author_id FROM post p WHERE p.id = target)
    WHEN target & 255 = 32 THEN (SELECT c.author_id FROM comment c WHERE c.id = target) END;
END $$;
COMMENT ON FUNCTION author_of IS
  'Who wrote what is reacted to.';

CREATE OR REPLACE FUNCTION react(viewer bigint, target bigint, how text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  type int := seen_subject(viewer, target, '{16,32,3,4}', 'subjectId');
BEGIN
  IF how <> ALL (CASE type WHEN 16 THEN '{HEART,LIKE,TOP}'::text[] WHEN 32 THEN '{AGREE}'
      WHEN 3 THEN '{TOP}' ELSE '{HEART}' END) THEN
    PERFORM refuse('INVALID', 'kind');
  END IF;
  INSERT INTO reaction (subject_id, user_id, kind) VALUES (target, viewer, how::reaction_kind)
  ON CONFLICT (subject_id, user_id, kind) DO NOTHING;
  IF FOUND AND author_of(target) IS NOT NULL THEN
    PERFORM notify_people(ARRAY[author_of(target)], 'REACTED', viewer, target,
      CASE how WHEN 'HEART' THEN 'loves' WHEN 'AGREE' THEN 'agrees with' WHEN 'TOP' THEN 'topped'
        ELSE 'likes' END || ' your ' || CASE type WHEN 32 THEN 'comment' ELSE post_noun(target) END || '.',
      CASE type WHEN 32 THEN comment_url(target) ELSE node_url(target) END, is_once := true);
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION react IS
  'Mutation.react.';

CREATE OR REPLACE FUNCTION unreact(viewer bigint, target bigint, how text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM seen_subject(viewer, target, '{16,32,3,4}', 'subjectId');
  DELETE FROM reaction r
  WHERE r.subject_id = target AND r.user_id = viewer AND r.kind = how::reaction_kind;
  IF FOUND AND author_of(target) IS NOT NULL AND NOT EXISTS (
      SELECT FROM reaction r WHERE r.subject_id = target AND r.user_id = viewer) THEN
    PERFORM unnotify(ARRAY[author_of(target)], 'REACTED', viewer, target);
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION unreact IS
  'Mutation.unreact.';
