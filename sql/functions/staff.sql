-- What staff and services keep: roles, products, settings, content of the day, photos and flags.

CREATE OR REPLACE FUNCTION set_user_roles(viewer bigint, person bigint, wanted text[])
RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  kept text[] := ARRAY(SELECT DISTINCT r.role FROM unnest(wanted || 'MEMBER'::text) AS r(role)
    ORDER BY r.role);
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  IF NOT EXISTS (SELECT FROM app_user u WHERE u.id = person) THEN
    PERFORM refuse('NOT_FOUND', 'userId');
  END IF;
  IF NOT 'STAFF' = ANY (kept) THEN
    -- one at a time, so that two do not each leave it to the other
    PERFORM FROM app_user u WHERE 'STAFF' = ANY (u.roles) ORDER BY u.id FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM app_user u WHERE u.id = person AND 'STAFF' = ANY (u.roles))
      AND NOT EXISTS (SELECT FROM app_user u WHERE u.id <> person AND 'STAFF' = ANY (u.roles)) THEN
      PERFORM refuse('FORBIDDEN', 'roles');
    END IF;
  END IF;
  UPDATE app_user u SET roles = kept WHERE u.id = person AND u.roles <> kept;
  PERFORM audit(viewer, 'SET_ROLES', person, array_to_string(kept, ','));
  RETURN ARRAY[person];
END $$;
COMMENT ON FUNCTION set_user_roles IS
  'Mutation.setUserRoles: all of them; MEMBER is always kept, the last of the staff stays '
  'staff.';

CREATE OR REPLACE FUNCTION change_roles(name text, added text[], removed text[])
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  known text[] := '{MEMBER,TRAINER,STAFF,SERVICE}';
  person app_user;
  kept text[];
BEGIN
  IF NOT added || removed <@ known THEN
    RAISE EXCEPTION USING ERRCODE = 'SG100',
      MESSAGE = format('There is no role %s; the roles are %s.',
        (SELECT string_agg(r.role, ', ') FROM unnest(added || removed) AS r(role)
          WHERE r.role <> ALL (known)), array_to_string(known, ', '));
  END IF;
  PERFORM FROM app_user u WHERE 'STAFF' = ANY (u.roles) OR lower(u.username) = lower(name)
  ORDER BY u.id FOR NO KEY UPDATE;
  SELECT u.* INTO person FROM app_user u WHERE lower(u.username) = lower(name);
  IF NOT FOUND THEN RETURN NULL; END IF;
  kept := ARRAY(SELECT DISTINCT r.role FROM unnest(person.roles || added || '{MEMBER}'::text[]) AS r(role)
    WHERE r.role = 'MEMBER' OR r.role <> ALL (removed) ORDER BY r.role);
  IF 'STAFF' = ANY (person.roles) AND NOT 'STAFF' = ANY (kept)
    AND NOT EXISTS (SELECT FROM app_user u WHERE u.id <> person.id AND 'STAFF' = ANY (u.roles)) THEN
    RAISE EXCEPTION USING ERRCODE = 'SG100',
      MESSAGE = 'The last of the staff stays staff; make somebody else staff first.';
  END IF;
  IF kept <> person.roles THEN
    UPDATE app_user u SET roles = kept WHERE u.id = person.id;
    PERFORM audit(NULL, 'SET_ROLES', person.id, array_to_string(kept, ','));
  END IF;
  RETURN kept;
END $$;
COMMENT ON FUNCTION change_roles IS
  'Gives a user roles and takes others away, for the owner of the database; the roles there are then, '
  'or null when there is nobody of this name. For `sociograph user role`.';

