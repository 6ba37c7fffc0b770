-- Posts: feeds, and what hangs on a post. Nothing is copied when somebody posts: the newest few of
-- each person followed are taken by index and merged, so a feed costs as much as one follows
-- people, however much there is to read.
--
-- page, before, before_id: as many rows as a page needs, from after this sort key on; null for all.

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
  'Posts of people followed and of the viewer, of circles joined, or both, each once.';

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
        AND t.subject_id & 240 = 16
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
  'Posts that people followed reacted to, each once, at the time of the latest of these '
  'reactions. One that was reacted to again since belongs to an earlier page.';

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
  'Reactions to a post by a part of the network: those of one kind, or of each kind the newest few, by '
  'its index, however many there are.';

CREATE OR REPLACE FUNCTION shown_comment(viewer bigint) RETURNS SETOF comment
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM exact_comment() c
  WHERE c.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
$$;
COMMENT ON FUNCTION shown_comment IS 'Comments of a subject that was found visible already.';

CREATE OR REPLACE FUNCTION shown_photo(viewer bigint) RETURNS SETOF photo LANGUAGE sql STABLE AS $$
  SELECT f.* FROM photo f
  WHERE f.moderation = 'APPROVED'
    OR f.owner_id = viewer AND f.moderation = 'PENDING'
    OR has_role(viewer, 'STAFF')
$$;
COMMENT ON FUNCTION shown_photo IS
  'Photos of a post, a product or a profile that was found visible already: what is approved, '
  'and what waits for moderation for its owner and staff, who see the rest too.';

CREATE OR REPLACE FUNCTION verdict_text(wear_it int, change_it int) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE
    WHEN wear_it + change_it = 0 THEN 'Nobody has voted yet.'
    WHEN wear_it = change_it
      THEN 'It is a tie: ' || wear_it || ' say wear it, ' || change_it || ' say change it.'
    WHEN wear_it > change_it
      THEN 'Wear it! ' || wear_it || ' of ' || wear_it + change_it
        || CASE wear_it + change_it WHEN 1 THEN ' vote says so.' ELSE ' votes say so.' END
    ELSE 'Change it! ' || change_it || ' of ' || wear_it + change_it
        || CASE wear_it + change_it WHEN 1 THEN ' vote says so.' ELSE ' votes say so.' END END;
END $$;
COMMENT ON FUNCTION verdict_text IS 'The result of a vote in words.';
