-- What is stored about one person, for them to keep: Viewer.dataExport. Whatever is about others, or about what others
-- made, is read as any query of the person reads it: a row that is hidden is absent, as if it were gone.

CREATE OR REPLACE FUNCTION export_user(person bigint) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE result jsonb;
BEGIN
  SELECT jsonb_build_object(
    'exportedAt', now(),
    'profile', jsonb_build_object('id', wire_id(u.id), 'username', u.username,
      'displayName', u.display_name, 'email', u.email, 'emailVerified', u.email_verified,
      'bio', u.bio, 'website', u.website, 'avatar', wire_id(u.avatar_id),
      'home', wire_id(u.home_id),
      'address', u.address, 'cardPreference', u.card_preference, 'roles', u.roles,
      'joinedAt', u.joined_at,
      'shipsTo', (SELECT coalesce(jsonb_agg(wire_id(s.location_id) ORDER BY s.location_id), '[]')
        FROM user_ships_to s WHERE s.user_id = person))) INTO result
  FROM app_user u WHERE u.id = person;

  SELECT result || jsonb_build_object(
    'identities', (SELECT coalesce(jsonb_agg(jsonb_build_object(
        'provider', i.provider, 'externalId', i.external_id)), '[]')
      FROM identity i WHERE i.user_id = person),
    'sessions', (SELECT coalesce(jsonb_agg(jsonb_build_object('device', s.device,
        'createdAt', s.created_at, 'expiresAt', s.expires_at) ORDER BY s.created_at), '[]')
      FROM session s WHERE s.user_id = person),
    'following', (SELECT coalesce(jsonb_agg(jsonb_build_object('user', wire_id(f.followee_id),
        'followedAt', f.followed_at) ORDER BY f.followed_at), '[]')
      FROM follow f WHERE f.follower_id = person),
    'followers', (SELECT coalesce(jsonb_agg(jsonb_build_object('user', wire_id(f.follower_id),
        'followedAt', f.followed_at) ORDER BY f.followed_at), '[]')
      FROM follow f WHERE f.followee_id = person),
    'blocked', (SELECT coalesce(jsonb_agg(wire_id(b.blocked_id) ORDER BY b.blocked_id), '[]')
      FROM block b WHERE b.blocker_id = person),
    'photos', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(p.id),
        'url', CASE WHEN p.moderation <> 'REJECTED' THEN photo_url(p.url) END,
        'moderation', p.moderation, 'createdAt', p.created_at) ORDER BY p.id), '[]')
      FROM photo p WHERE p.owner_id = person),
    'posts', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(p.id), 'kind', p.kind,
        'body', p.body, 'location', wire_id(p.location_id),
        'circle', CASE WHEN sees(person, p.circle_id) THEN wire_id(p.circle_id) END,
        'visibility', p.visibility, 'createdAt', p.created_at, 'updatedAt', p.updated_at,
        'photos', (SELECT coalesce(jsonb_agg(wire_id(h.photo_id) ORDER BY h.position), '[]')
          FROM post_photo h WHERE h.post_id = p.id),
        'event', (SELECT jsonb_build_object('title', e.title, 'startsAt', e.starts_at,
          'endsAt', e.ends_at) FROM event e WHERE e.post_id = p.id)) ORDER BY p.id), '[]')
      FROM post p WHERE p.author_id = person),
    'comments', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(c.id),
        'subject', wire_id(c.subject_id), 'body', c.body, 'createdAt', c.created_at)
        ORDER BY c.id), '[]')
      FROM visible_comment(person) c WHERE c.author_id = person),
    'reactions', (SELECT coalesce(jsonb_agg(jsonb_build_object('subject', wire_id(r.subject_id),
        'kind', r.kind, 'createdAt', r.created_at) ORDER BY r.created_at), '[]')
      FROM reaction r WHERE r.user_id = person AND sees(person, r.subject_id)),
    'votes', (SELECT coalesce(jsonb_agg(jsonb_build_object('post', wire_id(v.post_id),
        'choice', v.choice, 'createdAt', v.created_at) ORDER BY v.created_at), '[]')
      FROM vote v WHERE v.user_id = person AND sees(person, v.post_id)),
    'flags', (SELECT coalesce(jsonb_agg(jsonb_build_object('subject', wire_id(f.subject_id),
        'reason', f.reason, 'note', f.note, 'createdAt', f.created_at) ORDER BY f.created_at), '[]')
      FROM flag f WHERE f.user_id = person AND sees(person, f.subject_id))) INTO result;

  SELECT result || jsonb_build_object(
    'circles', (SELECT coalesce(jsonb_agg(jsonb_build_object('circle', wire_id(m.circle_id),
        'role', m.role, 'joinedAt', m.joined_at) ORDER BY m.joined_at), '[]')
      FROM circle_member m WHERE m.user_id = person),
    'attendance', (SELECT coalesce(jsonb_agg(jsonb_build_object('event', wire_id(a.event_id),
        'status', a.status, 'updatedAt', a.updated_at) ORDER BY a.updated_at), '[]')
      FROM attendance a WHERE a.user_id = person AND sees(person, a.event_id)),
    'invitations', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(i.id),
        'event', wire_id(i.event_id), 'inviter', wire_id(i.inviter_id),
        'invitee', wire_id(i.invitee_id),
        'contact', CASE WHEN i.inviter_id = person THEN i.contact END, 'status', i.status,
        'createdAt', i.created_at) ORDER BY i.id), '[]')
      FROM visible_invitation(person) i),
    'infoRequests', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(r.id),
        'post', wire_id(r.post_id), 'requester', wire_id(r.requester_id), 'status', r.status,
        'createdAt', r.created_at) ORDER BY r.id), '[]')
      FROM visible_info_request(person) r),
    'followUps', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(f.id),
        'post', wire_id(f.post_id), 'sender', wire_id(f.sender_id),
        'recipient', wire_id(f.recipient_id),
        'state', f.state, 'createdAt', f.created_at, 'resolvedAt', f.resolved_at)
        ORDER BY f.id), '[]')
      FROM visible_follow_up(person) f),
    'bookings', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(b.id),
        'session', wire_id(b.session_id), 'createdAt', b.created_at, 'cancelledAt', b.cancelled_at)
        ORDER BY b.id), '[]')
      FROM booking b WHERE b.user_id = person),
    'activityTracks', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(t.id),
        'title', t.title, 'startedAt', t.started_at, 'endedAt', t.ended_at, 'distance', t.distance,
        'path', t.path) ORDER BY t.id), '[]')
      FROM activity_track t WHERE t.user_id = person),
    'testResults', (SELECT coalesce(jsonb_agg(jsonb_build_object('test', r.test, 'value', r.value,
        'recordedAt', r.recorded_at) ORDER BY r.recorded_at), '[]')
      FROM test_result r WHERE r.user_id = person),
    'messages', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(m.id),
        'conversation', wire_id(m.conversation_id), 'author', wire_id(m.author_id), 'body', m.body,
        'createdAt', m.created_at) ORDER BY m.id), '[]')
      FROM conversation_member c JOIN visible_message(person) m ON m.conversation_id = c.conversation_id
      WHERE c.user_id = person),
    'notifications', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(n.id),
        'reason', n.reason, 'text', n.text, 'readAt', n.read_at,
        'createdAt', n.created_at) ORDER BY n.id), '[]')
      FROM visible_notification(person) n),
    'externalContacts', (SELECT coalesce(jsonb_agg(jsonb_build_object('id', wire_id(c.id),
        'provider', c.provider, 'externalId', c.external_id, 'name', c.name) ORDER BY c.id), '[]')
      FROM external_contact c WHERE c.owner_id = person),
    'shoppingList', (SELECT coalesce(jsonb_agg(jsonb_build_object('product', wire_id(s.product_id),
        'addedAt', s.added_at) ORDER BY s.added_at), '[]')
      FROM shopping_list_item s WHERE s.user_id = person),
    'productSuggestions', (SELECT coalesce(jsonb_agg(jsonb_build_object(
        'product', wire_id(s.product_id), 'sender', wire_id(s.sender_id),
        'recipient', wire_id(s.recipient_id),
        'post', CASE WHEN sees(person, s.post_id) THEN wire_id(s.post_id) END,
        'createdAt', s.created_at) ORDER BY s.created_at), '[]')
      FROM product_suggestion s WHERE person IN (s.sender_id, s.recipient_id)
        AND s.sender_id NOT IN (SELECT h.id FROM hidden_user(person) h)
        AND s.recipient_id NOT IN (SELECT h.id FROM hidden_user(person) h))) INTO result;
  RETURN result;
END $$;
COMMENT ON FUNCTION export_user IS
  'What is stored about one person, for them to keep: Viewer.dataExport.';
