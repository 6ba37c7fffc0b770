-- Texts the server writes for people to send by themselves.

CREATE OR REPLACE FUNCTION shortened(words text, length int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN length(words) <= shortened.length THEN words
    WHEN shortened.length < 2 THEN ''
    ELSE regexp_replace(left(words, shortened.length - 1), '\s+\S{0,20}$', '') || '…' END
$$;
COMMENT ON FUNCTION shortened IS
  'Returns a text of at most this many characters, cut at the end of a word, with an ellipsis.';

CREATE OR REPLACE FUNCTION shared_node(viewer bigint, medium text, about bigint, language text, app text,
  OUT line text, OUT quote text, OUT link text, OUT to_club boolean)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF is_post(about) THEN
    SELECT phrase(language, 'share.' || node_type(p.id), jsonb_build_object('name', u.display_name))
        || coalesce(', ' || l.name, ''),
      concat_ws(': ', coalesce(e.title, CASE WHEN v.id IS NOT NULL THEN
        phrase(language, 'share.product', jsonb_build_object('product', v.name, 'brand', v.brand)) END),
        nullif(p.body, '')),
      web_link(app, 'posts/' || wire_id(p.id))
    INTO line, quote, link
    FROM visible_post(viewer) p JOIN app_user u ON u.id = p.author_id
      LEFT JOIN location l ON l.id = p.location_id
      LEFT JOIN event e ON e.post_id = p.id
      LEFT JOIN (votable_post b JOIN product v ON v.id = b.product_id) ON b.post_id = p.id
    WHERE p.id = about;
  ELSIF is_product(about) THEN
    SELECT phrase(language, 'share.product', jsonb_build_object('product', p.name, 'brand', p.brand))
        || coalesce(', ' || p.price || ' ' || p.currency, ''), p.description, p.buy_url
    INTO line, quote, link
    FROM product p WHERE p.id = about;
  ELSIF is_user(about) THEN
    SELECT u.display_name, u.bio, web_link(app, 'users/' || wire_id(u.id)),
      medium = 'EMAIL' AND 'TRAINER' = ANY (u.roles)
    INTO line, quote, link, to_club
    FROM visible_user(viewer) u WHERE u.id = about;
  ELSIF is_location(about) THEN
    SELECT l.name, '', web_link(app, 'locations/' || wire_id(l.id)) INTO line, quote, link
    FROM location l WHERE l.id = about;
  ELSIF is_circle(about) THEN
    SELECT c.name, c.description, web_link(app, 'circles/' || wire_id(c.id)) INTO line, quote, link
    FROM visible_circle(viewer) c WHERE c.id = about;
  END IF;
END $$;
COMMENT ON FUNCTION shared_node IS
  'Returns the parts of a draft about a node that the viewer may see: a line, a quotation, a link, and whether it is a '
  'question for the support address. All are null without such a node.';

CREATE OR REPLACE FUNCTION share_draft(viewer bigint, medium text, about bigint, recipient text, language text,
  app text, app_name text DEFAULT NULL)
RETURNS TABLE (channel text, recipients text[], subject text, body text, url text)
LANGUAGE plpgsql STABLE ROWS 1 AS $$
DECLARE
  own_name text := (SELECT u.display_name FROM app_user u WHERE u.id = viewer);
  line text;
  quote text;
  link text;
  title text;
  to_club boolean;
BEGIN
  SELECT n.line, n.quote, n.link, n.to_club INTO line, quote, link, to_club
  FROM shared_node(viewer, medium, about, language, app) n;
  recipients := CASE WHEN recipient IS NULL OR recipient = '' THEN '{}' ELSE ARRAY[recipient] END;
  IF coalesce(to_club, false) THEN
    recipients := array_remove(ARRAY(SELECT a.support_email FROM app_config a WHERE a.app = share_draft.app), NULL);
    RETURN QUERY SELECT medium, recipients,
      phrase(language, 'share.question.title', jsonb_build_object('name', line)),
      phrase(language, 'share.question', jsonb_build_object('name', line)), link;
    RETURN;
  END IF;
  IF line IS NULL THEN
    title := CASE WHEN own_name IS NULL THEN 'share.community' WHEN words(app_name) IS NULL THEN 'share.invitation'
      ELSE 'share.invitation.app' END;
    line := phrase(language, title, jsonb_build_object('name', own_name, 'app', one_line(words(left(app_name, 80)))));
    title := phrase(language, title || '.title',
      jsonb_build_object('name', own_name, 'app', one_line(words(left(app_name, 80)))));
    quote := '';
    link := web_link(app, '');
  ELSE
    title := shortened(upper(left(line, 1)) || substr(line, 2), 100);
  END IF;
  quote := btrim(regexp_replace(coalesce(quote, ''), '\s+', ' ', 'g'));
  IF medium = 'TWITTER' THEN
    line := shortened(line, 100);
    body := CASE WHEN quote = '' THEN line
      ELSE shortened(quote, 280 - length(line) - length(link) - 4) || ' – ' || line END
      || ' ' || link;
    -- an address that leaves no room goes beside the text
    IF length(body) > 280 THEN body := shortened(line, 280); END IF;
  ELSIF medium = 'SMS' THEN
    body := CASE WHEN quote = '' THEN line ELSE line || ': ' || shortened(quote, 160) END
      || ' ' || link;
  ELSIF medium = 'EMAIL' THEN
    body := phrase(language, 'share.hello') || E'\n\n' || upper(left(line, 1)) || substr(line, 2) || E'\n'
      || CASE WHEN quote = '' THEN '' ELSE E'\n' || quote || E'\n' END
      || E'\n' || link || E'\n' || coalesce(E'\n' || own_name || E'\n', '');
  ELSE
    body := CASE WHEN quote = '' THEN line ELSE quote || ' – ' || line END;
  END IF;
  RETURN QUERY SELECT medium, recipients,
    CASE medium WHEN 'EMAIL' THEN title END, body, link;
END $$;
COMMENT ON FUNCTION share_draft IS
  'Returns the text for a channel about a post, a product, a user, a location, or a circle that the viewer may see, '
  'otherwise about the application. A tweet has up to 280 characters with its link. An email about a trainer is a '
  'question for the support address of the request''s application.';

CREATE OR REPLACE FUNCTION share_post(viewer bigint, target bigint, medium text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  draft record;
  sealed bytea;
BEGIN
  PERFORM own_post(viewer, target, NULL, 'postId');
  IF medium NOT IN ('FACEBOOK', 'TWITTER') THEN
    PERFORM refuse_as(worded(refusal('INVALID', 'channel'), 'NO_WALL'));
  END IF;
  SELECT i.access_token INTO sealed FROM identity i WHERE i.user_id = viewer AND i.provider = medium;
  IF sealed IS NULL THEN
    PERFORM refuse_as(worded(refusal('PROVIDER_NOT_LINKED', 'channel'), 'PROVIDER',
      jsonb_build_object('provider', provider_name(medium))));
  END IF;
  SELECT d.* INTO draft FROM share_draft(viewer, medium, target, NULL, spoken_now(), app_now()) d;
  INSERT INTO outbox (channel, user_id, subject, body, token)
  VALUES (medium, viewer, one_line(draft.subject), concat_ws(E'\n', draft.body, draft.url), sealed);
  RETURN target;
END $$;
COMMENT ON FUNCTION share_post IS
  'Implements Mutation.sharePost: adds the viewer''s post to the outbox, for the wall of a linked account.';
