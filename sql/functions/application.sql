-- Applications: their settings, what is shown on a day, usage.

CALL watch('app_config', '{added,edited,removed}', 'tell_anything', 'app_config');
CALL told('app_config', 'app_config');
CALL watch('daily_item', '{added,edited,removed}', 'tell_anything', 'daily_item');
CALL told('daily_item', 'daily_item');

-- What is shown on a day: of each list the item whose number is the day's, counted from 1970-01-01,
-- round and round.
CREATE OR REPLACE FUNCTION daily_content(day date)
RETURNS TABLE (date date, video_url text, motivation text)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT day,
    max(i.value) FILTER (WHERE i.list = 'VIDEO'),
    max(i.value) FILTER (WHERE i.list = 'MOTIVATION')
  FROM (
    SELECT d.list, d.value,
      row_number() OVER (PARTITION BY d.list ORDER BY d.position) - 1 AS number,
      count(*) OVER (PARTITION BY d.list) AS items
    FROM daily_item d) i
  WHERE i.number = mod(mod(day - DATE '1970-01-01', i.items) + i.items, i.items)
$$;
COMMENT ON FUNCTION daily_content IS
  'Returns the content of a day: from each list, the item at the number of days since 1970-01-01, modulo the length of '
  'the list.';

CREATE OR REPLACE FUNCTION daily_content_lists() RETURNS TABLE (video_urls text[], motivations text[])
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT coalesce(array_agg(d.value ORDER BY d.position) FILTER (WHERE d.list = 'VIDEO'), '{}'),
    coalesce(array_agg(d.value ORDER BY d.position) FILTER (WHERE d.list = 'MOTIVATION'), '{}')
  FROM daily_item d
$$;
COMMENT ON FUNCTION daily_content_lists IS 'Returns the whole lists of daily content, in order.';

CREATE OR REPLACE FUNCTION track_usage(viewer bigint, event text, subject bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO tracking (event, user_id, subject_id)
  VALUES (left(event, 200), nullif(viewer, 0), nullif(subject, 0));
END $$;
COMMENT ON FUNCTION track_usage IS 'Implements Mutation.track. Never refuses.';

CREATE OR REPLACE FUNCTION is_template(value text, is_web boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT length(value) <= 500 AND length(value) - length(replace(value, '{path}', '')) = length('{path}')
    AND is_url(replace(value, '{path}', 'posts/1')) AND replace(value, '{path}', '') !~ '[{}]'
    AND (NOT is_web OR value ~* '^https://[^/\s{}@]+/')
$$;
COMMENT ON FUNCTION is_template IS
  'Returns whether a text is the address of links, with {path} in it once; for the web, on a host that begins with '
  'https.';

CREATE OR REPLACE FUNCTION template_refusals(input jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(jsonb_agg(worded(refusal('INVALID', 'input', t.name), 'LINK_TEMPLATE') ORDER BY t.name),
      '[]')
    FROM (VALUES ('linkTemplate', false), ('webTemplate', true)) t(name, is_web)
    WHERE words(input ->> t.name) IS NOT NULL AND NOT is_template(words(input ->> t.name), t.is_web));
END $$;
COMMENT ON FUNCTION template_refusals IS 'Returns the errors of the links of an application.';

CREATE OR REPLACE FUNCTION set_app_config(viewer bigint, application text, input jsonb)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text := lower(words(application));
  images text[] := ARRAY(SELECT web_address(i) FROM jsonb_array_elements_text(
    coalesce(nullif(input -> 'introImages', 'null'), '[]')) AS i);
  people bigint[] := id_list(input -> 'quickAddUserIds');
  refusals jsonb := name_refusals(name, true, 50, 'app');
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  IF refusals = '[]' AND name !~ '^[a-z0-9-]+$' THEN
    refusals := jsonb_build_array(worded(refusal('INVALID', 'app'), 'APP_FORM'));
  END IF;
  PERFORM refuse_longer(cardinality(images), 5, 'INTRO_IMAGES', 'input', 'introImages');
  refusals := refusals || (SELECT coalesce(jsonb_agg(
      worded(refusal('INVALID', 'input', 'introImages', (i.place - 1)::text), 'URL_FORM') ORDER BY i.place), '[]')
    FROM unnest(images) WITH ORDINALITY AS i(url, place) WHERE is_url(i.url) IS NOT TRUE);
  IF input ->> 'supportEmail' IS NOT NULL AND NOT is_email(input ->> 'supportEmail') THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'supportEmail'), 'EMAIL_FORM');
  END IF;
  PERFORM refuse_all(refusals || list_refusals(people, false, 100, 'input', 'quickAddUserIds')
    || people_refusals(viewer, people, true, 'input', 'quickAddUserIds') || template_refusals(input)
    || text_refusals(input ->> 'apnsTopic', false, 200, 'input', 'apnsTopic'));
  IF input ? 'webTemplate' THEN PERFORM audit(viewer, 'SET_WEB_TEMPLATE', NULL, name); END IF;
  INSERT INTO app_config AS a (app, intro_images, voting_enabled_by_default, support_email,
    quick_add_user_ids, link_template, web_template, notification_reasons, apns_topic)
  VALUES (name, images, coalesce((input ->> 'isVotingEnabledByDefault')::boolean, true),
    input ->> 'supportEmail', coalesce(people, '{}'), words(input ->> 'linkTemplate'), words(input ->> 'webTemplate'),
    ARRAY(SELECT r FROM jsonb_array_elements_text(coalesce(nullif(input -> 'notificationReasons', 'null'), '[]')) r),
    words(input ->> 'apnsTopic'))
  ON CONFLICT (app) DO UPDATE SET
    intro_images = CASE WHEN input ? 'introImages' THEN EXCLUDED.intro_images ELSE a.intro_images END,
    voting_enabled_by_default = coalesce((input ->> 'isVotingEnabledByDefault')::boolean,
      a.voting_enabled_by_default),
    support_email = CASE WHEN input ? 'supportEmail' THEN EXCLUDED.support_email ELSE a.support_email END,
    quick_add_user_ids = CASE WHEN input ? 'quickAddUserIds' THEN EXCLUDED.quick_add_user_ids
      ELSE a.quick_add_user_ids END,
    link_template = CASE WHEN input ? 'linkTemplate' THEN EXCLUDED.link_template ELSE a.link_template END,
    web_template = CASE WHEN input ? 'webTemplate' THEN EXCLUDED.web_template ELSE a.web_template END,
    notification_reasons = CASE WHEN input ? 'notificationReasons' THEN EXCLUDED.notification_reasons
      ELSE a.notification_reasons END,
    apns_topic = CASE WHEN input ? 'apnsTopic' THEN EXCLUDED.apns_topic ELSE a.apns_topic END;
  RETURN name;