CREATE OR REPLACE FUNCTION upsert_product(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  picture bigint := (input ->> 'photoId')::bigint;
  money jsonb := nullif(input -> 'price', 'null');
  refusals jsonb;
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  refusals := text_refusals(input ->> 'retailer', true, 100, 'input', 'retailer')
    || text_refusals(input ->> 'externalId', true, 200, 'input', 'externalId')
    || text_refusals(input ->> 'name', true, 200, 'input', 'name')
    || text_refusals(input ->> 'brand', true, 100, 'input', 'brand')
    || text_refusals(input ->> 'description', false, 5000, 'input', 'description');
  IF input ->> 'buyUrl' !~* '^https?://[^/\s]' OR NOT is_url(input ->> 'buyUrl') THEN
    refusals := refusals || refusal('INVALID', 'input', 'buyUrl');
  END IF;
  IF money IS NOT NULL THEN
    IF NOT ((money ->> 'amount')::numeric >= 0 AND (money ->> 'amount')::numeric < 1e10) THEN
      refusals := refusals || refusal('INVALID', 'input', 'price', 'amount');
    END IF;
    IF money ->> 'currency' !~ '^[A-Z]{3}$' THEN
      refusals := refusals || refusal('INVALID', 'input', 'price', 'currency');
    END IF;
  END IF;
  IF picture IS NOT NULL THEN
    refusals := refusals || CASE
      WHEN NOT EXISTS (SELECT FROM photo f WHERE f.id = picture)
        THEN jsonb_build_array(refusal('NOT_FOUND', 'input', 'photoId'))
      WHEN EXISTS (SELECT FROM photo f WHERE f.id = picture AND f.moderation = 'REJECTED')
        THEN jsonb_build_array(refusal('REJECTED_PHOTO', 'input', 'photoId')) ELSE '[]' END;
  END IF;
  PERFORM refuse_all(refusals);
  INSERT INTO product AS p (retailer, external_id, name, brand, description, price, currency, photo_id,
    buy_url)
  VALUES (words(input ->> 'retailer'), words(input ->> 'externalId'), words(input ->> 'name'),
    words(input ->> 'brand'), coalesce(words(input ->> 'description'), ''),
    (money ->> 'amount')::numeric, money ->> 'currency', picture, input ->> 'buyUrl')
  ON CONFLICT (retailer, external_id) DO UPDATE SET name = EXCLUDED.name, brand = EXCLUDED.brand,
    description = EXCLUDED.description, price = EXCLUDED.price, currency = EXCLUDED.currency,
    photo_id = EXCLUDED.photo_id, buy_url = EXCLUDED.buy_url
  RETURNING p.id INTO made;
  RETURN made;
END $$;
COMMENT ON FUNCTION upsert_product IS
  'Mutation.upsertProduct: staff and services; known by retailer and external id.';

CREATE OR REPLACE FUNCTION set_app_config(viewer bigint, input jsonb)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text := words(input ->> 'app');
  images text[] := ARRAY(SELECT i FROM jsonb_array_elements_text(
    coalesce(nullif(input -> 'introImages', 'null'), '[]')) AS i);
  people bigint[] := id_list(input -> 'quickAddUserIds');
  refusals jsonb := text_refusals(name, true, 50, 'input', 'app');
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  IF cardinality(images) > 5 OR EXISTS (SELECT FROM unnest(images) AS i(url) WHERE NOT is_url(i.url)) THEN
    refusals := refusals || refusal('INVALID', 'input', 'introImages');
  END IF;
  IF input ->> 'supportEmail' IS NOT NULL AND NOT is_email(input ->> 'supportEmail') THEN
    refusals := refusals || refusal('INVALID', 'input', 'supportEmail');
  END IF;
  PERFORM refuse_all(refusals || list_refusals(people, false, 100, 'input', 'quickAddUserIds')
    || people_refusals(viewer, people, true, 'input', 'quickAddUserIds'));
  INSERT INTO app_config AS a (app, intro_images, voting_enabled_by_default, support_email,
    quick_add_user_ids)
  VALUES (name, images, coalesce((input ->> 'votingEnabledByDefault')::boolean, true),
    input ->> 'supportEmail', coalesce(people, '{}'))
  ON CONFLICT (app) DO UPDATE SET
    intro_images = CASE WHEN input ? 'introImages' THEN EXCLUDED.intro_images ELSE a.intro_images END,
    voting_enabled_by_default = coalesce((input ->> 'votingEnabledByDefault')::boolean,
      a.voting_enabled_by_default),
    support_email = CASE WHEN input ? 'supportEmail' THEN EXCLUDED.support_email ELSE a.support_email END,
    quick_add_user_ids = CASE WHEN input ? 'quickAddUserIds' THEN EXCLUDED.quick_add_user_ids
      ELSE a.quick_add_user_ids END;
  RETURN name;
END $$;
COMMENT ON FUNCTION set_app_config IS
  'Mutation.setAppConfig: staff; left out stays.';

CREATE OR REPLACE FUNCTION set_daily_content(viewer bigint, arguments jsonb)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  kind record;
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  FOR kind IN SELECT * FROM (VALUES ('VIDEO', 'videoUrls'), ('MOTIVATION', 'motivations')) k(list, name)
  LOOP
    CONTINUE WHEN jsonb_typeof(arguments -> kind.name) IS DISTINCT FROM 'array';
    IF jsonb_array_length(arguments -> kind.name) > 1000 THEN PERFORM refuse('INVALID', kind.name); END IF;
    PERFORM refuse_all((
      SELECT coalesce(jsonb_agg(refusal(bad.code, kind.name, (bad.place - 1)::text)
        ORDER BY bad.place), '[]')
      FROM (
        SELECT e.place, CASE WHEN words(e.value) IS NULL THEN 'REQUIRED'
          WHEN length(e.value) > 2000 THEN 'TOO_LONG'
          WHEN kind.list = 'VIDEO' AND NOT is_url(e.value) THEN 'INVALID' END AS code
        FROM jsonb_array_elements_text(arguments -> kind.name) WITH ORDINALITY AS e(value, place)) bad
      WHERE bad.code IS NOT NULL));
    -- one at a time, as two who replace what is there would both add
    PERFORM pg_advisory_xact_lock(hashtextextended('daily_item ' || kind.list, 0));
    DELETE FROM daily_item d WHERE d.list = kind.list;
    INSERT INTO daily_item (list, position, value)
    SELECT kind.list, e.place - 1, words(e.value)
    FROM jsonb_array_elements_text(arguments -> kind.name) WITH ORDINALITY AS e(value, place);
  END LOOP;
END $$;
COMMENT ON FUNCTION set_daily_content IS
  'Mutation.setDailyContent: left out stays.';

CREATE OR REPLACE FUNCTION moderate_photo(viewer bigint, target bigint, state text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE same bigint[];
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  -- The decision is about the bytes: it goes for all who sent them.
  same := target || ARRAY(SELECT o.photo_id FROM upload u JOIN upload o ON o.path = u.path
    WHERE u.photo_id = target AND o.photo_id <> target);
  PERFORM FROM photo f WHERE f.id = ANY (same) ORDER BY f.id FOR NO KEY UPDATE;
  IF NOT EXISTS (SELECT FROM photo f WHERE f.id = target) THEN PERFORM refuse('NOT_FOUND', 'photoId'); END IF;
  UPDATE photo f SET moderation = state::moderation_state WHERE f.id = ANY (same);
  UPDATE upload o SET moderation = state::moderation_state FROM upload u
  WHERE u.photo_id = target AND o.path = u.path AND o.photo_id IS NULL;
  PERFORM audit(viewer, 'MODERATE_PHOTO', target, state);
  RETURN target;
END $$;
COMMENT ON FUNCTION moderate_photo IS
  'Mutation.moderatePhoto: for everybody who sent the same bytes.';

CREATE OR REPLACE FUNCTION resolve_flag(viewer bigint, target bigint, note text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  settled flag;
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  PERFORM refuse_all(text_refusals(note, false, 2000, 'note'));
  UPDATE flag f SET resolved_at = now(), resolved_by_id = viewer, resolution = words(resolve_flag.note)
  WHERE f.id = target AND f.resolved_at IS NULL;
  IF FOUND THEN
    PERFORM audit(viewer, 'RESOLVE_FLAG', (SELECT f.subject_id FROM flag f WHERE f.id = target));
    RETURN target;
  END IF;
  -- The same again changes nothing, and another answer comes too late.
  SELECT * INTO settled FROM flag f WHERE f.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'flagId'); END IF;
  IF settled.resolved_by_id IS DISTINCT FROM viewer OR settled.resolution IS DISTINCT FROM words(resolve_flag.note) THEN
    PERFORM refuse('ALREADY_DONE', 'flagId');
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION resolve_flag IS
  'Mutation.resolveFlag.';
