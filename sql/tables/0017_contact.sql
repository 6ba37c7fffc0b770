-- Address books.

CREATE TABLE external_contact (
  id bigint CONSTRAINT external_contact_id_primary PRIMARY KEY,
  owner_id bigint NOT NULL
    CONSTRAINT external_contact_owner_exists REFERENCES app_user ON DELETE CASCADE,
  provider text NOT NULL CONSTRAINT external_contact_provider_known
    CHECK (provider IN ('FACEBOOK', 'GOOGLE', 'TWITTER', 'YAHOO', 'AOL', 'APPLE')),
  external_id text NOT NULL,
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  avatar_url text,
  -- importContacts
  CONSTRAINT external_contact_external_id_once UNIQUE (owner_id, provider, external_id));
COMMENT ON TABLE external_contact IS 'One person in an address book that the owner imported from a provider.';
COMMENT ON COLUMN external_contact.external_id IS 'The ID of the contact''s account at the provider.';
COMMENT ON COLUMN external_contact.name_key IS 'The folded name.';
COMMENT ON CONSTRAINT external_contact_provider_known ON external_contact IS 'unreachable';
COMMENT ON CONSTRAINT external_contact_external_id_once ON external_contact IS 'unreachable';
-- viewer.externalContacts, alphabetical
CREATE INDEX ON external_contact (owner_id, name_key, id);
