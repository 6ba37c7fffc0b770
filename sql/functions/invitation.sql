-- Invitations: to events and to the community.

CALL node('invitation', 33);
CALL watch('invitation', '{added,edited,removed}', 'tell_changed', 'invitation id invitee_id inviter_id');
CALL told('invitation', 'invitation', '{invitee_id,inviter_id}', only_columns => true);
CALL exported('invitations', $$
  SELECT jsonb_build_object('id', wire_id(i.id),
    'event', wire_id(i.event_id), 'inviter', wire_id(i.inviter_id),
    'invitee', wire_id(i.invitee_id),
    'contact', CASE WHEN i.inviter_id = $1 THEN i.contact END, 'status', i.status,
    'createdAt', wire_time(i.created_at))
  FROM visible_invitation($1) i
  ORDER BY i.id$$);

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
  'Returns the invitations that the viewer may see: as inviter or invitee, unless one blocks the other, and only while '
  'the event is visible.';

CREATE OR REPLACE FUNCTION invitation_draft(viewer bigint, invitation_id bigint, language text, app text,
  app_name text DEFAULT NULL)
RETURNS TABLE (channel text, recipients text[], subject text, body text, url text)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT i.channel, CASE WHEN i.contact IS NULL THEN '{}' ELSE ARRAY[i.contact] END,
    CASE WHEN i.channel = 'EMAIL' THEN phrase(language, g.key || '.title', g.given) END,
    phrase(language, g.key, g.given)
      || CASE WHEN i.channel = 'FACEBOOK' THEN '' ELSE ' ' || web_link(app, 'i/' || i.code) END,
    web_link(app, 'i/' || i.code)
  FROM invitation i JOIN app_user u ON u.id = i.inviter_id,
    LATERAL (SELECT jsonb_build_object('name', u.display_name, 'app', one_line(words(left(app_name, 80)))) AS given,
      CASE WHEN words(app_name) IS NULL THEN 'share.invitation' ELSE 'share.invitation.app' END AS key) g
  WHERE i.id = invitation_id AND i.inviter_id = viewer AND i.status = 'PENDING' AND i.code IS NOT NULL
$$;
COMMENT ON FUNCTION invitation_draft IS
  'Returns the text of an open invitation to the community, or to the application of this name. Its link contains the '
  'code that accepts the invitation at sign-up.';

CREATE OR REPLACE FUNCTION phone_key(number text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '+' || regexp_replace(number, '[^0-9]+', '', 'g')
$$;
COMMENT ON FUNCTION phone_key IS 'Returns a phone number as it is kept: + and its digits.';

CREATE OR REPLACE FUNCTION invite_to_app(viewer bigint, medium text, contact text, contact_id bigint)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  known text;
  reached text := words(contact);
  secret text := translate(encode(decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), 'base64'), '+/=', '-_');
BEGIN
  PERFORM require_viewer(viewer);
  IF contact_id IS NOT NULL THEN
    SELECT c.name INTO known FROM external_contact c WHERE c.id = contact_id AND c.owner_id = viewer;
    IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'externalContactId'); END IF;
    IF reached IS NOT NULL THEN
      PERFORM refuse_as(worded(refusal('INVALID', 'contact'), 'CONTACT_TWICE'));
    END IF;
  END IF;
  IF reached IS NOT NULL THEN
    IF medium = 'EMAIL' AND NOT is_email(reached)
      OR medium = 'SMS' AND (reached !~ '^\+[0-9 ()./-]+$' OR length(phone_key(reached)) NOT BETWEEN 8 AND 16)
      OR length(reached) > 254 THEN
      PERFORM refuse_as(CASE medium WHEN 'EMAIL' THEN worded(refusal('INVALID', 'contact'), 'EMAIL_FORM')
        WHEN 'SMS' THEN worded(refusal('INVALID', 'contact'), 'PHONE_FORM')
        ELSE limited(worded(refusal('TOO_LONG', 'contact'), 'LONGEST'), NULL, 254) END);
    END IF;
  END IF;
  reached := coalesce(CASE WHEN medium = 'SMS' THEN phone_key(reached) ELSE reached END, known);
  INSERT INTO invitation (inviter_id, contact, contact_key, channel, code)
  VALUES (viewer, reached, coalesce('#' || contact_id, lower(reached)), medium, secret)
  ON CONFLICT (inviter_id, channel, contact_key) WHERE event_id IS NULL AND status = 'PENDING'
  DO UPDATE SET contact = EXCLUDED.contact, code = EXCLUDED.code RETURNING id INTO made;
  RETURN jsonb_build_object('id', made, 'code', secret);
END $$;
COMMENT ON FUNCTION invite_to_app IS
  'Implements Mutation.inviteToApp. Returns the invitation and its code. An open invitation of the same person through '
  'the same channel gets a new code.';

CREATE OR REPLACE FUNCTION withdraw_invitation(viewer bigint, target_id bigint)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE target invitation;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT i.* INTO target FROM visible_invitation(viewer) i WHERE i.id = target_id;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'invitationId'); END IF;
  IF target.inviter_id <> viewer THEN PERFORM refuse('FORBIDDEN', 'invitationId'); END IF;
  PERFORM FROM post p WHERE p.id = target.event_id FOR KEY SHARE;
  UPDATE invitation i SET status = 'WITHDRAWN'
  WHERE i.id = target_id AND i.inviter_id = viewer AND i.status = 'PENDING';
  IF FOUND THEN
    PERFORM unnotify(ARRAY[target.invitee_id], 'EVENT_INVITED', viewer, target.event_id);
    PERFORM log_withdrawn(target);
  ELSE
    SELECT i.* INTO target FROM invitation i WHERE i.id = target_id AND i.inviter_id = viewer;
    IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'invitationId'); END IF;
    IF target.status <> 'WITHDRAWN' THEN
      PERFORM refuse_as(worded(refusal('ALREADY_DONE', 'invitationId'), 'WAS_ANSWERED'));
    END IF;
  END IF;
  RETURN jsonb_build_object('id', target_id);
END $$;
COMMENT ON FUNCTION withdraw_invitation IS
  'Implements Mutation.withdrawInvitation, for who invited, while nobody answered. Who was invited to a private event '
  'no longer sees it, and the code of an invitation to the community is dead.';
