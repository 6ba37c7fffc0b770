-- What is true of the graph but that no constraint can say: for `sociograph verify`, which calls every
-- function here and elsewhere that is named verify_... and takes no argument. Each gives a row for
-- everything that is wrong, and none where nothing is. They look at the whole graph in one snapshot,
-- so they may be called beside any number of writers. Counts are in counter.sql, what is about "any
-- of several types" in node.sql.

CREATE OR REPLACE FUNCTION verify_accounts() RETURNS TABLE (user_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT u.id, 'name_key is not the folded name' FROM app_user u
  WHERE u.name_key <> folded(u.display_name)
  UNION ALL SELECT u.id, 'is no MEMBER, or has a role twice' FROM app_user u
  WHERE NOT 'MEMBER' = ANY (u.roles)
    OR cardinality(u.roles) <> (SELECT count(DISTINCT r.role) FROM unnest(u.roles) r(role))
  UNION ALL SELECT u.id, 'shows the photo ' || f.id || ' of somebody else' FROM app_user u
    JOIN photo f ON f.id = u.avatar_id
  WHERE f.owner_id <> u.id
  UNION ALL SELECT s.user_id, 'has ' || count(*) || ' sessions of at most 20' FROM session s
  WHERE s.expires_at > now() GROUP BY s.user_id HAVING count(*) > 20
$$;
COMMENT ON FUNCTION verify_accounts IS 'Returns the accounts with invalid names, roles, pictures, or sessions.';

CREATE OR REPLACE FUNCTION verify_blocks() RETURNS TABLE (blocker_id bigint, blocked_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT b.blocker_id, b.blocked_id, 'one still follows the other' FROM block b
  WHERE EXISTS (SELECT FROM follow f WHERE f.follower_id = b.blocker_id AND f.followee_id = b.blocked_id)
    OR EXISTS (SELECT FROM follow f WHERE f.follower_id = b.blocked_id AND f.followee_id = b.blocker_id)
  UNION ALL SELECT coalesce(b.blocker_id, h.viewer_id), coalesce(b.blocked_id, h.user_id),
    'what is hidden is not what is blocked'
  FROM (SELECT s.blocker_id, s.blocked_id, min(s.created_at) AS since FROM (
      SELECT blocker_id, blocked_id, created_at FROM block
      UNION ALL SELECT blocked_id, blocker_id, created_at FROM block) s
    GROUP BY s.blocker_id, s.blocked_id) b
    FULL JOIN hidden h ON h.viewer_id = b.blocker_id AND h.user_id = b.blocked_id
  WHERE b.blocker_id IS NULL OR h.viewer_id IS NULL OR h.since <> b.since
$$;
COMMENT ON FUNCTION verify_blocks IS
  'Returns the blocks that did not end follows or are not hidden both ways, and users who are hidden without a block.';

CREATE OR REPLACE FUNCTION verify_circles() RETURNS TABLE (circle_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT c.id, 'its owner is not the one among its members who owns it' FROM circle c
  WHERE c.kind = 'GROUP' AND NOT EXISTS (
    SELECT FROM circle_member m
    WHERE m.circle_id = c.id AND m.user_id = c.owner_id AND m.role = 'OWNER')
  UNION ALL SELECT m.circle_id, 'it is owned by ' || m.user_id || ' among its members' FROM circle_member m
    JOIN circle c ON c.id = m.circle_id
  WHERE m.role = 'OWNER' AND m.user_id <> c.owner_id
$$;
COMMENT ON FUNCTION verify_circles IS 'Returns the circles whose owner and members disagree about the owner.';

CREATE OR REPLACE FUNCTION verify_locations() RETURNS TABLE (location_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT l.id, 'name_key is not the folded name' FROM location l WHERE l.name_key <> folded(l.name)
  UNION ALL SELECT l.id, 'its ancestors are not those of its parent, and the parent' FROM location l
    LEFT JOIN location p ON p.id = l.parent_id
  WHERE l.ancestor_ids <> CASE WHEN p.id IS NULL THEN '{}' ELSE p.ancestor_ids || p.id END
  UNION ALL SELECT l.id, 'its parent stands no higher than it' FROM location l
    JOIN location p ON p.id = l.parent_id
  WHERE p.level >= l.level
$$;
COMMENT ON FUNCTION verify_locations IS 'Returns the locations whose name or ancestors do not match.';

CREATE OR REPLACE FUNCTION verify_posts() RETURNS TABLE (post_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT p.id, 'its row of ' || t.name || ' is missing' FROM post p,
    LATERAL (SELECT CASE WHEN is_votable(p.id) THEN 'votable_post'
      WHEN is_card_offer(p.id) OR is_card_request(p.id) THEN 'card_post'
      WHEN is_event(p.id) THEN 'event' END AS name) t
  WHERE CASE t.name WHEN 'votable_post' THEN NOT EXISTS (SELECT FROM votable_post v WHERE v.post_id = p.id)
    WHEN 'card_post' THEN NOT EXISTS (SELECT FROM card_post c WHERE c.post_id = p.id)
    WHEN 'event' THEN NOT EXISTS (SELECT FROM event e WHERE e.post_id = p.id) ELSE false END
  UNION ALL SELECT e.post_id, 'the event is in another circle than the post' FROM event e
    JOIN post p ON p.id = e.post_id
  WHERE e.circle_id IS DISTINCT FROM p.circle_id
  UNION ALL SELECT p.id, 'shows the photo ' || f.id || ' of somebody else' FROM post p
    JOIN post_photo a ON a.post_id = p.id JOIN photo f ON f.id = a.photo_id
  WHERE f.owner_id <> p.author_id
  UNION ALL SELECT p.id, 'its author voted' FROM vote v JOIN post p ON p.id = v.post_id
  WHERE p.author_id = v.user_id
  UNION ALL SELECT DISTINCT t.post_id, 'tags people and is no thank-you' FROM post_tag t
  WHERE NOT is_thank_you(t.post_id)
  UNION ALL SELECT DISTINCT t.post_id, 'tags its author' FROM post_tag t JOIN post p ON p.id = t.post_id
  WHERE t.user_id = p.author_id
  UNION ALL SELECT f.subject_id, 'its author flagged it' FROM flag f JOIN post p ON p.id = f.subject_id
  WHERE f.user_id = p.author_id
$$;
COMMENT ON FUNCTION verify_posts IS
  'Returns the posts without the row of their kind, with photos of other users, or with impossible votes, tags, and '
  'flags.';

CREATE OR REPLACE FUNCTION verify_cards() RETURNS TABLE (card_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT r.id, 'asks somebody who did not write the request' FROM info_request r
    JOIN post p ON p.id = r.post_id
  WHERE p.author_id <> r.owner_id
  UNION ALL SELECT r.id, 'was approved and has no follow-up' FROM info_request r
  WHERE r.status = 'ACCEPTED' AND NOT EXISTS (
    SELECT FROM follow_up f WHERE f.post_id = r.post_id AND f.sender_id = r.requester_id
      AND f.recipient_id = r.owner_id)
  UNION ALL SELECT f.id, 'is sent by somebody who did not make the offer' FROM follow_up f
    JOIN post p ON p.id = f.post_id
  WHERE is_card_offer(p.id) AND p.author_id <> f.sender_id
  UNION ALL SELECT f.id, 'nobody approved the request behind it' FROM follow_up f
  WHERE is_card_request(f.post_id) AND NOT EXISTS (
    SELECT FROM info_request r WHERE r.post_id = f.post_id AND r.requester_id = f.sender_id
      AND r.owner_id = f.recipient_id AND r.status = 'ACCEPTED')
$$;
COMMENT ON FUNCTION verify_cards IS
  'Returns the offers that are open beyond their limit, and the requests and follow-ups without a counterpart.';

CREATE OR REPLACE FUNCTION verify_classes() RETURNS TABLE (booking_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT b.id, 'holds a seat in a session that was called off' FROM booking b
    JOIN class_session s ON s.id = b.session_id
  WHERE b.cancelled_at IS NULL AND s.cancelled_at IS NOT NULL
$$;
COMMENT ON FUNCTION verify_classes IS 'Returns the valid bookings of canceled class sessions.';

CREATE OR REPLACE FUNCTION verify_conversations() RETURNS TABLE (conversation_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT m.conversation_id, m.user_id || ' takes part and is not in its key' FROM conversation_member m
    JOIN conversation c ON c.id = m.conversation_id
  WHERE m.user_id::text <> ALL (string_to_array(c.member_key, ','))
  UNION ALL SELECT c.id, 'somebody of its key is still here and takes no part' FROM conversation c
  WHERE EXISTS (
    SELECT FROM app_user u WHERE u.id = ANY (string_to_array(c.member_key, ',')::bigint[])
      AND NOT EXISTS (SELECT FROM conversation_member m
        WHERE m.conversation_id = c.id AND m.user_id = u.id))
$$;
COMMENT ON FUNCTION verify_conversations IS
  'Returns the conversations whose members differ from those in their key, apart from deleted accounts.';

CREATE OR REPLACE FUNCTION verify_contacts() RETURNS TABLE (contact_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT c.id, 'name_key is not the folded name' FROM external_contact c WHERE c.name_key <> folded(c.name)
  UNION ALL SELECT i.id, 'invites who invites' FROM invitation i WHERE i.invitee_id = i.inviter_id
$$;
COMMENT ON FUNCTION verify_contacts IS
  'Returns the contacts with a wrong name_key, and the invitations of users by themselves.';

CREATE OR REPLACE FUNCTION verify_notifications() RETURNS TABLE (notification_id bigint, fault text)
LANGUAGE sql STABLE AS $$
  SELECT n.id, 'tells somebody of their own act' FROM notification n WHERE n.recipient_id = n.actor_id
$$;
COMMENT ON FUNCTION verify_notifications IS 'Returns the notifications that notify a user of the user''s own act.';
