-- A row: somebody in an address book the owner imported from a provider.
CREATE TABLE external_contact (
  id bigint PRIMARY KEY DEFAULT new_node(51) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 51),
  owner_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  provider text NOT NULL,
  external_id text NOT NULL,
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  avatar_url text,
  UNIQUE (owner_id, provider, external_id));  -- importContacts
-- viewer.externalContacts, alphabetical
CREATE INDEX ON external_contact (owner_id, name_key, id);

CREATE TRIGGER drop_nodes AFTER DELETE ON external_contact REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
