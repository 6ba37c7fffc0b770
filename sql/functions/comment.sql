-- Comments: on posts, locations and circles.

CALL node('comment', 32, owner => 'author_id', flaggable => true, reactions => '{AGREE}',
  changes => '{body}', topic => 'comment',
  leaving => 'SELECT c.id FROM comment c WHERE c.author_id = $1
    UNION SELECT c.id FROM comment c WHERE c.subject_id = ANY ($2)
    UNION SELECT r.subject_id FROM reaction r WHERE r.user_id = $1', lock_place => 30);
CALL told('comment', 'node', '{subject_id}', only_columns => true);

-- Who reads the comments on something reads the new words. Counts are not edits.
CREATE OR REPLACE FUNCTION touch_subject() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM touch_nodes('node', ARRAY[NEW.subject_id], ARRAY[NEW.subject_id]);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION touch_subject IS 'Touches what an edited comment is about.';
CREATE OR REPLACE TRIGGER touch_subject AFTER UPDATE OF body ON comment
  FOR EACH ROW WHEN (OLD.body IS DISTINCT FROM NEW.body) EXECUTE FUNCTION touch_subject();

CALL exported('comments', $$
  SELECT jsonb_build_object('id', wire_id(c.id),
    'subject', wire_id(c.subject_id), 'body', c.body, 'createdAt', wire_time(c.created_at))
  FROM visible_comment($1) c WHERE c.author_id = $1
  ORDER BY c.id$$);

CREATE OR REPLACE FUNCTION shown_comment(viewer bigint) RETURNS SETOF comment
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM exact_comment() c
  WHERE c.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
$$;
COMMENT ON FUNCTION shown_comment IS
  'Returns the comments that the viewer may see on a subject that is known to be visible.';

CREATE OR REPLACE FUNCTION visible_comment(viewer bigint) RETURNS SETOF comment
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM exact_comment() c
  WHERE c.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND CASE
      WHEN is_post(c.subject_id)
        THEN EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = c.subject_id)
      WHEN is_circle(c.subject_id)
        THEN EXISTS (SELECT FROM visible_circle(viewer) o WHERE o.id = c.subject_id)
      WHEN is_location(c.subject_id) THEN true
      ELSE sees_commented(viewer, c.subject_id) END
$$;
COMMENT ON FUNCTION visible_comment IS
  'Returns the comments that the viewer may see: those on a visible subject by users not hidden.';

CREATE OR REPLACE FUNCTION comment_args(body text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT jsonb_build_object('text', shortened(words(body), 120))
$$;
COMMENT ON FUNCTION comment_args IS 'Returns the values of the phrase that tells of a comment.';

CREATE OR REPLACE FUNCTION add_comment(viewer bigint, target bigint, body text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  told bigint[];
BEGIN
  PERFORM hold_seen(viewer, target, is_commentable(target), 'subjectId');
  PERFORM refuse_all(text_refusals(body, true, 2000, 'body'));
  INSERT INTO comment (subject_id, author_id, body) VALUES (target, viewer, words(body))
  RETURNING id INTO made;
  IF is_circle(target) THEN
    told := ARRAY(SELECT m.user_id FROM circle_member m JOIN circle c ON c.id = m.circle_id
      WHERE m.circle_id = target AND (c.kind = 'GROUP' OR m.role = 'OWNER'));
  ELSE
    told := array_remove(owner_of(target) || ARRAY(SELECT a.user_id FROM attendance a
      WHERE a.event_id = target AND a.status <> 'NOT_GOING'), NULL);
  END IF;
  PERFORM notify_people(told, 'COMMENTED', viewer, made,
    args := comment_args(body), destination := comment_link(made));
  RETURN made;
END $$;
COMMENT ON FUNCTION add_comment IS
  'Implements Mutation.addComment. Notifies the owner of the subject, the users who may attend an event, and the '
  'members of a group.';

CREATE OR REPLACE FUNCTION update_comment(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  chosen comment;
  told bigint[];
BEGIN
  PERFORM require_viewer(viewer);
  SELECT c.* INTO chosen FROM visible_comment(viewer) c WHERE c.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'commentId'); END IF;
  IF chosen.author_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'commentId'); END IF;
  PERFORM refuse_all(text_refusals(input ->> 'body', true, 2000, 'input', 'body'));
  -- what it is on goes first, as it does for who deletes that
  PERFORM lock_subject(chosen.subject_id);
  PERFORM FROM comment c WHERE c.id = target FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'commentId'); END IF;
  UPDATE comment c SET body = words(input ->> 'body'), updated_at = now()
  WHERE c.id = target AND c.body <> words(input ->> 'body');
  IF NOT FOUND THEN RETURN target; END IF;
  told := ARRAY(SELECT n.id FROM notification n
    WHERE n.about_id = target AND n.actor_id = viewer AND n.reason = 'COMMENTED' AND n.read_at IS NULL
    ORDER BY n.id FOR NO KEY UPDATE);
  UPDATE notification n SET args = notification_args(viewer, comment_args(input ->> 'body')) WHERE n.id = ANY (told);
  RETURN target;
END $$;
COMMENT ON FUNCTION update_comment IS
  'Implements Mutation.updateComment, for its author. Nobody is notified again; an unread notification has the new '
  'words.';

CREATE OR REPLACE FUNCTION delete_comment(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE chosen comment;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT c.* INTO chosen FROM comment c WHERE c.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'commentId'); END IF;
  IF has_role(viewer, 'STAFF') THEN
    PERFORM audit(viewer, 'DELETE_COMMENT', target);
  ELSIF viewer NOT IN (chosen.author_id, coalesce(owner_of(chosen.subject_id), 0)) THEN
    -- Those two may delete it even if a block hides the comment or the post from them: others still read it.
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
  'Implements Mutation.deleteComment, for its author, the author or owner of its subject, and staff.';
