-- Reacting, voting, commenting, and deleting what was said.

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

CREATE OR REPLACE FUNCTION cast_vote(viewer bigint, target bigint, wanted text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  author bigint;
  number int;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.author_id INTO author FROM visible_post(viewer) p WHERE p.id = target AND p.kind IN (16, 17);
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
  PERFORM FROM post p WHERE p.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
  IF author = viewer THEN PERFORM refuse('FORBIDDEN', 'postId'); END IF;
  INSERT INTO vote (post_id, user_id, choice)
  SELECT v.post_id, viewer, wanted FROM votable_post v WHERE v.post_id = target AND v.voting_enabled
  ON CONFLICT (post_id, user_id) DO NOTHING;
  IF NOT FOUND THEN
    IF EXISTS (SELECT FROM vote v WHERE v.post_id = target AND v.user_id = viewer) THEN
      IF EXISTS (SELECT FROM vote v
          WHERE v.post_id = target AND v.user_id = viewer AND v.choice <> wanted) THEN
        PERFORM refuse('ALREADY_DONE', 'choice');
      END IF;
      RETURN target;
    END IF;
    PERFORM refuse('CLOSED', 'postId');
  END IF;
  -- as in notify_number, but before the votes are counted: who is told last has counted all
  PERFORM pg_advisory_xact_lock(hashtextextended('VOTED ' || author, target));
  number := (SELECT v.wear_it_count + v.change_it_count FROM exact_votable_post() v WHERE v.post_id = target);
  PERFORM notify_number(author, 'VOTED', NULL, target,
    CASE number WHEN 1 THEN '1 vote' ELSE number || ' votes' END || ' on your ' || post_noun(target)
    || '.', node_url(target));
  RETURN target;
END $$;
COMMENT ON FUNCTION cast_vote IS
  'Mutation.castVote: once and for good. The number of votes is told in one unread notification '
  'a post.';

CREATE OR REPLACE FUNCTION add_comment(viewer bigint, target bigint, body text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  type int := seen_subject(viewer, target, '{16,3,5}', 'subjectId');
  made bigint;
  told bigint[];
BEGIN
  PERFORM refuse_all(text_refusals(body, true, 2000, 'body'));
  INSERT INTO comment (subject_id, author_id, body) VALUES (target, viewer, words(body))
  RETURNING id INTO made;
  IF type = 16 THEN
    told := author_of(target) || ARRAY(SELECT a.user_id FROM attendance a
      WHERE a.event_id = target AND a.status <> 'NOT_GOING');
  ELSIF type = 5 THEN
    told := ARRAY(SELECT m.user_id FROM circle_member m JOIN circle c ON c.id = m.circle_id
      WHERE m.circle_id = target AND (c.kind = 'GROUP' OR m.role = 'OWNER'));
  END IF;
  PERFORM notify_people(told, 'COMMENTED', viewer, made,
    'commented: ' || escaped(shortened(words(body), 120)), comment_url(made));
  RETURN made;
END $$;
COMMENT ON FUNCTION add_comment IS
  'Mutation.addComment: told are the author of a post, who comes to an event, and the members '
  'of a group.';

CREATE OR REPLACE FUNCTION delete_comment(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE chosen comment;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT c.* INTO chosen FROM comment c WHERE c.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'commentId'); END IF;
  IF has_role(viewer, 'STAFF') THEN
    PERFORM audit(viewer, 'DELETE_COMMENT', target);
  ELSIF viewer NOT IN (chosen.author_id, coalesce(author_of(chosen.subject_id), 0),
      coalesce((SELECT c.owner_id FROM circle c WHERE c.id = chosen.subject_id), 0)) THEN
    -- Those three may delete it even if a block hides the comment or the post from them: others still read it.
    IF NOT sees(viewer, target) THEN PERFORM refuse('NOT_FOUND', 'commentId'); END IF;
    PERFORM refuse('FORBIDDEN', 'commentId');
  END IF;
  -- what it is on goes first, as it does for who deletes that
  PERFORM lock_subject(chosen.subject_id);
  DELETE FROM comment c WHERE c.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'commentId'); END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION delete_comment IS
  'Mutation.deleteComment: its author, the author or owner of what it is on, and staff.';

CREATE OR REPLACE FUNCTION delete_post(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE author bigint;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.author_id INTO author FROM post p WHERE p.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
  IF author <> viewer THEN
    IF has_role(viewer, 'STAFF') THEN
      PERFORM audit(viewer, 'DELETE_POST', target);
    ELSE
      IF NOT sees(viewer, target) THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
      PERFORM refuse('FORBIDDEN', 'postId');
    END IF;
  END IF;
  PERFORM lock_what_goes(ARRAY[target], '{}');
  DELETE FROM post p WHERE p.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'postId'); END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION delete_post IS
  'Mutation.deletePost: its author and staff, with all said about it.';
