-- Address books that people imported.

CALL node('external_contact', 51, owner => 'owner_id', is_told => false);
CALL tell('external_contact', 'external_contact', 'id', '{owner_id}');
CALL told('external_contact', 'external_contact', '{id}', is_node => true, only_columns => true);
CALL exported('externalContacts', $$
  SELECT jsonb_build_object('id', wire_id(c.id),
    'provider', c.provider, 'externalId', c.external_id, 'name', c.name)
  FROM external_contact c WHERE c.owner_id = $1
  ORDER BY c.id$$);

CREATE OR REPLACE FUNCTION visible_external_contact(viewer bigint) RETURNS SETOF external_contact
LANGUAGE sql STABLE AS $$
  SELECT c.* FROM external_contact c WHERE c.owner_id = viewer
$$;
COMMENT ON FUNCTION visible_external_contact IS 'Returns the contacts that the viewer imported.';

CREATE OR REPLACE FUNCTION contact_letters(viewer bigint)
RETURNS TABLE (letter text, contact_count int) LANGUAGE sql STABLE ROWS 26 AS $$
  SELECT left(c.name_key, 1), count(*)::int FROM external_contact c WHERE c.owner_id = viewer
  GROUP BY left(c.name_key, 1)
$$;
COMMENT ON FUNCTION contact_letters IS
  'Returns the letters with which the names of the viewer''s contacts begin, and how many begin so.';

CREATE OR REPLACE FUNCTION import_contacts(viewer bigint, service text, contacts jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  IF NOT EXISTS (SELECT FROM identity i WHERE i.user_id = viewer AND i.provider = service) THEN
    PERFORM refuse_as(worded(refusal('PROVIDER_NOT_LINKED', 'provider'), 'PROVIDER',
      jsonb_build_object('provider', provider_name(service))));
  END IF;
  PERFORM refuse_longer(jsonb_array_length(contacts), 1000, 'MANY_CONTACTS', 'contacts');
  PERFORM refuse_all((
    SELECT coalesce(jsonb_agg(refusal(bad.code, 'contacts', bad.place::text, bad.name)
      ORDER BY bad.place), '[]')
    FROM (
      SELECT e.place - 1 AS place,
        CASE WHEN words(e.contact ->> 'externalId') IS NULL THEN 'REQUIRED'
          WHEN length(e.contact ->> 'externalId') > 200 THEN 'TOO_LONG'
          WHEN words(e.contact ->> 'name') IS NULL THEN 'REQUIRED'
          WHEN length(e.contact ->> 'name') > 200 THEN 'TOO_LONG'
          WHEN NOT is_url(web_address(e.contact ->> 'avatarUrl')) THEN 'INVALID' END AS code,
        CASE WHEN words(e.contact ->> 'externalId') IS NULL OR length(e.contact ->> 'externalId') > 200
            THEN 'externalId'
          WHEN words(e.contact ->> 'name') IS NULL OR length(e.contact ->> 'name') > 200 THEN 'name'
          ELSE 'avatarUrl' END AS name
      FROM jsonb_array_elements(contacts) WITH ORDINALITY AS e(contact, place)) bad
    WHERE bad.code IS NOT NULL));
  INSERT INTO external_contact (owner_id, provider, external_id, name, name_key, avatar_url)
  SELECT DISTINCT ON (e.contact ->> 'externalId') viewer, service, e.contact ->> 'externalId',
    words(e.contact ->> 'name'), folded(words(e.contact ->> 'name')), web_address(e.contact ->> 'avatarUrl')
  FROM jsonb_array_elements(contacts) WITH ORDINALITY AS e(contact, place)
  ORDER BY e.contact ->> 'externalId', e.place DESC
  ON CONFLICT (owner_id, provider, external_id) DO UPDATE
  SET name = EXCLUDED.name, name_key = EXCLUDED.name_key, avatar_url = EXCLUDED.avatar_url;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION import_contacts IS
  'Implements Mutation.importContacts: adds or updates contacts of a linked provider.';

CREATE OR REPLACE FUNCTION delete_external_contacts(viewer bigint, service text)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM FROM external_contact c WHERE c.owner_id = viewer AND c.provider = service ORDER BY c.id FOR UPDATE;
  DELETE FROM external_contact c WHERE c.owner_id = viewer AND c.provider = service;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION delete_external_contacts IS
  'Implements Mutation.deleteExternalContacts. Invitations to these contacts remain.';
