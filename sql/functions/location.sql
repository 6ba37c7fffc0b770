-- Places: how far they are, who was there, who likes them.

CALL node('location', 3, path => '/locations/', commentable => true, flaggable => true, reactions => '{TOP}',
  changes => '{name,level,place_type,gmaps_id,parent_id,ancestor_ids,latitude,longitude}', sought => 't.name_key',
  leaving => 'SELECT p.location_id FROM post p WHERE p.id = ANY ($2)
    UNION SELECT l.id FROM location l WHERE l.created_by_id = $1
    UNION SELECT r.subject_id FROM reaction r WHERE r.user_id = $1
    UNION SELECT c.subject_id FROM comment c WHERE c.author_id = $1', lock_place => 40, is_going => false);
CALL told('visit', 'post node', nouns => '{post}');
CALL told('location_rank', 'node', nouns => '{location}');
CALL told('location_rank', 'location_rank');

CREATE OR REPLACE FUNCTION great_circle(latitude float8, longitude float8,
  to_latitude float8, to_longitude float8)
RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 12742000 * asin(sqrt(least(
    1 + 0 * latitude + 0 * longitude + 0 * to_latitude + 0 * to_longitude,
    sin(radians(latitude - to_latitude) / 2) ^ 2
    + cos(radians(to_latitude)) * cos(radians(latitude))
      * sin(radians(longitude - to_longitude) / 2) ^ 2)))
$$;
COMMENT ON FUNCTION great_circle IS
  'Returns the distance in meters between two points on the surface of the Earth, given in degrees. Null if a '
  'coordinate is missing: the zero terms make the bound of least() null, which otherwise ignores nulls.';

CREATE OR REPLACE FUNCTION box_reach(latitude float8, radius float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN abs(latitude) + degrees(radius / 6371000) >= 89.9 THEN 180
    ELSE degrees(asin(least(1, sin(radius / 6371000) / cos(radians(latitude))))) + 1e-6 END
$$;
COMMENT ON FUNCTION box_reach IS
  'Returns half the width, in degrees, of the box around a circle, or 180 if the box contains a pole.';

-- Circles that do not exist are refused: a radius below 0, a centre beyond the poles. What lies
-- beyond the date line is counted on, as maps do. Refusing costs nothing, or the planner would not
-- put the functions below in place of their calls.
CREATE OR REPLACE FUNCTION refuse_radius(radius float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A radius is 0 to 500000 metres.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;
COMMENT ON FUNCTION refuse_radius IS 'Fails with SG002, because the radius is out of range.';

CREATE OR REPLACE FUNCTION refuse_latitude(latitude float8) RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A latitude is -90 to 90 degrees.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;
COMMENT ON FUNCTION refuse_latitude IS 'Fails with SG002, because the latitude is out of range.';

CREATE OR REPLACE FUNCTION circle_radius(latitude float8, radius float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN latitude NOT BETWEEN -90 AND 90 THEN refuse_latitude(latitude)
    WHEN radius NOT BETWEEN 0 AND 500000 THEN refuse_radius(radius) ELSE radius END
$$;
COMMENT ON FUNCTION circle_radius IS
  'Returns the radius of a circle in meters. Fails with SG002 if the latitude or the radius is out of range.';

CREATE OR REPLACE FUNCTION near_box(latitude float8, longitude float8, radius float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT box(
    point(longitude - box_reach(latitude, circle_radius(latitude, radius)),
      latitude - degrees(circle_radius(latitude, radius) / 6371000) - 1e-6),
    point(longitude + box_reach(latitude, circle_radius(latitude, radius)),
      latitude + degrees(circle_radius(latitude, radius) / 6371000) + 1e-6))
$$;
COMMENT ON FUNCTION near_box IS
  'Returns the box, in (longitude, latitude), around a circle with a radius of up to 500 km.';

CREATE OR REPLACE FUNCTION date_line_box(latitude float8, longitude float8, radius float8)
RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN longitude + box_reach(latitude, circle_radius(latitude, radius)) > 180
      THEN near_box(latitude, longitude - 360, radius)
    WHEN longitude - box_reach(latitude, circle_radius(latitude, radius)) < -180
      THEN near_box(latitude, longitude + 360, radius) END
$$;
COMMENT ON FUNCTION date_line_box IS
  'Returns the part of the box of near_box beyond the date line. Null if the box does not cross it.';

CREATE OR REPLACE FUNCTION places_near(latitude float8, longitude float8,
  radius float8) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT l.id FROM location l
  WHERE l.latitude IS NOT NULL
    AND (point(l.longitude, l.latitude)
        <@ near_box(places_near.latitude, places_near.longitude, radius)
      OR point(l.longitude, l.latitude)
        <@ date_line_box(places_near.latitude, places_near.longitude, radius))
    AND great_circle(l.latitude, l.longitude, places_near.latitude, places_near.longitude)
      <= circle_radius(places_near.latitude, radius)
$$;
COMMENT ON FUNCTION places_near IS
  'Returns the locations in a circle. Fails with SG002 if the circle is out of range, whichever condition PostgreSQL '
  'evaluates first.';

-- Whose posts at a place are public is kept in visit, in the order of their latest. Who has posts there
-- that not everyone sees are few; they are looked up, and stand where the later of both puts them.
--
-- page, before, before_id: as many rows as a page needs, from after this sort key on; null for all.
CREATE OR REPLACE FUNCTION visitor(viewer bigint, place bigint, part text, page int,
  before timestamptz, before_id bigint)
RETURNS TABLE (id bigint, visited_at timestamptz) LANGUAGE sql STABLE AS $$
  WITH known AS MATERIALIZED (
    SELECT n.id FROM network(viewer, part) n WHERE part <> 'EVERYONE'),
  other AS MATERIALIZED (
    SELECT p.author_id AS id, max(p.created_at) AS visited_at FROM visible_post(viewer) p
    WHERE p.location_id = place AND p.visibility <> 'PUBLIC'
      AND (part = 'EVERYONE' OR p.author_id IN (SELECT k.id FROM known k))
    GROUP BY p.author_id)
  (SELECT v.user_id, v.visited_at FROM visit v
  WHERE v.location_id = place
    AND (v.visited_at, v.user_id)
      < (coalesce(before, 'infinity'), coalesce(before_id, 9223372036854775807))
    AND v.user_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND v.user_id NOT IN (SELECT o.id FROM other o)
    AND (part = 'EVERYONE' OR v.user_id IN (SELECT k.id FROM known k))
  ORDER BY v.visited_at DESC, v.user_id DESC LIMIT page)
  UNION ALL
  SELECT o.id, greatest(o.visited_at, v.visited_at)
  FROM other o LEFT JOIN visit v ON v.location_id = place AND v.user_id = o.id
$$;
COMMENT ON FUNCTION visitor IS
  'Returns the users who posted at a place, each once, with the date and time of the latest post that the viewer may '
  'see.';

CREATE OR REPLACE FUNCTION visitor_newer(viewer bigint, place bigint, part text, page int,
  after timestamptz, after_id bigint)
RETURNS TABLE (id bigint, visited_at timestamptz) LANGUAGE sql STABLE AS $$
  WITH known AS MATERIALIZED (
    SELECT n.id FROM network(viewer, part) n WHERE part <> 'EVERYONE'),
  other AS MATERIALIZED (
    SELECT p.author_id AS id, max(p.created_at) AS visited_at FROM visible_post(viewer) p
    WHERE p.location_id = place AND p.visibility <> 'PUBLIC'
      AND (part = 'EVERYONE' OR p.author_id IN (SELECT k.id FROM known k))
    GROUP BY p.author_id)
  (SELECT v.user_id, v.visited_at FROM visit v
  WHERE v.location_id = place
    AND (v.visited_at, v.user_id) > (coalesce(after, '-infinity'), coalesce(after_id, 0))
    AND v.user_id NOT IN (SELECT h.id FROM hidden_user(viewer) h)
    AND v.user_id NOT IN (SELECT o.id FROM other o)
    AND (part = 'EVERYONE' OR v.user_id IN (SELECT k.id FROM known k))
  ORDER BY v.visited_at, v.user_id LIMIT page)
  UNION ALL
  SELECT o.id, greatest(o.visited_at, v.visited_at)
  FROM other o LEFT JOIN visit v ON v.location_id = place AND v.user_id = o.id
$$;
COMMENT ON FUNCTION visitor_newer IS 'Returns the same users as visitor, from the end of its order.';

-- What a map shows. Beyond the date line it goes on, so a west that is larger than the east means two boxes.
CREATE OR REPLACE FUNCTION refuse_box(south float8) RETURNS box
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 0.01 AS $$
BEGIN
  RAISE EXCEPTION 'A box has -90 <= south <= north <= 90, and west and east from -180 to 180.'
    USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
END $$;
COMMENT ON FUNCTION refuse_box IS 'Fails with SG002, because a bounding box is none.';

CREATE OR REPLACE FUNCTION map_box(south float8, west float8, north float8, east float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN south < -90 OR south > north OR north > 90 OR abs(west) > 180 OR abs(east) > 180
      THEN refuse_box(south)
    ELSE box(point(west, south), point(CASE WHEN west <= east THEN east ELSE 180 END, north)) END
$$;
COMMENT ON FUNCTION map_box IS
  'Returns the box, in (longitude, latitude), from west to east, or to the date line if west is larger. Fails with '
  'SG002 if the sides are out of range.';

CREATE OR REPLACE FUNCTION map_box_beyond(south float8, west float8, north float8, east float8) RETURNS box
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN west > east THEN box(point(-180, south), point(east, north)) END
$$;
COMMENT ON FUNCTION map_box_beyond IS
  'Returns the part of a box of map_box beyond the date line. Null if the box does not cross it.';

-- To nearly everyone nothing is hidden, and the places stand in the order of an index. For the others what
-- is hidden is taken off each place's number first.
CREATE OR REPLACE FUNCTION reviewed_location(viewer bigint)
RETURNS TABLE (location_id bigint, review_count int, level location_level, place_type text,
  latitude float8, longitude float8, ancestor_ids bigint[], comment_count int)
LANGUAGE sql STABLE AS $$
  (SELECT r.location_id, r.comment_count, r.level, r.place_type, r.latitude, r.longitude, r.ancestor_ids,
    r.comment_count
  FROM location_rank r WHERE NOT EXISTS (SELECT FROM hidden_user(viewer))
  ORDER BY r.comment_count DESC, r.location_id DESC)
  UNION ALL
  SELECT r.location_id, r.comment_count - hidden_comments(viewer, r.location_id), r.level, r.place_type,
    r.latitude, r.longitude, r.ancestor_ids, r.comment_count
  FROM location_rank r WHERE EXISTS (SELECT FROM hidden_user(viewer))
$$;
COMMENT ON FUNCTION reviewed_location IS 'Returns the number of reviews of each location that the viewer may see.';

CREATE OR REPLACE FUNCTION visit_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO visit AS v (location_id, user_id, visited_at)
  SELECT c.location_id, c.author_id, max(c.created_at) FROM changed c
  WHERE c.location_id IS NOT NULL AND c.visibility = 'PUBLIC'
  GROUP BY c.location_id, c.author_id ORDER BY c.location_id, c.author_id
  ON CONFLICT (location_id, user_id)
    DO UPDATE SET visited_at = greatest(v.visited_at, EXCLUDED.visited_at);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION visit_added IS 'Adds the visits of new public posts.';
CALL watch('post', '{added}', 'visit_added');

CREATE OR REPLACE FUNCTION end_visits(places bigint[], people bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- locked before it is looked at what is left, so that nothing is added in between unseen
  PERFORM FROM visit v JOIN unnest(places, people) g(location_id, user_id) USING (location_id, user_id)
  ORDER BY v.location_id, v.user_id FOR UPDATE OF v;
  DELETE FROM visit v USING unnest(places, people) g(location_id, user_id)
  WHERE v.location_id = g.location_id AND v.user_id = g.user_id AND NOT EXISTS (
    SELECT FROM post p WHERE p.location_id = v.location_id AND p.author_id = v.user_id
      AND p.visibility = 'PUBLIC');
  UPDATE visit v SET visited_at = l.latest
  FROM unnest(places, people) g(location_id, user_id) CROSS JOIN LATERAL (
    SELECT max(p.created_at) AS latest FROM post p
    WHERE p.location_id = g.location_id AND p.author_id = g.user_id AND p.visibility = 'PUBLIC') l
  WHERE v.location_id = g.location_id AND v.user_id = g.user_id AND v.visited_at <> l.latest;
END $$;
COMMENT ON FUNCTION end_visits IS
  'Updates or deletes the visits of removed posts: the user and the place at the same positions.';

CREATE OR REPLACE FUNCTION visit_removed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  places bigint[];
  people bigint[];
BEGIN
  SELECT array_agg(c.location_id), array_agg(c.author_id) INTO places, people FROM (
    SELECT DISTINCT r.location_id, r.author_id FROM changed r
    WHERE r.location_id IS NOT NULL AND r.visibility = 'PUBLIC') c;
  IF places IS NOT NULL THEN PERFORM end_visits(places, people); END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION visit_removed IS 'Removes the visits of deleted posts.';
CALL watch('post', '{removed}', 'visit_removed');

CREATE OR REPLACE FUNCTION visit_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.location_id IS NOT NULL AND NEW.visibility = 'PUBLIC' THEN
    INSERT INTO visit AS v (location_id, user_id, visited_at)
    VALUES (NEW.location_id, NEW.author_id, NEW.created_at)
    ON CONFLICT (location_id, user_id)
      DO UPDATE SET visited_at = greatest(v.visited_at, EXCLUDED.visited_at);
  END IF;
  IF OLD.location_id IS NOT NULL AND OLD.visibility = 'PUBLIC' THEN
    PERFORM end_visits(ARRAY[OLD.location_id], ARRAY[OLD.author_id]);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION visit_moved IS 'Moves a visit with a post that gets another location, author, time, or visibility.';
CREATE OR REPLACE TRIGGER visit_moved
  AFTER UPDATE OF location_id, visibility, author_id, created_at ON post FOR EACH ROW
  WHEN ((OLD.location_id, OLD.visibility, OLD.author_id, OLD.created_at)
    IS DISTINCT FROM (NEW.location_id, NEW.visibility, NEW.author_id, NEW.created_at))
  EXECUTE FUNCTION visit_moved();

CREATE OR REPLACE FUNCTION verify_copies() RETURNS TABLE (table_name text, id bigint, other_id bigint)
LANGUAGE sql STABLE AS $$
  SELECT 'follow', f.follower_id, f.followee_id
  FROM follow f JOIN app_user u ON u.id = f.follower_id WHERE f.follower_name <> u.name_key
  UNION ALL
  SELECT 'circle_member', m.circle_id, m.user_id
  FROM circle_member m JOIN app_user u ON u.id = m.user_id WHERE m.name_key <> u.name_key
  UNION ALL
  SELECT 'visit', coalesce(v.location_id, p.location_id), coalesce(v.user_id, p.author_id)
  FROM visit v FULL JOIN (
      SELECT o.location_id, o.author_id, max(o.created_at) AS latest FROM post o
      WHERE o.location_id IS NOT NULL AND o.visibility = 'PUBLIC'
      GROUP BY o.location_id, o.author_id) p
    ON p.location_id = v.location_id AND p.author_id = v.user_id
  WHERE v.visited_at IS DISTINCT FROM p.latest
  ORDER BY 1, 2, 3
$$;
COMMENT ON FUNCTION verify_copies IS
  'Returns the rows that differ from what they copy: the names of followers and members, and visits. Empty unless a '
  'trigger is wrong.';

CREATE OR REPLACE FUNCTION visited_place(viewer bigint, part text) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT p.location_id
  FROM visible_post(viewer) p JOIN network(viewer, part) n ON n.id = p.author_id
  WHERE p.location_id IS NOT NULL
$$;
COMMENT ON FUNCTION visited_place IS
  'Returns the places where users in this part of the network posted, some more than once.';

CREATE OR REPLACE FUNCTION topped_place(viewer bigint, part text) RETURNS TABLE (id bigint)
LANGUAGE sql STABLE AS $$
  SELECT r.subject_id FROM reaction r JOIN network(viewer, part) n ON n.id = r.user_id
  WHERE r.kind = 'TOP' AND is_location(r.subject_id)
$$;
COMMENT ON FUNCTION topped_place IS
  'Returns the places that users in this part of the network topped, some more than once.';

CREATE OR REPLACE FUNCTION line_below(parent bigint, height location_level) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE above location;
BEGIN
  IF parent IS NULL THEN RETURN '{}'; END IF;
  SELECT l.* INTO above FROM location l WHERE l.id = parent FOR SHARE;
  IF above.level >= height THEN
    RAISE EXCEPTION 'the parent of a location must stand on a higher level'
      USING ERRCODE = 'check_violation', TABLE = 'location', COLUMN = 'parent_id';
  END IF;
  -- without a parent row the foreign key fails
  RETURN coalesce(above.ancestor_ids, '{}') || parent;
END $$;
COMMENT ON FUNCTION line_below IS
  'Returns the ancestors of a location of this level under this parent. The parent must be on a higher level, which '
  'rules out cycles. Locks the parent.';

CREATE OR REPLACE FUNCTION place_location() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.ancestor_ids := line_below(NEW.parent_id, NEW.level);
  RETURN NEW;
END $$;
COMMENT ON FUNCTION place_location IS 'Sets the ancestors of a new location from its parent.';
CREATE OR REPLACE TRIGGER place BEFORE INSERT ON location
  FOR EACH ROW EXECUTE FUNCTION place_location();

-- Not before the update: a trigger there has every row locked first that is updated, for its counts too.
CREATE OR REPLACE FUNCTION move_descendants() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE line bigint[] := line_below(NEW.parent_id, NEW.level);
BEGIN
  IF NEW.level > OLD.level AND EXISTS (
      SELECT FROM location l WHERE l.parent_id = NEW.id AND l.level <= NEW.level) THEN
    RAISE EXCEPTION 'a location must stand on a higher level than those inside it'
      USING ERRCODE = 'check_violation', TABLE = 'location', COLUMN = 'level';
  END IF;
  IF line = NEW.ancestor_ids THEN RETURN NULL; END IF;
  UPDATE location l SET ancestor_ids = line WHERE l.id = NEW.id;
  PERFORM FROM location l WHERE l.ancestor_ids @> ARRAY[NEW.id] ORDER BY l.id FOR NO KEY UPDATE;
  UPDATE location l
  SET ancestor_ids = line || l.ancestor_ids[array_position(l.ancestor_ids, NEW.id):]
  WHERE l.ancestor_ids @> ARRAY[NEW.id];
  RETURN NULL;
END $$;
COMMENT ON FUNCTION move_descendants IS
  'Updates the ancestors of a location that gets another parent, and those of its descendants.';
CREATE OR REPLACE TRIGGER move_descendants AFTER UPDATE OF parent_id, level ON location FOR EACH ROW
  WHEN (OLD.parent_id IS DISTINCT FROM NEW.parent_id OR OLD.level <> NEW.level)
  EXECUTE FUNCTION move_descendants();

CREATE OR REPLACE FUNCTION city_at(latitude float8, longitude float8) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT c.id FROM location c
    WHERE c.level = 'CITY' AND c.latitude IS NOT NULL
      AND (point(c.longitude, c.latitude) <@ near_box(city_at.latitude, city_at.longitude, 50000)
        OR point(c.longitude, c.latitude) <@ date_line_box(city_at.latitude, city_at.longitude, 50000))
      AND great_circle(c.latitude, c.longitude, city_at.latitude, city_at.longitude) <= 50000
    ORDER BY great_circle(c.latitude, c.longitude, city_at.latitude, city_at.longitude), c.id LIMIT 1);
END $$;
COMMENT ON FUNCTION city_at IS
  'Returns the nearest city within 50 km of a point. Null if there is none. Borders are unknown, so near one it may be '
  'the neighbor''s.';

CREATE OR REPLACE FUNCTION place_refusals(input jsonb, height location_level, is_new boolean, VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  place jsonb := nullif(input -> 'coordinates', 'null');
  above bigint := (input ->> 'parentId')::bigint;
  refusals jsonb := '[]';
BEGIN
  IF is_new OR input ? 'name' THEN
    refusals := name_refusals(input ->> 'name', true, 200, VARIADIC path || 'name'::text);
  END IF;
  IF place IS NULL THEN
    IF height = 'PLACE' AND (is_new OR input ? 'coordinates') THEN
      refusals := refusals || worded(refusal('REQUIRED', VARIADIC path || 'coordinates'::text), 'POINT');
    END IF;
  ELSIF NOT (abs((place ->> 'latitude')::float8) <= 90 AND abs((place ->> 'longitude')::float8) <= 180) THEN
    refusals := refusals || worded(refusal('INVALID', VARIADIC path || 'coordinates'::text), 'COORDINATES');
  END IF;
  IF height <> 'PLACE' AND input ->> 'placeType' IS NOT NULL THEN
    refusals := refusals || worded(refusal('INVALID', VARIADIC path || 'placeType'::text), 'PLACE_TYPE');
  END IF;
  refusals := refusals || text_refusals(words(input ->> 'gmapsId'), false, 300, VARIADIC path || 'gmapsId'::text);
  IF above IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM location l WHERE l.id = above) THEN
      refusals := refusals || refusal('NOT_FOUND', VARIADIC path || 'parentId'::text);
    ELSIF NOT EXISTS (SELECT FROM location l WHERE l.id = above AND l.level < height) THEN
      refusals := refusals || worded(refusal('INVALID', VARIADIC path || 'parentId'::text), 'PARENT_LEVEL');
    END IF;
  END IF;
  RETURN refusals;
END $$;
COMMENT ON FUNCTION place_refusals IS
  'Returns the errors of the input for a location of this level: for a new one of everything, otherwise of what is '
  'given.';

CREATE OR REPLACE FUNCTION add_location(viewer bigint, input jsonb, VARIADIC path text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  height text := coalesce(input ->> 'level', 'PLACE');
  place jsonb := nullif(input -> 'coordinates', 'null');
  maps text := words(input ->> 'gmapsId');
  known bigint;
  refusals jsonb := '[]';
BEGIN
  IF maps IS NOT NULL THEN
    SELECT l.id INTO known FROM location l WHERE l.gmaps_id = maps;
    IF FOUND THEN RETURN known; END IF;
  END IF;
  IF height <> 'PLACE' AND NOT has_role(viewer, 'STAFF') THEN
    refusals := refusals || refusal('FORBIDDEN', VARIADIC path || 'level'::text);
  END IF;
  PERFORM refuse_all(refusals || place_refusals(input, height::location_level, true, VARIADIC path));
  IF height = 'PLACE' THEN
    -- of two who add it at once, the second finds that of the first
    PERFORM pg_advisory_xact_lock(hashtextextended('place ' || folded(words(input ->> 'name')), 0));
    known := same_place(input ->> 'name', (place ->> 'latitude')::float8, (place ->> 'longitude')::float8, maps);
    IF known IS NOT NULL THEN RETURN known; END IF;
  END IF;
  INSERT INTO location (name, name_key, level, place_type, gmaps_id, parent_id, latitude, longitude, created_by_id)
  VALUES (words(input ->> 'name'), folded(words(input ->> 'name')), height::location_level,
    input ->> 'placeType', maps, coalesce((input ->> 'parentId')::bigint, CASE WHEN height = 'PLACE'
      THEN city_at((place ->> 'latitude')::float8, (place ->> 'longitude')::float8) END),
    (place ->> 'latitude')::float8, (place ->> 'longitude')::float8, viewer)
  ON CONFLICT (gmaps_id) DO NOTHING RETURNING id INTO known;
  IF known IS NULL THEN SELECT l.id INTO known FROM location l WHERE l.gmaps_id = maps; END IF;
  RETURN known;
END $$;
COMMENT ON FUNCTION add_location IS
  'Adds a location, or returns the one with the same Google Maps ID, or the same place.';

CREATE OR REPLACE FUNCTION same_place(name text, latitude float8, longitude float8, maps text) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT l.id FROM location l
    WHERE l.name_key = folded(words(same_place.name)) AND l.level = 'PLACE' AND l.latitude IS NOT NULL
      AND great_circle(l.latitude, l.longitude, same_place.latitude, same_place.longitude) <= 50
      -- where Google Maps knows two, there are two
      AND (maps IS NULL OR l.gmaps_id IS NULL)
    ORDER BY great_circle(l.latitude, l.longitude, same_place.latitude, same_place.longitude), l.id LIMIT 1);
END $$;
COMMENT ON FUNCTION same_place IS
  'Returns the nearest place within 50 m with the same folded name. Null if there is none.';

CREATE OR REPLACE FUNCTION use_location(viewer bigint, ref jsonb, VARIADIC path text[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE known bigint;
BEGIN
  IF ref IS NULL OR ref = 'null' THEN RETURN NULL; END IF;
  IF ref ? 'new' THEN
    RETURN add_location(viewer, ref -> 'new', VARIADIC path || 'new'::text);
  ELSIF ref ? 'id' THEN
    SELECT l.id INTO known FROM location l WHERE l.id = (ref ->> 'id')::bigint;
    IF known IS NULL THEN PERFORM refuse('NOT_FOUND', VARIADIC path || 'id'::text); END IF;
  ELSE
    SELECT l.id INTO known FROM location l WHERE l.gmaps_id = ref ->> 'gmapsId';
    IF known IS NULL THEN PERFORM refuse('NOT_FOUND', VARIADIC path || 'gmapsId'::text); END IF;
  END IF;
  RETURN known;
END $$;
COMMENT ON FUNCTION use_location IS
  'Returns the ID of the location that a LocationInput refers to, adding it if it is new. Null without a reference.';

CREATE OR REPLACE FUNCTION create_location(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  RETURN add_location(viewer, input, 'input');
END $$;
COMMENT ON FUNCTION create_location IS 'Implements Mutation.createLocation.';

CREATE OR REPLACE FUNCTION location_refusals(ids bigint[], VARIADIC path text[])
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN list_refusals(ids, false, 100, VARIADIC path) || (
    SELECT coalesce(jsonb_agg(refusal('NOT_FOUND', VARIADIC path || (e.place - 1)::text)
      ORDER BY e.place), '[]'::jsonb)
    FROM unnest(ids) WITH ORDINALITY AS e(id, place)
    WHERE NOT EXISTS (SELECT FROM location l WHERE l.id = e.id));
END $$;
COMMENT ON FUNCTION location_refusals IS 'Returns the errors of a list of locations: too many, or unknown ones.';

CREATE OR REPLACE FUNCTION location_uses(place bigint, besides bigint DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT count(*) FROM (
    SELECT p.author_id AS person FROM post p WHERE p.location_id = place
    UNION ALL SELECT p.author_id FROM event_venue v JOIN post p ON p.id = v.event_id WHERE v.location_id = place
    UNION ALL SELECT p.author_id FROM card_offer_region r JOIN post p ON p.id = r.post_id
      WHERE r.location_id = place
    UNION ALL SELECT r.user_id FROM reaction r WHERE r.subject_id = place
    UNION ALL SELECT c.author_id FROM comment c WHERE c.subject_id = place
    UNION ALL SELECT u.id FROM app_user u WHERE u.home_id = place
    UNION ALL SELECT s.user_id FROM user_ships_to s WHERE s.location_id = place
    UNION ALL SELECT NULL FROM program g WHERE g.location_id = place
    UNION ALL SELECT l.created_by_id FROM location l WHERE l.parent_id = place) u
  WHERE besides IS NULL OR u.person IS DISTINCT FROM besides);
END $$;
COMMENT ON FUNCTION location_uses IS 'Returns the number of things that refer to a location, without those of a user.';

CREATE OR REPLACE FUNCTION ruled_location(viewer bigint, target bigint, above bigint DEFAULT NULL) RETURNS location
LANGUAGE plpgsql AS $$
DECLARE chosen location;
BEGIN
  PERFORM require_viewer(viewer);
  -- Who moves a location holds what it is moved to, and what lies in it. Nobody moves another meanwhile.
  IF above IS NOT NULL THEN PERFORM pg_advisory_xact_lock(hashtextextended('location tree', 0)); END IF;
  PERFORM FROM location l WHERE l.id IN (target, above) OR above IS NOT NULL AND l.ancestor_ids @> ARRAY[target]
  ORDER BY l.id FOR UPDATE;
  SELECT l.* INTO chosen FROM location l WHERE l.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'locationId'); END IF;
  IF NOT has_role(viewer, 'STAFF') AND (chosen.created_by_id IS DISTINCT FROM viewer
      OR chosen.created_at <= now() - interval '24 hours' OR location_uses(target, viewer) > 0) THEN
    PERFORM refuse('FORBIDDEN', 'locationId');
  END IF;
  RETURN chosen;
END $$;
COMMENT ON FUNCTION ruled_location IS
  'Returns a location that the viewer may change, locked: any for staff, and for a day what the viewer added and '
  'nobody else uses. Refuses any other. above: the location it is to lie in, or 0 for none, if that changes.';

CREATE OR REPLACE FUNCTION update_location(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  place jsonb := nullif(input -> 'coordinates', 'null');
  maps text := words(input ->> 'gmapsId');
  old location := ruled_location(viewer, target,
    CASE WHEN input ? 'parentId' THEN coalesce((input ->> 'parentId')::bigint, 0) END);
  refusals jsonb := place_refusals(input, old.level, false, 'input');
BEGIN
  IF EXISTS (SELECT FROM location l WHERE l.gmaps_id = maps AND l.id <> target) THEN
    refusals := refusals || refusal('TAKEN', 'input', 'gmapsId');
  END IF;
  PERFORM refuse_all(refusals);
  UPDATE location l SET
    name = CASE WHEN input ? 'name' THEN words(input ->> 'name') ELSE l.name END,
    name_key = CASE WHEN input ? 'name' THEN folded(words(input ->> 'name')) ELSE l.name_key END,
    latitude = CASE WHEN input ? 'coordinates' THEN (place ->> 'latitude')::float8 ELSE l.latitude END,
    longitude = CASE WHEN input ? 'coordinates' THEN (place ->> 'longitude')::float8 ELSE l.longitude END,
    place_type = CASE WHEN input ? 'placeType' THEN input ->> 'placeType' ELSE l.place_type END,
    gmaps_id = CASE WHEN input ? 'gmapsId' THEN maps ELSE l.gmaps_id END,
    parent_id = CASE WHEN input ? 'parentId' THEN (input ->> 'parentId')::bigint ELSE l.parent_id END
  WHERE l.id = target;
  RETURN target;
END $$;
COMMENT ON FUNCTION update_location IS
  'Implements Mutation.updateLocation. Omitted fields keep their value, null clears those that are optional.';

CREATE OR REPLACE FUNCTION delete_location(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  old location := ruled_location(viewer, target);
  uses bigint := location_uses(target);
BEGIN
  IF uses > 0 THEN
    PERFORM refuse_as(worded(refusal('IN_USE', 'locationId'), 'LOCATION_USED', jsonb_build_object('count', uses)));
  END IF;
  DELETE FROM location l WHERE l.id = old.id;
  RETURN target;
END $$;
COMMENT ON FUNCTION delete_location IS 'Implements Mutation.deleteLocation, for a location that nothing refers to.';

CREATE OR REPLACE FUNCTION move_said(old bigint, new bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  said bigint[] := ARRAY(SELECT c.id FROM comment c WHERE c.subject_id = old ORDER BY c.id FOR NO KEY UPDATE);
  tops int;
BEGIN
  DELETE FROM reaction r WHERE r.subject_id = old AND EXISTS (
    SELECT FROM reaction o WHERE o.subject_id = new AND o.user_id = r.user_id AND o.kind = r.kind);
  DELETE FROM flag f WHERE f.subject_id = old AND EXISTS (
    SELECT FROM flag o WHERE o.subject_id = new AND o.user_id = f.user_id);
  -- keep_subject lets it pass
  PERFORM set_config('sociograph.moving', 'on', true);
  UPDATE reaction r SET subject_id = new WHERE r.subject_id = old;
  GET DIAGNOSTICS tops = ROW_COUNT;
  UPDATE comment c SET subject_id = new WHERE c.id = ANY (said);
  UPDATE flag f SET subject_id = new WHERE f.subject_id = old;
  PERFORM set_config('sociograph.moving', 'off', true);
  PERFORM add_to_location(ARRAY[old, new], top_count => ARRAY[-tops, tops],
    comment_count => ARRAY[-cardinality(said), cardinality(said)]);
  PERFORM FROM notification n WHERE n.about_id = old OR n.about_id = ANY (said) ORDER BY n.id FOR UPDATE;
  UPDATE notification n SET about_id = new, destination = node_link(new) WHERE n.about_id = old;
  UPDATE notification n SET destination = comment_link(n.about_id) WHERE n.about_id = ANY (said);
END $$;
COMMENT ON FUNCTION move_said IS
  'Moves reactions, reviews, flags, and notifications from one location to another. One reaction of each user stays.';

CREATE OR REPLACE FUNCTION merge_locations(viewer bigint, target bigint, duplicate bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  old location;
  new location;
BEGIN
  PERFORM require_role(viewer, 'STAFF');
  PERFORM pg_advisory_xact_lock(hashtextextended('location tree', 0));
  PERFORM FROM post p WHERE p.location_id = duplicate
    OR p.id IN (SELECT v.event_id FROM event_venue v WHERE v.location_id = duplicate)
    OR p.id IN (SELECT r.post_id FROM card_offer_region r WHERE r.location_id = duplicate)
  ORDER BY p.id FOR NO KEY UPDATE;
  -- the viewer, too, whom the audit names
  PERFORM FROM app_user u WHERE u.id = viewer OR u.home_id = duplicate
    OR u.id IN (SELECT s.user_id FROM user_ships_to s WHERE s.location_id = duplicate)
  ORDER BY u.id FOR NO KEY UPDATE;
  PERFORM FROM location l WHERE l.id IN (target, duplicate) OR l.ancestor_ids @> ARRAY[duplicate]
  ORDER BY l.id FOR UPDATE;
  PERFORM FROM comment c WHERE c.subject_id = duplicate ORDER BY c.id FOR NO KEY UPDATE;
  SELECT l.* INTO new FROM location l WHERE l.id = target;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'locationId'); END IF;
  SELECT l.* INTO old FROM location l WHERE l.id = duplicate;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'duplicateId'); END IF;
  IF target = duplicate THEN PERFORM refuse_as(worded(refusal('INVALID', 'duplicateId'), 'SAME_LOCATION')); END IF;
  IF old.level <> new.level THEN PERFORM refuse_as(worded(refusal('INVALID', 'duplicateId'), 'OTHER_LEVEL')); END IF;
  UPDATE post p SET location_id = target WHERE p.location_id = duplicate;
  DELETE FROM event_venue v WHERE v.location_id = duplicate AND EXISTS (
    SELECT FROM event_venue o WHERE o.event_id = v.event_id AND o.location_id = target);
  UPDATE event_venue v SET location_id = target WHERE v.location_id = duplicate;
  DELETE FROM card_offer_region r WHERE r.location_id = duplicate AND EXISTS (
    SELECT FROM card_offer_region o WHERE o.post_id = r.post_id AND o.location_id = target);
  UPDATE card_offer_region r SET location_id = target WHERE r.location_id = duplicate;
  UPDATE program g SET location_id = target WHERE g.location_id = duplicate;
  PERFORM move_said(duplicate, target);
  UPDATE location l SET parent_id = target WHERE l.parent_id = duplicate;
  UPDATE app_user u SET home_id = target WHERE u.home_id = duplicate;
  DELETE FROM user_ships_to s WHERE s.location_id = duplicate AND EXISTS (
    SELECT FROM user_ships_to o WHERE o.user_id = s.user_id AND o.location_id = target);
  UPDATE user_ships_to s SET location_id = target WHERE s.location_id = duplicate;
  DELETE FROM location l WHERE l.id = duplicate;
  UPDATE location l SET gmaps_id = coalesce(l.gmaps_id, old.gmaps_id),
    place_type = coalesce(l.place_type, old.place_type), latitude = coalesce(l.latitude, old.latitude),
    longitude = coalesce(l.longitude, old.longitude)
  WHERE l.id = target AND (l.gmaps_id IS NULL AND old.gmaps_id IS NOT NULL
    OR l.place_type IS NULL AND old.place_type IS NOT NULL OR l.latitude IS NULL AND old.latitude IS NOT NULL);
  PERFORM audit(viewer, 'MERGE_LOCATIONS', target, wire_id(duplicate));
  RETURN target;
END $$;
COMMENT ON FUNCTION merge_locations IS
  'Implements Mutation.mergeLocations, for staff: everything that refers to the duplicate refers to the location '
  'afterwards, and the duplicate is deleted. It gets the data that it lacks from the duplicate.';
