-- Posts: feeds, what hangs on a post, and what all kinds of post share when they are made, changed and deleted. Nothing
-- is copied when somebody posts: the newest few of
-- each person followed are taken by index and merged, so a feed costs as much as one follows
-- people, however much there is to read.
--
-- page, before, before_id: as many rows as a page needs, from after this sort key on; null for all.

CALL node('post', 16, mask => 240, owner => 'author_id', path => '/posts/', commentable => true, flaggable => true,
  reactions => '{HEART,LIKE,TOP}', changes => '{body,location_id,visibility,updated_at}', topic => 'post',
  leaving => 'SELECT p.id FROM post_that_changes($1) p', lock_place => 10);
CALL sought('POST', 't.search', newest => 2000);
CALL told('post', 'change', '{author_id}', only_columns => true);
CALL tell_part('post_photo');
CALL tell_part('post_tag');
CALL told('post_rank', 'post node', nouns => '{post}');
CALL told('post_rank', 'post_rank');
CALL exported('posts', $$
  SELECT jsonb_build_object('id', wire_id(p.id), 'kind', p.kind,
    'body', p.body, 'location', wire_id(p.location_id),
    'circle', CASE WHEN sees($1, p.circle_id) THEN wire_id(p.circle_id) END,
    'visibility', p.visibility, 'createdAt', wire_time(p.created_at), 'updatedAt', wire_time(p.updated_at),
    'photos', (SELECT coalesce(jsonb_agg(wire_id(h.photo_id) ORDER BY h.position), '[]')
  FROM post_photo h WHERE h.post_id = p.id),
    'event', (SELECT jsonb_build_object('title', e.title, 'startsAt', wire_time(e.starts_at),
    'endsAt', wire_time(e.ends_at)) FROM event e WHERE e.post_id = p.id))
  FROM post p WHERE p.author_id = $1
  ORDER BY p.id$$);

CREATE OR REPLACE FUNCTION visible_post(viewer bigint) RETURNS SETOF post
LANGUAGE sql STABLE AS $$
  SELECT p.* FROM exact_post() p
  WHERE p.author_id = viewer
    OR (p.visibility = 'PUBLIC'
        OR p.visibility = 'CIRCLE' AND EXISTS (
          SELECT FROM circle_member m WHERE m.circle_id = p.circle_id AND m.user_id = viewer)
        OR p.visibility = 'INVITED' AND EXISTS (
          SELECT FROM invitation i
          WHERE i.event_id = p.id AND i.invitee_id = viewer AND i.status <> 'WITHDRAWN'))
      AND p.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
$$;
COMMENT ON FUNCTION visible_post IS
  'Returns the posts that the viewer may see: the viewer''s own, and those of users not hidden that are public, in a '
  'circle of the viewer, or an event to which the viewer is invited.';

CREATE OR REPLACE FUNCTION post_that_changes(person bigint) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT p.id FROM post p WHERE p.author_id = person
  UNION SELECT p.id FROM post p JOIN circle c ON c.id = p.circle_id WHERE c.owner_id = person
  UNION SELECT r.subject_id FROM reaction r WHERE r.user_id = person AND is_post(r.subject_id)
  UNION SELECT c.subject_id FROM comment c WHERE c.author_id = person AND is_post(c.subject_id)
  UNION SELECT v.post_id FROM vote v WHERE v.user_id = person
  UNION SELECT a.event_id FROM attendance a WHERE a.user_id = person
  UNION SELECT i.event_id FROM invitation i WHERE person IN (i.invitee_id, i.inviter_id)
  UNION SELECT f.post_id FROM follow_up f WHERE person IN (f.sender_id, f.recipient_id)
  UNION SELECT r.post_id FROM info_request r WHERE person IN (r.owner_id, r.requester_id)
  UNION SELECT t.post_id FROM post_tag t WHERE t.user_id = person
$$;
COMMENT ON FUNCTION post_that_changes IS 'Returns the posts that are deleted or changed with an account.';

CREATE OR REPLACE FUNCTION feed(viewer bigint, source text, kinds text[], page int,
  before timestamptz, before_id bigint)
