-- Sharing: inviting people to the community, suggesting and listing products, flags, usage.

CREATE OR REPLACE FUNCTION invite_to_app(viewer bigint, medium text, contact text, contact_id bigint)
RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  known text;
  reached text := words(contact);
  secret text := translate(encode(decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), 'base64'),
    '+/=', '-_');
BEGIN
  PERFORM require_viewer(viewer);
  IF contact_id IS NOT NULL THEN
    SELECT c.name INTO known FROM external_contact c WHERE c.id = contact_id AND c.owner_id = viewer;
    IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'contactId'); END IF;
    IF reached IS NOT NULL THEN PERFORM refuse('INVALID', 'contact'); END IF;
  END IF;
  IF reached IS NOT NULL THEN
    IF medium = 'EMAIL' AND NOT is_email(reached)
      OR medium = 'SMS' AND reached !~ '^\+?[0-9][0-9 ()./-]{2,30}$' OR length(reached) > 254 THEN
      PERFORM refuse('INVALID', 'contact');
    END IF;
  END IF;
  INSERT INTO invitation (inviter_id, contact, channel, code)
  VALUES (viewer, coalesce(reached, known), medium, secret) RETURNING id INTO made;
  RETURN jsonb_build_object('id', made, 'code', secret);
END $$;
COMMENT ON FUNCTION invite_to_app IS
  'Mutation.inviteToApp: gives the invitation; its text bears a link with its code.';

CREATE OR REPLACE FUNCTION suggest_product(viewer bigint, target bigint, person bigint, post bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  thing product;
  fault text;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.* INTO thing FROM product p WHERE p.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'productId'); END IF;
  fault := person_fault(viewer, person);
  IF fault IS NOT NULL THEN PERFORM refuse(fault, 'toUserId'); END IF;
  IF post IS NOT NULL AND NOT EXISTS (
      SELECT FROM visible_post(viewer) p WHERE p.id = post) THEN
    PERFORM refuse('NOT_FOUND', 'postId');
  END IF;
  IF NOT EXISTS (SELECT FROM follow f WHERE f.follower_id = viewer AND f.followee_id = person)
    AND NOT EXISTS (SELECT FROM visible_post(viewer) p
      WHERE p.id = post AND p.author_id = person AND p.kind IN (16, 17)) THEN
    PERFORM refuse('FORBIDDEN', 'toUserId');
  END IF;
  PERFORM FROM post p WHERE p.id = suggest_product.post FOR KEY SHARE;
  INSERT INTO product_suggestion (sender_id, recipient_id, product_id, post_id)
  VALUES (viewer, person, thing.id, post)
  ON CONFLICT (sender_id, recipient_id, product_id) DO NOTHING;
  IF FOUND THEN
    PERFORM notify_people(ARRAY[person], 'PRODUCT_SUGGESTED', viewer, thing.id,
      'suggests ' || escaped(thing.name) || ' by ' || escaped(thing.brand) || '.',
      node_url(thing.id), 'OPEN_URL', 'Open the store', thing.buy_url);
  END IF;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION suggest_product IS
  'Whether the viewer may suggest a product to somebody: they follow them, or it goes with '
  'their post.';

CREATE OR REPLACE FUNCTION seen_product(viewer bigint, target bigint) RETURNS product
LANGUAGE plpgsql AS $$
DECLARE thing product;
BEGIN
  PERFORM require_viewer(viewer);
  SELECT p.* INTO thing FROM product p WHERE p.id = target FOR KEY SHARE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'productId'); END IF;
  RETURN thing;
END $$;
COMMENT ON FUNCTION seen_product IS
  'A product that is there; locked so that it stays.';

