-- What people record of themselves: tracks and results of tests.

CALL node('activity_track', 43, owner => 'user_id', exported => 'activityTracks');
CALL node('test_result', 44, owner => 'user_id', is_told => false);
CALL tell('test_result', 'test_result', 'id', '{user_id}');
CALL told('test_result', 'test_result', '{id}', is_node => true, only_columns => true);
CALL exported('testResults', $$
  SELECT jsonb_build_object('id', wire_id(r.id), 'test', r.test, 'value', r.value,
    'recordedAt', wire_time(r.recorded_at))
  FROM test_result r WHERE r.user_id = $1
  ORDER BY r.recorded_at$$);

CREATE OR REPLACE FUNCTION visible_activity_track(viewer bigint) RETURNS SETOF activity_track
LANGUAGE sql STABLE AS $$
  SELECT t.* FROM activity_track t WHERE t.user_id = viewer
$$;
COMMENT ON FUNCTION visible_activity_track IS 'Returns the activity tracks of the viewer.';

CREATE OR REPLACE FUNCTION track_point(path jsonb)
RETURNS TABLE (reached_at timestamptz, latitude float8, longitude float8, "position" bigint)
LANGUAGE sql STABLE AS $$
  SELECT (p.point ->> 'at')::timestamptz, (p.point ->> 'latitude')::float8,
    (p.point ->> 'longitude')::float8, p.position
  FROM jsonb_array_elements(path) WITH ORDINALITY p(point, position)
$$;
COMMENT ON FUNCTION track_point IS 'Returns the points of a recorded track, in order.';

CREATE OR REPLACE FUNCTION path_refusals(way jsonb, VARIADIC path text[]) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT coalesce(jsonb_agg(refusal('INVALID', VARIADIC path || (p.place - 1)::text) ORDER BY p.place), '[]')
    FROM (
      SELECT e.place, (e.point ->> 'at')::timestamptz AS reached,
        lag((e.point ->> 'at')::timestamptz) OVER (ORDER BY e.place) AS before,
        (e.point #>> '{coordinates,latitude}')::float8 AS latitude,
        (e.point #>> '{coordinates,longitude}')::float8 AS longitude
      FROM jsonb_array_elements(way) WITH ORDINALITY AS e(point, place)) p
    WHERE p.reached < p.before OR NOT (abs(p.latitude) <= 90 AND abs(p.longitude) <= 180));
END $$;
COMMENT ON FUNCTION path_refusals IS
  'Returns the errors of the points of a path: those before the preceding one, and those outside of the Earth.';

CREATE OR REPLACE FUNCTION kept_path(way jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object('at', e.point -> 'at',
      'latitude', e.point #> '{coordinates,latitude}', 'longitude', e.point #> '{coordinates,longitude}')
      ORDER BY e.place), '[]')
    FROM jsonb_array_elements(way) WITH ORDINALITY AS e(point, place));
END $$;
COMMENT ON FUNCTION kept_path IS 'Returns the points of an input as a track keeps them.';

CREATE OR REPLACE FUNCTION track_length(way jsonb) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT coalesce(sum(p.step), 0) FROM (
    SELECT great_circle((e.point ->> 'latitude')::float8, (e.point ->> 'longitude')::float8,
      lag((e.point ->> 'latitude')::float8) OVER w, lag((e.point ->> 'longitude')::float8) OVER w) AS step
    FROM jsonb_array_elements(way) WITH ORDINALITY AS e(point, place) WINDOW w AS (ORDER BY e.place)) p);
END $$;
COMMENT ON FUNCTION track_length IS 'Returns the length of a path of a track, in meters.';

