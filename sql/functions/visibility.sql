-- Who sees what. For each table with a rule a function gives the rows the viewer may see; every
-- read goes through it. The viewer is a user id, or 0 for somebody not signed in.
--
-- Each function is one plain SELECT, so the planner puts it in place of the call: the rows are
-- still found by the caller's conditions and the caller's index. What is alike for all rows (whom
-- the viewer blocks and who blocks them, whether they are staff) stands in sub-selects that do not
-- depend on the row and are read once per statement.
--
-- A row is hidden with whatever it cannot be shown without: a comment with its subject, a
-- follow-up with its post. People are the exception: where somebody must be named, named_user
-- gives their public name and picture, and nothing else, to those they are hidden from.
--
-- Locations, products, programs and class sessions are open to everyone and have no function.

CREATE OR REPLACE FUNCTION hidden_user(viewer bigint) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT h.user_id FROM hidden h WHERE h.viewer_id = viewer
$$;
COMMENT ON FUNCTION hidden_user IS
  'People hidden from the viewer: blocked by or blocking them. No rows for nearly everyone.';

CREATE OR REPLACE FUNCTION visible_user(viewer bigint) RETURNS SETOF app_user
LANGUAGE sql STABLE AS $$
  SELECT u.* FROM exact_app_user() u
  WHERE u.id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
$$;
COMMENT ON FUNCTION visible_user IS 'Everyone, except that blocking hides both from each other.';

CREATE OR REPLACE FUNCTION named_user(viewer bigint) RETURNS SETOF app_user
LANGUAGE sql STABLE AS $$
  SELECT u.id, u.username, u.display_name, u.name_key,
    CASE WHEN is_hidden THEN NULL ELSE u.email END,
    CASE WHEN is_hidden THEN false ELSE u.email_verified END,
    CASE WHEN is_hidden THEN '' ELSE u.bio END,
    CASE WHEN is_hidden THEN NULL ELSE u.website END,
    u.avatar_id,
    CASE WHEN is_hidden THEN NULL ELSE u.home_id END,
    CASE WHEN is_hidden THEN NULL ELSE u.address END,
    CASE WHEN is_hidden THEN NULL ELSE u.card_preference END,
    CASE WHEN is_hidden THEN '{MEMBER}' ELSE u.roles END,
    CASE WHEN is_hidden THEN 0 ELSE u.follower_count END,
    CASE WHEN is_hidden THEN 0 ELSE u.following_count END,
    CASE WHEN is_hidden THEN 0 ELSE u.thank_you_score END,
    u.is_hot,
    CASE WHEN is_hidden THEN 'epoch' ELSE u.joined_at END
  FROM exact_app_user() u CROSS JOIN LATERAL (
    SELECT u.id IN (SELECT h.id FROM hidden_user(viewer) h) AS is_hidden) m
$$;
COMMENT ON FUNCTION named_user IS 'Everyone, but of hidden people only name and picture.';