CREATE OR REPLACE FUNCTION email_product_to_me(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  thing product := seen_product(viewer, target);
BEGIN
  IF NOT mail_owner(viewer, thing.name || ' by ' || thing.brand,
    concat_ws(E'\n\n', thing.name || ' by ' || thing.brand,
      CASE WHEN thing.price IS NOT NULL THEN thing.price || ' ' || thing.currency END,
      nullif(thing.description, ''), thing.buy_url)) THEN
    PERFORM refuse_all(jsonb_build_array(refusal('REQUIRED', 'productId')
      || '{"message": "Add an e-mail address to your profile and verify it first."}'));
  END IF;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION email_product_to_me IS
  'Mutation.emailProductToMe: to a verified address only.';

CREATE OR REPLACE FUNCTION add_to_shopping_list(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE thing product := seen_product(viewer, target);
BEGIN
  INSERT INTO shopping_list_item (user_id, product_id) VALUES (viewer, thing.id)
  ON CONFLICT (user_id, product_id) DO NOTHING;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION add_to_shopping_list IS
  'Mutation.addToShoppingList.';

CREATE OR REPLACE FUNCTION remove_from_shopping_list(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE thing product := seen_product(viewer, target);
BEGIN
  DELETE FROM shopping_list_item i WHERE i.user_id = viewer AND i.product_id = thing.id;
  RETURN thing.id;
END $$;
COMMENT ON FUNCTION remove_from_shopping_list IS
  'Mutation.removeFromShoppingList.';

CREATE OR REPLACE FUNCTION flag_subject(viewer bigint, subject bigint, reason text, note text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT coalesce(sees(viewer, subject), false) OR subject & 255 IN (34, 35, 42, 48) THEN
    PERFORM refuse('NOT_FOUND', 'subjectId');
  END IF;
  PERFORM refuse_all(text_refusals(note, false, 2000, 'note'));
  IF subject = viewer
    OR EXISTS (SELECT FROM post p WHERE p.id = subject AND p.author_id = viewer)
    OR EXISTS (SELECT FROM comment c WHERE c.id = subject AND c.author_id = viewer)
    OR EXISTS (SELECT FROM circle c WHERE c.id = subject AND c.owner_id = viewer)
    OR EXISTS (SELECT FROM photo f WHERE f.id = subject AND f.owner_id = viewer) THEN
    PERFORM refuse('FORBIDDEN', 'subjectId');
  END IF;
  IF NOT lock_subject(subject) THEN PERFORM refuse('NOT_FOUND', 'subjectId'); END IF;
  INSERT INTO flag (subject_id, user_id, reason, note)
  VALUES (subject, viewer, flag_subject.reason, words(flag_subject.note))
  ON CONFLICT (subject_id, user_id) DO NOTHING;
END $$;
COMMENT ON FUNCTION flag_subject IS
  'Mutation.flag: tells staff, once; not of one''s own.';

CREATE OR REPLACE FUNCTION track_usage(viewer bigint, event text, subject bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO tracking (event, user_id, subject_id)
  VALUES (left(event, 200), nullif(viewer, 0), nullif(subject, 0));
END $$;
COMMENT ON FUNCTION track_usage IS
  'Mutation.track: never fails. Anonymous.';

CREATE OR REPLACE FUNCTION share_post(viewer bigint, target bigint, medium text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  draft record;
  sealed bytea;
BEGIN
  PERFORM own_post(viewer, target, NULL, 'postId');
  IF medium NOT IN ('FACEBOOK', 'TWITTER') THEN PERFORM refuse('INVALID', 'channel'); END IF;
  SELECT i.access_token INTO sealed FROM identity i WHERE i.user_id = viewer AND i.provider = medium;
  IF sealed IS NULL THEN PERFORM refuse('PROVIDER_NOT_LINKED', 'channel'); END IF;
  SELECT d.* INTO draft FROM share_draft(viewer, medium, target, NULL) d;
  INSERT INTO outbox (channel, user_id, subject, body, token)
  VALUES (medium, viewer, one_line(draft.subject), concat_ws(E'\n', draft.body, draft.url), sealed);
  RETURN target;
END $$;
COMMENT ON FUNCTION share_post IS
  'Mutation.sharePost: has the outbox put one''s own post on the wall of a linked account.';

CREATE OR REPLACE FUNCTION import_contacts(viewer bigint, service text, contacts jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT EXISTS (SELECT FROM identity i WHERE i.user_id = viewer AND i.provider = service) THEN
    PERFORM refuse('PROVIDER_NOT_LINKED', 'provider');
  END IF;
  IF jsonb_array_length(contacts) > 1000 THEN PERFORM refuse('INVALID', 'contacts'); END IF;
  PERFORM refuse_all((
    SELECT coalesce(jsonb_agg(refusal(bad.code, 'contacts', bad.place::text, bad.name)
      ORDER BY bad.place), '[]')
    FROM (
      SELECT e.place - 1 AS place,
        CASE WHEN words(e.contact ->> 'externalId') IS NULL THEN 'REQUIRED'
          WHEN length(e.contact ->> 'externalId') > 200 THEN 'TOO_LONG'
          WHEN words(e.contact ->> 'name') IS NULL THEN 'REQUIRED'
          WHEN length(e.contact ->> 'name') > 200 THEN 'TOO_LONG'
          WHEN NOT is_url(e.contact ->> 'avatarUrl') THEN 'INVALID' END AS code,
        CASE WHEN words(e.contact ->> 'externalId') IS NULL OR length(e.contact ->> 'externalId') > 200
            THEN 'externalId'
          WHEN words(e.contact ->> 'name') IS NULL OR length(e.contact ->> 'name') > 200 THEN 'name'
          ELSE 'avatarUrl' END AS name
      FROM jsonb_array_elements(contacts) WITH ORDINALITY AS e(contact, place)) bad
    WHERE bad.code IS NOT NULL));
  INSERT INTO external_contact (owner_id, provider, external_id, name, name_key, avatar_url)
  SELECT DISTINCT ON (e.contact ->> 'externalId') viewer, service, e.contact ->> 'externalId',
    words(e.contact ->> 'name'), folded(words(e.contact ->> 'name')), e.contact ->> 'avatarUrl'
  FROM jsonb_array_elements(contacts) WITH ORDINALITY AS e(contact, place)
  ORDER BY e.contact ->> 'externalId', e.place DESC
  ON CONFLICT (owner_id, provider, external_id) DO UPDATE
  SET name = EXCLUDED.name, name_key = EXCLUDED.name_key, avatar_url = EXCLUDED.avatar_url;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION import_contacts IS
  'Mutation.importContacts: adds to the contacts of a linked provider, or renews them.';
