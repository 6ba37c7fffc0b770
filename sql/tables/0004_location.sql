-- Places of the world, from countries down to a single beach, as one tree.

CREATE TYPE location_level AS ENUM ('COUNTRY', 'REGION', 'CITY', 'PLACE');
COMMENT ON TYPE location_level IS 'Where in the tree a location stands, from the top.';

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
  CONSTRAINT location_longitude_given CHECK ((latitude IS NULL) = (longitude IS NULL)),
  CONSTRAINT location_place_type_fits CHECK (level = 'PLACE' OR place_type IS NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 20, autovacuum_vacuum_scale_factor = 0.0001);
COMMENT ON TABLE location IS 'A row: a country, a region (state, province), a city or a place.';
COMMENT ON COLUMN location.name_key IS 'name, folded.';
COMMENT ON COLUMN location.place_type IS 'What sort of place, such as BEACH; only of places.';
COMMENT ON COLUMN location.gmaps_id IS 'Its id at Google Maps, so that no place is there twice.';
COMMENT ON COLUMN location.parent_id IS 'What it lies in; on a higher level.';
COMMENT ON COLUMN location.ancestor_ids IS 'Country first, parent last; kept by trigger.';
COMMENT ON COLUMN location.latitude IS 'In degrees, north positive.';
COMMENT ON COLUMN location.longitude IS 'In degrees, east positive.';
COMMENT ON COLUMN location.top_count IS 'Reactions TOP to it; kept by trigger.';
COMMENT ON COLUMN location.post_count IS 'Public posts here; kept by trigger.';
COMMENT ON COLUMN location.post_reaction_count IS 'Reactions to the public posts here; kept by trigger.';
COMMENT ON COLUMN location.comment_count IS 'Comments on it; kept by trigger.';
COMMENT ON COLUMN location.popularity IS 'By what POPULAR orders, through location_rank.';
COMMENT ON COLUMN location.is_hot IS 'Writers met here: parts of its counts are in count_slot.';
COMMENT ON CONSTRAINT location_place_type_known ON location IS 'unreachable';
COMMENT ON CONSTRAINT location_gmaps_id_once ON location IS 'gmapsId: TAKEN';
COMMENT ON CONSTRAINT location_latitude_range ON location IS 'coordinates: INVALID';
COMMENT ON CONSTRAINT location_longitude_range ON location IS 'coordinates: INVALID';
COMMENT ON CONSTRAINT location_longitude_given ON location IS 'coordinates: INVALID';
COMMENT ON CONSTRAINT location_place_type_fits ON location IS 'placeType: INVALID';
-- locations(filter: {near})
CREATE INDEX ON location USING gist (point(longitude, latitude)) WHERE latitude IS NOT NULL;
-- filter.within: inside a country, region or city
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
COMMENT ON TABLE location_rank IS
  'A row: what a location is ordered by, as of the last pass of fold_counts.';
COMMENT ON COLUMN location_rank.location_id IS
  'The location; the row comes and goes with it, by trigger.';
COMMENT ON COLUMN location_rank.popularity IS 'As it was at the last pass.';
COMMENT ON COLUMN location_rank.comment_count IS 'As it was at the last pass.';
COMMENT ON COLUMN location_rank.level IS 'The same as the location''s; kept by trigger.';
COMMENT ON COLUMN location_rank.place_type IS 'The same as the location''s; kept by trigger.';
COMMENT ON COLUMN location_rank.latitude IS 'The same as the location''s; kept by trigger.';
COMMENT ON COLUMN location_rank.longitude IS 'The same as the location''s; kept by trigger.';
COMMENT ON COLUMN location_rank.ancestor_ids IS 'The same as the location''s; kept by trigger.';
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
COMMENT ON TABLE user_ships_to IS
  'A row: the user is willing to send cards to this part of the world. No row: everywhere.';
CREATE INDEX ON user_ships_to (location_id);  -- deleting a location