END $$;
COMMENT ON FUNCTION set_app_config IS 'Implements Mutation.setAppConfig, for staff. Omitted fields keep their value.';

CREATE OR REPLACE FUNCTION set_daily_content(viewer bigint, arguments jsonb)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  kind record;
BEGIN
  PERFORM require_role(viewer, 'STAFF', 'SERVICE');
  FOR kind IN SELECT * FROM (VALUES ('VIDEO', 'videoUrls'), ('MOTIVATION', 'motivations')) k(list, name)
  LOOP
    CONTINUE WHEN jsonb_typeof(arguments -> kind.name) IS DISTINCT FROM 'array';
    PERFORM refuse_longer(jsonb_array_length(arguments -> kind.name), 1000, 'MOST', kind.name);
    PERFORM refuse_all((
      SELECT coalesce(jsonb_agg(refusal(bad.code, kind.name, (bad.place - 1)::text)
        ORDER BY bad.place), '[]')
      FROM (
        SELECT e.place, CASE WHEN words(e.value) IS NULL THEN 'REQUIRED'
          WHEN length(e.value) > 2000 THEN 'TOO_LONG'
          WHEN kind.list = 'VIDEO' AND NOT is_url(web_address(e.value)) THEN 'INVALID' END AS code
        FROM jsonb_array_elements_text(arguments -> kind.name) WITH ORDINALITY AS e(value, place)) bad
      WHERE bad.code IS NOT NULL));
    -- one at a time, as two who replace what is there would both add
    PERFORM pg_advisory_xact_lock(hashtextextended('daily_item ' || kind.list, 0));
    DELETE FROM daily_item d WHERE d.list = kind.list;
    INSERT INTO daily_item (list, position, value)
    SELECT kind.list, e.place - 1, CASE kind.list WHEN 'VIDEO' THEN web_address(e.value) ELSE words(e.value) END
    FROM jsonb_array_elements_text(arguments -> kind.name) WITH ORDINALITY AS e(value, place);
  END LOOP;
END $$;
COMMENT ON FUNCTION set_daily_content IS 'Implements Mutation.setDailyContent. Omitted lists keep their items.';
