-- Places of the world, from countries down to a single beach, as one tree.

CREATE TYPE location_level AS ENUM ('COUNTRY', 'REGION', 'CITY', 'PLACE');

-- A row: a country, a region (state, province), a city or a place.
CREATE TABLE location (
  id bigint PRIMARY KEY DEFAULT new_node(3) REFERENCES node ON DELETE CASCADE CHECK (id & 255 = 3),
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  level location_level NOT NULL DEFAULT 'PLACE',
  place_type text,
  gmaps_id text UNIQUE,                       -- location(by: {gmapsId}); no place twice
  parent_id bigint REFERENCES location ON DELETE RESTRICT,
  ancestor_ids bigint[] NOT NULL DEFAULT '{}',   -- country first, parent last; kept by trigger
  latitude float8 CHECK (latitude BETWEEN -90 AND 90),
  longitude float8 CHECK (longitude BETWEEN -180 AND 180),
  top_count int NOT NULL DEFAULT 0,
  post_count int NOT NULL DEFAULT 0,             -- public posts here
  post_reaction_count int NOT NULL DEFAULT 0,    -- reactions to them
  comment_count int NOT NULL DEFAULT 0,
  popularity int NOT NULL GENERATED ALWAYS AS (top_count + post_reaction_count) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((latitude IS NULL) = (longitude IS NULL)),
  CHECK (level = 'PLACE' OR place_type IS NULL));
-- locations(filter: {near})
CREATE INDEX ON location USING gist (point(longitude, latitude)) WHERE latitude IS NOT NULL;
-- locations(orderBy: POPULAR) of places: the top 20
CREATE INDEX ON location (popularity DESC, id DESC) WHERE level = 'PLACE';
-- locations(orderBy: MOST_REVIEWED), minReviews
CREATE INDEX ON location (comment_count DESC, id DESC) WHERE level = 'PLACE';
-- filter.within: inside a country, region or city
CREATE INDEX ON location USING gin (ancestor_ids);
-- re-parenting, deletion
CREATE INDEX ON location (parent_id);
-- locations(search:, orderBy: NAME)
CREATE INDEX ON location (name_key, id);

ALTER TABLE app_user ADD FOREIGN KEY (home_id) REFERENCES location ON DELETE SET NULL;

-- A row: the user is willing to send cards to this part of the world. No row: everywhere.
CREATE TABLE user_ships_to (
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  location_id bigint REFERENCES location ON DELETE CASCADE,
  PRIMARY KEY (user_id, location_id));        -- User.shipsTo
CREATE INDEX ON user_ships_to (location_id);  -- deleting a location

-- A location inherits its parent's ancestors. A parent stands on a higher level than its
-- children, which also rules out cycles. The parent is locked so that it cannot move meanwhile.
CREATE FUNCTION place_location() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE above location;
BEGIN
  IF NEW.parent_id IS NULL THEN
    NEW.ancestor_ids := '{}';
  ELSE
    SELECT * INTO above FROM location WHERE id = NEW.parent_id FOR SHARE;
    IF above.level >= NEW.level THEN
      RAISE EXCEPTION 'the parent of a location must stand on a higher level'
        USING ERRCODE = 'check_violation', TABLE = 'location', COLUMN = 'parent_id';
    END IF;
    -- without a parent row the foreign key fails
    NEW.ancestor_ids := coalesce(above.ancestor_ids, '{}') || NEW.parent_id;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.level > OLD.level AND EXISTS (
      SELECT FROM location WHERE parent_id = NEW.id AND level <= NEW.level) THEN
    RAISE EXCEPTION 'a location must stand on a higher level than those inside it'
      USING ERRCODE = 'check_violation', TABLE = 'location', COLUMN = 'level';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER place BEFORE INSERT OR UPDATE OF parent_id, level ON location
  FOR EACH ROW EXECUTE FUNCTION place_location();

-- Whatever is inside moves along.
CREATE FUNCTION move_descendants() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM location WHERE ancestor_ids @> ARRAY[NEW.id] ORDER BY id FOR NO KEY UPDATE;
  UPDATE location
  SET ancestor_ids = NEW.ancestor_ids || ancestor_ids[array_position(ancestor_ids, NEW.id):]
  WHERE ancestor_ids @> ARRAY[NEW.id];
  RETURN NULL;
END $$;
CREATE TRIGGER move_descendants AFTER UPDATE OF parent_id ON location FOR EACH ROW
  WHEN (OLD.ancestor_ids IS DISTINCT FROM NEW.ancestor_ids) EXECUTE FUNCTION move_descendants();

CREATE TRIGGER drop_nodes AFTER DELETE ON location REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
