-- Places of the world, from countries down to a single beach, as one tree.

CREATE TYPE location_level AS ENUM ('COUNTRY', 'REGION', 'CITY', 'PLACE');
COMMENT ON TYPE location_level IS 'The levels of the tree of locations, from the top.';

CREATE TABLE location (
  id bigint CONSTRAINT location_id_primary PRIMARY KEY,
  name text NOT NULL,
  name_key text COLLATE "C" NOT NULL,
  level location_level NOT NULL DEFAULT 'PLACE',
  place_type text CONSTRAINT location_place_type_known CHECK (place_type IN (
    'ATTRACTION', 'NATURE', 'BEACH', 'MUSEUM', 'CAMPUS', 'DINING', 'FITNESS', 'SHOP', 'OTHER')),
  gmaps_id text CONSTRAINT location_gmaps_id_once UNIQUE,   -- location(by: {gmapsId})
  parent_id bigint CONSTRAINT location_parent_exists REFERENCES location ON DELETE RESTRICT,
  ancestor_ids bigint[] NOT NULL DEFAULT '{}',
  latitude float8 CONSTRAINT location_latitude_range CHECK (latitude BETWEEN -90 AND 90),
  longitude float8 CONSTRAINT location_longitude_range CHECK (longitude BETWEEN -180 AND 180),
  top_count int NOT NULL DEFAULT 0,
  post_count int NOT NULL DEFAULT 0,
  post_reaction_count int NOT NULL DEFAULT 0,
  comment_count int NOT NULL DEFAULT 0,
  popularity int NOT NULL GENERATED ALWAYS AS (top_count + post_reaction_count) STORED,
  is_hot boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by_id bigint CONSTRAINT location_created_by_exists REFERENCES app_user ON DELETE SET NULL,
  CONSTRAINT location_longitude_given CHECK ((latitude IS NULL) = (longitude IS NULL)),
  CONSTRAINT location_place_type_fits CHECK (level = 'PLACE' OR place_type IS NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE location IS 'One country, region (state, province), city, or place.';
COMMENT ON COLUMN location.name_key IS 'The folded name.';
COMMENT ON COLUMN location.place_type IS 'The type of place, such as BEACH. Null for other levels.';
COMMENT ON COLUMN location.gmaps_id IS 'The ID at Google Maps, by which duplicates are avoided.';
COMMENT ON COLUMN location.parent_id IS 'The location that contains this one, on a higher level.';
COMMENT ON COLUMN location.ancestor_ids IS 'The IDs of the ancestors, country first, parent last, kept by trigger.';
COMMENT ON COLUMN location.latitude IS 'The latitude in degrees, north positive.';
COMMENT ON COLUMN location.longitude IS 'The longitude in degrees, east positive.';
COMMENT ON COLUMN location.top_count IS 'The number of TOP reactions to the location, kept by trigger.';
COMMENT ON COLUMN location.post_count IS 'The number of public posts at the location, kept by trigger.';
COMMENT ON COLUMN location.post_reaction_count IS
  'The number of reactions to the public posts at the location, kept by trigger.';
COMMENT ON COLUMN location.comment_count IS 'The number of comments on the location, kept by trigger.';
COMMENT ON COLUMN location.popularity IS 'The sort key of POPULAR, by way of location_rank.';
COMMENT ON COLUMN location.is_hot IS 'Whether parts of the counts are in count_slot, because writers conflicted.';
COMMENT ON COLUMN location.created_by_id IS 'The user who added the location and may change it for a day.';
COMMENT ON CONSTRAINT location_place_type_known ON location IS 'unreachable';
COMMENT ON CONSTRAINT location_gmaps_id_once ON location IS 'gmapsId: TAKEN';
COMMENT ON CONSTRAINT location_latitude_range ON location IS 'coordinates: INVALID';
COMMENT ON CONSTRAINT location_longitude_range ON location IS 'coordinates: INVALID';
COMMENT ON CONSTRAINT location_longitude_given ON location IS 'coordinates: INVALID';
COMMENT ON CONSTRAINT location_place_type_fits ON location IS 'placeType: INVALID';
-- locations(filter: {near})
CREATE INDEX ON location USING gist (point(longitude, latitude)) WHERE latitude IS NOT NULL;
-- the city of a new place
CREATE INDEX ON location USING gist (point(longitude, latitude)) WHERE level = 'CITY' AND latitude IS NOT NULL;
-- deleting an account
CREATE INDEX ON location (created_by_id) WHERE created_by_id IS NOT NULL;
-- filter.withinId: inside a country, region or city
CREATE INDEX ON location USING gin (ancestor_ids);
-- re-parenting, deletion
CREATE INDEX ON location (parent_id);
-- locations(filter: {levels}) other than places, of which there are few
CREATE INDEX ON location (level, name_key, id) WHERE level <> 'PLACE';
-- locations(search:, orderBy: NAME)
CREATE INDEX ON location (name_key, id);
-- locations(filter: {search}), search
CREATE INDEX ON location USING gin (name_vector(name_key));

CREATE TABLE location_rank (
  location_id bigint CONSTRAINT location_rank_id_primary PRIMARY KEY,
  popularity int NOT NULL,
  comment_count int NOT NULL,
  level location_level NOT NULL,
  place_type text,
  latitude float8,
  longitude float8,
  ancestor_ids bigint[] NOT NULL);
COMMENT ON TABLE location_rank IS 'The sort keys of one location, as of the last pass of fold_counts.';
COMMENT ON COLUMN location_rank.location_id IS 'The location. A trigger adds and deletes the row with it.';
COMMENT ON COLUMN location_rank.popularity IS 'The popularity of the location at the last pass.';
COMMENT ON COLUMN location_rank.comment_count IS 'The number of comments on the location at the last pass.';
COMMENT ON COLUMN location_rank.level IS 'A copy of the location''s level, kept by trigger.';
COMMENT ON COLUMN location_rank.place_type IS 'A copy of the location''s type of place, kept by trigger.';
COMMENT ON COLUMN location_rank.latitude IS 'A copy of the location''s latitude, kept by trigger.';
COMMENT ON COLUMN location_rank.longitude IS 'A copy of the location''s longitude, kept by trigger.';
COMMENT ON COLUMN location_rank.ancestor_ids IS 'A copy of the location''s ancestors, kept by trigger.';
-- locations(orderBy: POPULAR); what filters ask is in the index
CREATE INDEX ON location_rank (popularity DESC, location_id DESC)
  INCLUDE (level, place_type, latitude, longitude, ancestor_ids, comment_count);
-- the same of what is no place
CREATE INDEX ON location_rank (level, popularity DESC, location_id DESC) WHERE level <> 'PLACE';
-- locations(orderBy: MOST_REVIEWED)
CREATE INDEX ON location_rank (comment_count DESC, location_id DESC)
  INCLUDE (level, place_type, latitude, longitude, ancestor_ids);
-- the same of what is no place
CREATE INDEX ON location_rank (level, comment_count DESC, location_id DESC) WHERE level <> 'PLACE';

ALTER TABLE app_user ADD CONSTRAINT app_user_home_exists
  FOREIGN KEY (home_id) REFERENCES location ON DELETE SET NULL;

CREATE TABLE user_ships_to (
  user_id bigint CONSTRAINT user_ships_to_user_exists REFERENCES app_user ON DELETE CASCADE,
  location_id bigint
    CONSTRAINT user_ships_to_location_exists REFERENCES location ON DELETE CASCADE,
  CONSTRAINT user_ships_to_location_once PRIMARY KEY (user_id, location_id));  -- User.shipsTo
COMMENT ON TABLE user_ships_to IS 'One location that a user sends cards to. Without rows, the user sends worldwide.';
CREATE INDEX ON user_ships_to (location_id);  -- deleting a location