CREATE OR REPLACE FUNCTION create_activity_track(viewer bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  made bigint;
  begins timestamptz := (input ->> 'startedAt')::timestamptz;
  ends timestamptz := (input ->> 'endedAt')::timestamptz;
  way jsonb := input -> 'path';
  refusals jsonb := name_refusals(input ->> 'title', false, 200, 'input', 'title');
BEGIN
  PERFORM require_viewer(viewer);
  IF ends < begins THEN
    refusals := refusals || worded(refusal('INVALID', 'input', 'endedAt'), 'ENDS_BEFORE_START');
  END IF;
  PERFORM refuse_longer(jsonb_array_length(way), 20000, 'MANY_POINTS', 'input', 'path');
  PERFORM refuse_all(refusals);
  PERFORM refuse_all(path_refusals(way, 'input', 'path'));
  way := kept_path(way);
  INSERT INTO activity_track (user_id, title, started_at, ended_at, distance, path)
  VALUES (viewer, coalesce(words(input ->> 'title'), track_title(viewer, begins)), begins, ends, track_length(way), way)
  RETURNING id INTO made;
  RETURN made;
END $$;
COMMENT ON FUNCTION create_activity_track IS
  'Implements Mutation.createActivityTrack. The distance is measured along the path.';

CREATE OR REPLACE FUNCTION delete_activity_track(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  DELETE FROM activity_track t WHERE t.id = target AND t.user_id = viewer;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'activityTrackId'); END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION delete_activity_track IS 'Implements Mutation.deleteActivityTrack.';

CREATE OR REPLACE FUNCTION result_refusals(test text, measured float8, VARIADIC path text[]) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN NOT (measured >= 0 AND measured < 1e9)
      THEN jsonb_build_array(limited(worded(refusal('INVALID', VARIADIC path), 'NOT_NEGATIVE'), 0, NULL))
    WHEN test IN ('PUSH_UPS_PER_MINUTE', 'SIT_UPS_PER_MINUTE') AND measured <> floor(measured)
      THEN jsonb_build_array(worded(refusal('INVALID', VARIADIC path), 'WHOLE_NUMBER'))
    ELSE '[]' END;
END $$;
COMMENT ON FUNCTION result_refusals IS 'Returns the errors of a result in a fitness test.';

CREATE OR REPLACE FUNCTION record_test_results(viewer bigint, results jsonb)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  entry record;
  refusals jsonb := '[]';
BEGIN
  PERFORM require_viewer(viewer);
  IF results = '[]' THEN PERFORM refuse_as(worded(refusal('REQUIRED', 'results'), 'CHOOSE')); END IF;
  PERFORM refuse_longer(jsonb_array_length(results), 20, 'MOST', 'results');
  FOR entry IN
    SELECT e.result ->> 'test' AS test, (e.result ->> 'value')::float8 AS value, (e.place - 1)::text AS place,
      count(*) OVER (PARTITION BY e.result ->> 'test' ORDER BY e.place) > 1 AS is_again
    FROM jsonb_array_elements(results) WITH ORDINALITY AS e(result, place) ORDER BY e.place
  LOOP
    refusals := refusals || CASE WHEN entry.is_again
        THEN jsonb_build_array(worded(refusal('INVALID', 'results', entry.place, 'test'), 'TWICE')) ELSE '[]' END
      || result_refusals(entry.test, entry.value, 'results', entry.place, 'value');
  END LOOP;
  PERFORM refuse_all(refusals);
  INSERT INTO test_result (user_id, test, value, recorded_at)
  SELECT viewer, e.result ->> 'test', (e.result ->> 'value')::float8, clock_timestamp()
  FROM jsonb_array_elements(results) AS e(result);
END $$;
COMMENT ON FUNCTION record_test_results IS 'Implements Mutation.recordTestResults: all of them, or none.';

CREATE OR REPLACE FUNCTION record_test_result(viewer bigint, arguments jsonb)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE measured float8 := (arguments ->> 'value')::float8;
BEGIN
  PERFORM require_viewer(viewer);
  PERFORM refuse_all(result_refusals(arguments ->> 'test', measured, 'value'));
  INSERT INTO test_result (user_id, test, value, recorded_at)
  VALUES (viewer, arguments ->> 'test', measured, clock_timestamp());
END $$;
COMMENT ON FUNCTION record_test_result IS 'Implements Mutation.recordTestResult.';

CREATE OR REPLACE FUNCTION track_title(viewer bigint, begins timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN to_char(begins AT TIME ZONE coalesce((SELECT s.time_zone FROM user_setting s WHERE s.user_id = viewer), 'UTC'),
    'YYYY-MM-DD HH24:MI');
END $$;
COMMENT ON FUNCTION track_title IS
  'Returns the title of a track that its owner gave none: when it began, in the owner''s time zone.';

CREATE OR REPLACE FUNCTION update_activity_track(viewer bigint, target bigint, input jsonb)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  old activity_track;
  ends timestamptz;
  way jsonb := coalesce(nullif(input -> 'morePath', 'null'), '[]');
BEGIN
  PERFORM require_viewer(viewer);
  SELECT t.* INTO old FROM activity_track t WHERE t.id = target AND t.user_id = viewer FOR NO KEY UPDATE;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'activityTrackId'); END IF;
  ends := coalesce((input ->> 'endedAt')::timestamptz, old.ended_at);
  PERFORM refuse_longer(jsonb_array_length(way), 20000, 'MANY_POINTS', 'input', 'morePath');
  PERFORM refuse_all(name_refusals(input ->> 'title', false, 200, 'input', 'title')
    || null_refusals(input, 'endedAt')
    || CASE WHEN ends < old.started_at
      THEN jsonb_build_array(worded(refusal('INVALID', 'input', 'endedAt'), 'ENDS_BEFORE_START')) ELSE '[]' END
    || path_refusals(way, 'input', 'morePath'));
  IF way <> '[]' OR ends <> old.ended_at THEN
    -- a request that is repeated adds nothing
    way := old.path || kept_path((SELECT coalesce(jsonb_agg(e.point ORDER BY e.place), '[]')
      FROM jsonb_array_elements(way) WITH ORDINALITY AS e(point, place)
      WHERE old.path = '[]' OR (e.point ->> 'at')::timestamptz > (old.path -> -1 ->> 'at')::timestamptz));
    PERFORM refuse_longer(jsonb_array_length(way), 20000, 'MANY_POINTS', 'input', 'morePath');
    UPDATE activity_track t SET ended_at = ends, path = way, distance = track_length(way) WHERE t.id = target;
  END IF;
  IF input ? 'title' THEN
    UPDATE activity_track t SET title = coalesce(words(input ->> 'title'), track_title(viewer, t.started_at))
    WHERE t.id = target;
  END IF;
  RETURN target;
END $$;
COMMENT ON FUNCTION update_activity_track IS
  'Implements Mutation.updateActivityTrack, for the viewer''s own tracks. A track without a title gets that of its '
  'time. Adds points that come after those that are there.';

CREATE OR REPLACE FUNCTION visible_test_result(viewer bigint) RETURNS SETOF test_result
LANGUAGE sql STABLE AS $$
  SELECT r.* FROM test_result r WHERE r.user_id = viewer
$$;
COMMENT ON FUNCTION visible_test_result IS 'Returns the test results of the viewer.';

CREATE OR REPLACE FUNCTION current_test_result(viewer bigint) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT r.id FROM (SELECT DISTINCT ON (t.test) t.id FROM test_result t WHERE t.user_id = viewer
    ORDER BY t.test, t.recorded_at DESC) r
$$;
COMMENT ON FUNCTION current_test_result IS 'Returns the latest result of the viewer in each fitness test.';

CREATE OR REPLACE FUNCTION delete_test_result(viewer bigint, target bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM require_viewer(viewer);
  DELETE FROM test_result r WHERE r.id = target AND r.user_id = viewer;
  IF NOT FOUND THEN PERFORM refuse('NOT_FOUND', 'testResultId'); END IF;
  RETURN viewer;
END $$;
COMMENT ON FUNCTION delete_test_result IS
  'Implements Mutation.deleteTestResult. The result before it is the current one again.';