CREATE OR REPLACE FUNCTION visible_circle(viewer bigint)
RETURNS TABLE (id bigint, name text, description text, kind text, is_default boolean,
  owner_id bigint, member_count int, comment_count int, is_hot boolean, created_at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM exact_circle() c
  WHERE c.kind = 'CHANNEL'
    OR EXISTS (SELECT FROM circle_member m WHERE m.circle_id = c.id AND m.user_id = viewer)
$$;
COMMENT ON FUNCTION visible_circle IS
  'Channels: everyone. Groups: their members. (PostgreSQL has a type circle of its own, so the '
  'columns are named.)';

CREATE OR REPLACE FUNCTION visible_post(viewer bigint) RETURNS SETOF post
LANGUAGE sql STABLE AS $$
  SELECT p.* FROM exact_post() p
  WHERE p.author_id = viewer
    OR (p.visibility = 'PUBLIC'
        OR p.visibility = 'CIRCLE' AND EXISTS (
          SELECT FROM circle_member m WHERE m.circle_id = p.circle_id AND m.user_id = viewer)
        OR p.visibility = 'INVITED' AND EXISTS (
          SELECT FROM invitation i WHERE i.event_id = p.id AND i.invitee_id = viewer))
      AND p.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
$$;
COMMENT ON FUNCTION visible_post IS
  'One''s own; those of people not blocked that are public, in a circle one belongs to, or an '
  'event one is invited to.';

CREATE OR REPLACE FUNCTION visible_photo(viewer bigint) RETURNS SETOF photo
LANGUAGE sql STABLE AS $$
  SELECT f.* FROM photo f
  WHERE f.owner_id = viewer AND f.moderation <> 'REJECTED'
    OR f.moderation = 'APPROVED' AND (
      EXISTS (SELECT FROM app_user u WHERE u.id = f.owner_id AND u.avatar_id = f.id)
      OR EXISTS (
        SELECT FROM post_photo pp JOIN visible_post(viewer) p ON p.id = pp.post_id
        WHERE pp.photo_id = f.id)
      OR EXISTS (SELECT FROM product r WHERE r.photo_id = f.id))
    OR EXISTS (SELECT FROM app_user s WHERE s.id = viewer AND 'STAFF' = ANY (s.roles))
$$;
COMMENT ON FUNCTION visible_photo IS
  'Approved ones with the post, product or profile that shows them (a post''s photos are its '
  'author''s); pending ones for owner and staff, rejected ones for staff.';

CREATE OR REPLACE FUNCTION visible_comment(viewer bigint) RETURNS SETOF comment
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM exact_comment() c
  WHERE c.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND CASE
      WHEN c.subject_id & 240 = 16
        THEN EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = c.subject_id)
      WHEN c.subject_id & 255 = 5
        THEN EXISTS (SELECT FROM visible_circle(viewer) o WHERE o.id = c.subject_id)
      ELSE true END
$$;
COMMENT ON FUNCTION visible_comment IS 'With their subject, except those of people blocked.';

CREATE OR REPLACE FUNCTION visible_invitation(viewer bigint) RETURNS SETOF invitation
LANGUAGE sql STABLE AS $$
  SELECT i.* FROM invitation i
  WHERE (i.invitee_id = viewer OR i.inviter_id = viewer)
    AND i.inviter_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND (i.invitee_id IS NULL
      OR i.invitee_id NOT IN (SELECT h.id FROM hidden_user(viewer) h))
    AND (i.event_id IS NULL
      OR EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = i.event_id))
$$;
COMMENT ON FUNCTION visible_invitation IS
  'Inviter and invitee, unless they block each other; to an event, while one may see it.';

CREATE OR REPLACE FUNCTION visible_info_request(viewer bigint) RETURNS SETOF info_request
LANGUAGE sql STABLE AS $$
  SELECT r.* FROM info_request r
  WHERE (r.owner_id = viewer OR r.requester_id = viewer)
    AND CASE WHEN r.owner_id = viewer THEN r.requester_id ELSE r.owner_id END
      NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = r.post_id)
$$;
COMMENT ON FUNCTION visible_info_request IS 'Asker and asked, unless they block each other.';

CREATE OR REPLACE FUNCTION visible_follow_up(viewer bigint) RETURNS SETOF follow_up
LANGUAGE sql STABLE AS $$
  SELECT f.* FROM follow_up f
  WHERE (f.sender_id = viewer OR f.recipient_id = viewer)
    AND CASE WHEN f.sender_id = viewer THEN f.recipient_id ELSE f.sender_id END
      NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND EXISTS (SELECT FROM visible_post(viewer) p WHERE p.id = f.post_id)
$$;
COMMENT ON FUNCTION visible_follow_up IS 'Sender and recipient, unless they block each other.';

CREATE OR REPLACE FUNCTION visible_booking(viewer bigint) RETURNS SETOF booking
LANGUAGE sql STABLE AS $$
  SELECT b.* FROM booking b
  WHERE b.user_id = viewer
    OR EXISTS (SELECT FROM class_session s WHERE s.id = b.session_id AND s.trainer_id = viewer)
    OR EXISTS (SELECT FROM app_user s WHERE s.id = viewer AND 'STAFF' = ANY (s.roles))