RETURNS TABLE (id bigint, created_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT p.id, p.created_at
  FROM (SELECT f.followee_id AS id FROM follow f WHERE f.follower_id = viewer
      UNION ALL SELECT viewer) author
    CROSS JOIN LATERAL (
      SELECT v.id, v.created_at FROM visible_post(viewer) v
      WHERE v.author_id = author.id
        AND (kinds IS NULL OR v.kind = ANY (kinds::smallint[]))
        AND (v.created_at, v.id)
          < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
      ORDER BY v.created_at DESC, v.id DESC LIMIT page) p
  WHERE source <> 'CIRCLES'
  UNION ALL
  SELECT p.id, p.created_at
  FROM circle_member m
    CROSS JOIN LATERAL (
      SELECT v.id, v.created_at FROM visible_post(viewer) v
      WHERE v.circle_id = m.circle_id
        AND (kinds IS NULL OR v.kind = ANY (kinds::smallint[]))
        AND (v.created_at, v.id)
          < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
        AND (source = 'CIRCLES' OR v.author_id <> viewer AND NOT EXISTS (
          SELECT FROM follow f WHERE f.follower_id = viewer AND f.followee_id = v.author_id))
      ORDER BY v.created_at DESC, v.id DESC LIMIT page) p
  WHERE source <> 'PEOPLE' AND m.user_id = viewer
  ORDER BY created_at DESC, id DESC LIMIT page
$$;
COMMENT ON FUNCTION feed IS
  'Returns the posts of the viewer and of followed users, of the viewer''s circles, or of both, each once.';

CREATE OR REPLACE FUNCTION feed_newer(viewer bigint, source text, kinds text[], page int,
  after timestamptz, after_id bigint)
RETURNS TABLE (id bigint, created_at timestamptz) LANGUAGE sql STABLE AS $$
  SELECT p.id, p.created_at
  FROM (SELECT f.followee_id AS id FROM follow f WHERE f.follower_id = viewer
      UNION ALL SELECT viewer) author
    CROSS JOIN LATERAL (
      SELECT v.id, v.created_at FROM visible_post(viewer) v
      WHERE v.author_id = author.id
        AND (kinds IS NULL OR v.kind = ANY (kinds::smallint[]))
        AND (v.created_at, v.id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
      ORDER BY v.created_at, v.id LIMIT page) p
  WHERE source <> 'CIRCLES'
  UNION ALL
  SELECT p.id, p.created_at
  FROM circle_member m
    CROSS JOIN LATERAL (
      SELECT v.id, v.created_at FROM visible_post(viewer) v
      WHERE v.circle_id = m.circle_id
        AND (kinds IS NULL OR v.kind = ANY (kinds::smallint[]))
        AND (v.created_at, v.id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
        AND (source = 'CIRCLES' OR v.author_id <> viewer AND NOT EXISTS (
          SELECT FROM follow f WHERE f.follower_id = viewer AND f.followee_id = v.author_id))
      ORDER BY v.created_at, v.id LIMIT page) p
  WHERE source <> 'PEOPLE' AND m.user_id = viewer
  ORDER BY created_at, id LIMIT page
$$;
COMMENT ON FUNCTION feed_newer IS 'Returns the same posts as feed, from the end of its order.';

-- The newest reactions of everybody followed are merged from the index alone, five for each post that is
-- wanted, and only of these it is asked whether they are to be seen. Where that is too few, as when most of
-- them are of the same posts, all is done over with each person's newest that are to be seen.
CREATE OR REPLACE FUNCTION reacted_feed(viewer bigint, reaction text, page int, before timestamptz,
  before_id bigint)
RETURNS TABLE (id bigint, reacted_at timestamptz) LANGUAGE sql STABLE AS $$
  WITH merged AS MATERIALIZED (
    SELECT r.subject_id AS id, r.created_at
    FROM follow f CROSS JOIN LATERAL (
      SELECT t.subject_id, t.created_at FROM reaction t
      WHERE t.user_id = f.followee_id AND t.kind = reaction::reaction_kind
        AND is_post(t.subject_id)
        AND (t.created_at, t.subject_id)
          < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
      ORDER BY t.created_at DESC, t.subject_id DESC LIMIT 5 * page) r
    WHERE f.follower_id = viewer
    ORDER BY r.created_at DESC, r.subject_id DESC LIMIT 5 * page),
  shown AS MATERIALIZED (
    SELECT m.id, m.reacted_at
    FROM (SELECT e.id, max(e.created_at) AS reacted_at FROM merged e GROUP BY e.id
        ORDER BY 2 DESC, 1 DESC OFFSET 0) m
      JOIN visible_post(viewer) p ON p.id = m.id
    WHERE before IS NULL OR NOT EXISTS (
      SELECT FROM reaction later
      WHERE later.subject_id = m.id AND later.kind = reaction::reaction_kind
        AND later.created_at >= before
        AND (later.created_at, later.subject_id) >= (before, before_id)
        AND (false OR later.user_id IN (SELECT g.followee_id FROM follow g WHERE g.follower_id = viewer))
      OFFSET 0)  -- for each post that is looked at, not of everybody followed once more
    ORDER BY m.reacted_at DESC, m.id DESC LIMIT page)
  SELECT s.id, s.reacted_at FROM shown s
  WHERE (SELECT count(*) FROM shown) >= page OR (SELECT count(*) FROM merged) < 5 * page
  UNION ALL
  (SELECT r.id, max(r.created_at)
  FROM follow f CROSS JOIN LATERAL (
    SELECT t.subject_id AS id, t.created_at
    FROM reaction t JOIN visible_post(viewer) p ON p.id = t.subject_id
    WHERE t.user_id = f.followee_id AND t.kind = reaction::reaction_kind
      AND (t.created_at, t.subject_id)
        < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
      AND (before IS NULL OR NOT EXISTS (
        SELECT FROM reaction later JOIN follow g
          ON g.follower_id = viewer AND g.followee_id = later.user_id
        WHERE later.subject_id = t.subject_id AND later.kind = reaction::reaction_kind
          AND later.created_at >= before
          AND (later.created_at, later.subject_id) >= (before, before_id)))
    ORDER BY t.created_at DESC, t.subject_id DESC LIMIT page) r
  WHERE f.follower_id = viewer
    AND ((SELECT count(*) FROM shown) >= page OR (SELECT count(*) FROM merged) < 5 * page) IS NOT TRUE
  GROUP BY r.id
  ORDER BY 2 DESC, 1 DESC LIMIT page)
$$;
COMMENT ON FUNCTION reacted_feed IS
  'Returns the posts that followed users reacted to, each once, with the time of the latest of these reactions. Posts '
  'with a later reaction belong to an earlier page.';

CREATE OR REPLACE FUNCTION reacted_feed_newer(viewer bigint, reaction text, page int, after timestamptz,
  after_id bigint)
RETURNS TABLE (id bigint, reacted_at timestamptz) LANGUAGE sql STABLE AS $$
  WITH merged AS MATERIALIZED (
    SELECT r.subject_id AS id, r.created_at
    FROM follow f CROSS JOIN LATERAL (
      SELECT t.subject_id, t.created_at FROM reaction t
      WHERE t.user_id = f.followee_id AND t.kind = reaction::reaction_kind
        AND is_post(t.subject_id)
        AND (t.created_at, t.subject_id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
      ORDER BY t.created_at, t.subject_id LIMIT 25 * page) r
    WHERE f.follower_id = viewer
    ORDER BY r.created_at, r.subject_id LIMIT 25 * page),
  shown AS MATERIALIZED (
    SELECT m.id, m.reacted_at
    FROM (SELECT e.id, max(e.created_at) AS reacted_at FROM merged e GROUP BY e.id
        ORDER BY 2, 1 OFFSET 0) m
      JOIN visible_post(viewer) p ON p.id = m.id
    WHERE NOT EXISTS (
      SELECT FROM reaction later
      WHERE later.subject_id = m.id AND later.kind = reaction::reaction_kind AND later.created_at > m.reacted_at
        AND (false OR later.user_id IN (SELECT g.followee_id FROM follow g WHERE g.follower_id = viewer))
      OFFSET 0)  -- for each post that is looked at
    ORDER BY m.reacted_at, m.id LIMIT page)
  SELECT s.id, s.reacted_at FROM shown s
  WHERE (SELECT count(*) FROM shown) >= page OR (SELECT count(*) FROM merged) < 25 * page
  UNION ALL
  (SELECT r.id, max(r.created_at)
  FROM follow f CROSS JOIN LATERAL (
    SELECT t.subject_id AS id, t.created_at
    FROM reaction t JOIN visible_post(viewer) p ON p.id = t.subject_id
    WHERE t.user_id = f.followee_id AND t.kind = reaction::reaction_kind
      AND (t.created_at, t.subject_id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
      AND NOT EXISTS (
        SELECT FROM reaction later JOIN follow g
          ON g.follower_id = viewer AND g.followee_id = later.user_id
        WHERE later.subject_id = t.subject_id AND later.kind = reaction::reaction_kind
          AND later.created_at > t.created_at
        OFFSET 0)
    ORDER BY t.created_at, t.subject_id LIMIT page) r
  WHERE f.follower_id = viewer
    AND ((SELECT count(*) FROM shown) >= page OR (SELECT count(*) FROM merged) < 25 * page) IS NOT TRUE
  GROUP BY r.id
  ORDER BY 2, 1 LIMIT page)
$$;
COMMENT ON FUNCTION reacted_feed_newer IS
  'Returns the same posts as reacted_feed, from the end of its order. Only the latest reaction to a post counts.';

CREATE OR REPLACE FUNCTION post_reaction(viewer bigint, post bigint, wanted text, part text, page int,
  before timestamptz, before_user bigint, before_kind reaction_kind)
RETURNS TABLE (user_id bigint, kind reaction_kind, created_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT r.user_id, r.kind, r.created_at
  FROM unnest('{HEART,LIKE,TOP}'::reaction_kind[]) gesture(kind)
    CROSS JOIN LATERAL (
      SELECT t.user_id, t.kind, t.created_at FROM reaction t
      WHERE t.subject_id = post AND t.kind = gesture.kind
        AND (before IS NULL OR (t.created_at, t.user_id) <= (before, before_user)
          AND (t.created_at, t.user_id, t.kind) < (before, before_user, before_kind))
        AND t.user_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
        AND (part = 'EVERYONE' OR t.user_id IN (SELECT n.id FROM network(viewer, part) n))
      ORDER BY t.created_at DESC, t.user_id DESC LIMIT page) r
  WHERE wanted IS NULL
  UNION ALL
  -- whoever reads the page stops where it is full
  (SELECT t.user_id, t.kind, t.created_at FROM reaction t
  WHERE wanted IS NOT NULL AND t.subject_id = post AND t.kind = wanted::reaction_kind
    AND (before IS NULL OR (t.created_at, t.user_id) <= (before, before_user)
      AND (t.created_at, t.user_id, t.kind) < (before, before_user, before_kind))
    AND (part = 'EVERYONE' OR t.user_id IN (SELECT n.id FROM network(viewer, part) n))
  ORDER BY t.created_at DESC, t.user_id DESC)
$$;
COMMENT ON FUNCTION post_reaction IS
  'Returns the reactions to a post by a part of the network: those of one kind, or the newest few of each kind, from '
  'its index.';

CREATE OR REPLACE FUNCTION post_reaction_newer(viewer bigint, post bigint, wanted text, part text, page int,
  after timestamptz, after_user bigint, after_kind reaction_kind)
RETURNS TABLE (user_id bigint, kind reaction_kind, created_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT r.user_id, r.kind, r.created_at
  FROM unnest('{HEART,LIKE,TOP}'::reaction_kind[]) gesture(kind)
    CROSS JOIN LATERAL (
      SELECT t.user_id, t.kind, t.created_at FROM reaction t
      WHERE t.subject_id = post AND t.kind = gesture.kind
        AND (after IS NULL OR (t.created_at, t.user_id) >= (after, after_user)
          AND (t.created_at, t.user_id, t.kind) > (after, after_user, after_kind))
        AND t.user_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
        AND (part = 'EVERYONE' OR t.user_id IN (SELECT n.id FROM network(viewer, part) n))
      ORDER BY t.created_at, t.user_id LIMIT page) r
  WHERE wanted IS NULL
  UNION ALL
  -- whoever reads the page stops where it is full
  (SELECT t.user_id, t.kind, t.created_at FROM reaction t
  WHERE wanted IS NOT NULL AND t.subject_id = post AND t.kind = wanted::reaction_kind
    AND (after IS NULL OR (t.created_at, t.user_id) >= (after, after_user)
      AND (t.created_at, t.user_id, t.kind) > (after, after_user, after_kind))
    AND (part = 'EVERYONE' OR t.user_id IN (SELECT n.id FROM network(viewer, part) n))
  ORDER BY t.created_at, t.user_id)
$$;
COMMENT ON FUNCTION post_reaction_newer IS 'Returns the same reactions as post_reaction, from the end of its order.';

CREATE OR REPLACE FUNCTION seen_post(viewer bigint, target bigint, kinds text[], VARIADIC path text[])
RETURNS post LANGUAGE plpgsql AS $$
DECLARE chosen post;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.* INTO chosen FROM visible_post(viewer) p
  WHERE p.id = target AND (kinds IS NULL OR node_type(p.id) = ANY (kinds));
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', VARIADIC path); END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION seen_post IS
  'Returns a post of one of these types, or of any type, that the viewer may see. Refuses any other.';

CREATE OR REPLACE FUNCTION own_post(viewer bigint, target bigint, kinds text[], VARIADIC path text[])
RETURNS post LANGUAGE plpgsql AS $$
DECLARE chosen post := seen_post(viewer, target, kinds, VARIADIC path);
BEGIN
  IF chosen.author_id <> viewer THEN PERFORM refuse('FORBIDDEN', VARIADIC path); END IF;
  PERFORM FROM post p WHERE p.id = target FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', VARIADIC path); END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION own_post IS
  'Returns a post of one of these types by the viewer, locked before its dependent rows. Refuses any other.';

-- What an input for a post may hold: each kind of post lists its rules in the order of its input, once for what is
-- made and what is changed. In a change, a field that is left out breaks no rule.

CREATE OR REPLACE FUNCTION is_given(input jsonb, field text, is_new boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT is_new OR input ? field $$;
COMMENT ON FUNCTION is_given IS 'Returns whether the rules of a field apply: always to what is made, else if given.';

CREATE OR REPLACE FUNCTION null_refusals(input jsonb, VARIADIC fields text[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (SELECT coalesce(jsonb_agg(refusal('REQUIRED', 'input', f.name) ORDER BY f.place), '[]')
    FROM unnest(fields) WITH ORDINALITY AS f(name, place) WHERE input -> f.name = 'null');
END $$;
COMMENT ON FUNCTION null_refusals IS 'Returns the errors of fields that are null in a change and have no empty value.';

CREATE OR REPLACE FUNCTION where_refusals(viewer bigint, kind text, input jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  target record;
  wanted text := input ->> 'visibility';
BEGIN
  SELECT c.id, c.kind, c.owner_id INTO target FROM visible_circle(viewer) c
  WHERE c.id = (input ->> 'circleId')::bigint;
  RETURN CASE
    WHEN input ->> 'circleId' IS NOT NULL AND target.id IS NULL
      THEN jsonb_build_array(refusal('NOT_FOUND', 'input', 'circleId'))
    WHEN target.kind = 'CHANNEL' AND target.owner_id <> viewer AND NOT has_role(viewer, 'STAFF', 'SERVICE')
      AND (where_refusals.kind IN ('announcement', 'event', 'text_post') OR NOT EXISTS (SELECT FROM circle_member m
        WHERE m.circle_id = target.id AND m.user_id = viewer))
      THEN jsonb_build_array(refusal('FORBIDDEN', 'input', 'circleId'))
    WHEN wanted = 'CIRCLE' AND input ->> 'circleId' IS NULL
      THEN jsonb_build_array(worded(refusal('REQUIRED', 'input', 'circleId'), 'CIRCLE'))
    ELSE '[]' END
  || CASE WHEN wanted = 'INVITED' AND where_refusals.kind <> 'event'
    THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'visibility'), 'VISIBILITY'))
    ELSE '[]' END;
END $$;
COMMENT ON FUNCTION where_refusals IS
  'Returns the errors of the circle and the visibility of a new post of this type. Members post in a group. In a '
  'channel, text posts, announcements, and events are for its owner, staff, and services, and other types for its '
  'subscribers.';

CREATE OR REPLACE FUNCTION body_refusals(input jsonb, is_new boolean, needs_words boolean) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN is_given(input, 'body', is_new)
    THEN text_refusals(input ->> 'body', needs_words, 5000, 'input', 'body') ELSE '[]' END
$$;
COMMENT ON FUNCTION body_refusals IS 'Returns the errors of the text of a post.';

CREATE OR REPLACE FUNCTION picture_refusals(viewer bigint, input jsonb, is_new boolean, needs_photo boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN is_given(input, 'photoIds', is_new)
    THEN photo_refusals(viewer, id_list(input -> 'photoIds'), needs_photo, 'input', 'photoIds') ELSE '[]' END;
END $$;
COMMENT ON FUNCTION picture_refusals IS 'Returns the errors of the photos of a post.';

CREATE OR REPLACE FUNCTION words_refusals(viewer bigint, kind text, input jsonb, is_new boolean)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN is_new THEN where_refusals(viewer, kind, input) ELSE '[]' END
    || body_refusals(input, is_new, true) || picture_refusals(viewer, input, is_new, false);
END $$;
COMMENT ON FUNCTION words_refusals IS
  'Returns the errors of the fields that all posts of words have in common: where, the text, and photos.';

CREATE OR REPLACE FUNCTION new_post(viewer bigint, kind text, input jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  made bigint;
  place bigint := use_location(viewer, input -> 'location', 'input', 'location');
  is_in_group boolean := EXISTS (SELECT FROM circle c
    WHERE c.id = (input ->> 'circleId')::bigint AND c.kind = 'GROUP');
BEGIN
  INSERT INTO post (id, author_id, body, location_id, circle_id, visibility)
  VALUES (new_node(tag_of(new_post.kind)), viewer, coalesce(words(input ->> 'body'), ''), place,
    (input ->> 'circleId')::bigint,
    CASE WHEN new_post.kind = 'announcement' THEN 'PUBLIC'
      ELSE coalesce(input ->> 'visibility', CASE WHEN is_in_group THEN 'CIRCLE' ELSE 'PUBLIC' END)
    END::visibility)
  RETURNING id INTO made;
  PERFORM set_photos(made, id_list(input -> 'photoIds'));
  RETURN made;
END $$;
COMMENT ON FUNCTION new_post IS
  'Inserts a post of this type with its photos, and returns its ID. A post in a group is visible to the group unless '
  'the input states otherwise. The caller has refused what is wrong.';

CREATE OR REPLACE FUNCTION change_post(viewer bigint, target bigint, input jsonb, is_changed boolean DEFAULT false)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  old post;
  place bigint;
  photos bigint[] := coalesce(id_list(input -> 'photoIds'), '{}');
BEGIN
  SELECT p.* INTO old FROM post p WHERE p.id = target;
  place := CASE WHEN input ? 'location' THEN use_location(viewer, input -> 'location', 'input', 'location')
    ELSE old.location_id END;
  IF input ? 'photoIds' AND photos <> ARRAY(SELECT h.photo_id FROM post_photo h WHERE h.post_id = target
      ORDER BY h.position) THEN
    PERFORM set_photos(target, photos);
    is_changed := true;
  END IF;
  UPDATE post p SET updated_at = now(), location_id = place,
    body = CASE WHEN input ? 'body' THEN coalesce(words(input ->> 'body'), '') ELSE p.body END
  WHERE p.id = target AND (is_changed OR place IS DISTINCT FROM p.location_id
    OR input ? 'body' AND coalesce(words(input ->> 'body'), '') <> p.body);
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION change_post IS
  'Changes what all posts have, as far as the input has it and it differs, and returns whether anything does or, by '
  'is_changed, did. Only then the post counts as edited. The caller holds the post and has refused what is wrong.';

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
  'Implements Mutation.deletePost, for its author and staff. Deletes everything that refers to the post.';