$$;
COMMENT ON FUNCTION visible_booking IS 'Whoever booked, the trainer, and staff.';

-- Two people who are hidden from each other may both take part in a conversation of more people. Neither sees what
-- the other writes meanwhile, nor by updated_at that it was written.
CREATE OR REPLACE FUNCTION shown_message(viewer bigint) RETURNS SETOF message
LANGUAGE sql STABLE AS $$
  SELECT e.* FROM message e
  WHERE e.author_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    OR e.created_at < (SELECT h.since FROM hidden h WHERE h.viewer_id = viewer AND h.user_id = e.author_id)
$$;
COMMENT ON FUNCTION shown_message IS
  'All messages but those of people who were hidden from the viewer when they wrote them, and still are. For '
  'conversations that the viewer is known to take part in.';

CREATE OR REPLACE FUNCTION shown_conversation(viewer bigint) RETURNS SETOF conversation
LANGUAGE sql STABLE AS $$
  SELECT c.id, c.member_key, CASE
    WHEN EXISTS (SELECT FROM hidden_user(viewer))
      AND EXISTS (SELECT FROM conversation_member m WHERE m.conversation_id = c.id
        AND m.user_id IN (SELECT h.id FROM hidden_user(viewer) h))
    THEN coalesce((SELECT e.created_at FROM shown_message(viewer) e WHERE e.conversation_id = c.id
      ORDER BY e.id DESC LIMIT 1), 'epoch')
    ELSE c.updated_at END
  FROM conversation c
$$;
COMMENT ON FUNCTION shown_conversation IS
  'All conversations, with the time of the latest message that the viewer sees. For those that the viewer is known to '
  'take part in.';

CREATE OR REPLACE FUNCTION visible_conversation(viewer bigint) RETURNS SETOF conversation
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM shown_conversation(viewer) c
  WHERE EXISTS (
    SELECT FROM conversation_member m WHERE m.conversation_id = c.id AND m.user_id = viewer)
$$;
COMMENT ON FUNCTION visible_conversation IS 'Those who take part.';

CREATE OR REPLACE FUNCTION visible_message(viewer bigint) RETURNS SETOF message
LANGUAGE sql STABLE AS $$
  SELECT e.* FROM shown_message(viewer) e
  WHERE EXISTS (SELECT FROM conversation_member m
    WHERE m.conversation_id = e.conversation_id AND m.user_id = viewer)
$$;
COMMENT ON FUNCTION visible_message IS
  'Those who take part, unless the author is hidden from them and was so already; what was said before a block stays.';

CREATE OR REPLACE FUNCTION visible_notification(viewer bigint) RETURNS SETOF notification
LANGUAGE sql STABLE AS $$
  SELECT n.* FROM notification n
  WHERE n.recipient_id = viewer
    AND (n.actor_id IS NULL OR n.actor_id NOT IN (SELECT h.id FROM hidden_user(viewer) h))
$$;
COMMENT ON FUNCTION visible_notification IS 'The recipient, unless it tells of somebody blocked.';

CREATE OR REPLACE FUNCTION visible_flag(viewer bigint) RETURNS SETOF flag
LANGUAGE sql STABLE AS $$
  SELECT f.* FROM flag f
  WHERE EXISTS (SELECT FROM app_user s WHERE s.id = viewer AND 'STAFF' = ANY (s.roles))
$$;
COMMENT ON FUNCTION visible_flag IS 'Staff.';

CREATE OR REPLACE FUNCTION visible_external_contact(viewer bigint) RETURNS SETOF external_contact
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM external_contact c WHERE c.owner_id = viewer
$$;
COMMENT ON FUNCTION visible_external_contact IS 'Their owner.';

CREATE OR REPLACE FUNCTION visible_activity_track(viewer bigint) RETURNS SETOF activity_track
LANGUAGE sql STABLE AS $$
  SELECT t.* FROM activity_track t WHERE t.user_id = viewer
$$;
COMMENT ON FUNCTION visible_activity_track IS 'Their owner.';
