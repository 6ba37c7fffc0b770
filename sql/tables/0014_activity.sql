-- What people measure of themselves.

CREATE TABLE activity_track (
  id bigint CONSTRAINT activity_track_id_primary PRIMARY KEY,
  user_id bigint NOT NULL
    CONSTRAINT activity_track_user_exists REFERENCES app_user ON DELETE CASCADE,
  title text NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL
    CONSTRAINT activity_track_ended_at_after CHECK (ended_at >= started_at),
  distance float8 NOT NULL CONSTRAINT activity_track_distance_range CHECK (distance >= 0),
  path jsonb NOT NULL);
COMMENT ON TABLE activity_track IS 'One recorded run, ride, or walk.';
COMMENT ON COLUMN activity_track.distance IS 'The distance in meters.';
COMMENT ON COLUMN activity_track.path IS 'The points of the path: [{"at", "latitude", "longitude"}, ...]';
COMMENT ON CONSTRAINT activity_track_ended_at_after ON activity_track IS 'endedAt: INVALID';
COMMENT ON CONSTRAINT activity_track_distance_range ON activity_track IS 'unreachable';
-- viewer.activityTracks
CREATE INDEX ON activity_track (user_id, started_at DESC, id DESC);

CREATE TABLE test_result (
  id bigint CONSTRAINT test_result_id_primary PRIMARY KEY,
  user_id bigint NOT NULL CONSTRAINT test_result_user_exists REFERENCES app_user ON DELETE CASCADE,
  test text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  value float8 NOT NULL CONSTRAINT test_result_value_range CHECK (value >= 0),
  -- viewer.testResults
  CONSTRAINT test_result_recorded_at_once UNIQUE (user_id, test, recorded_at));
COMMENT ON TABLE test_result IS 'One result of a fitness test. The latest of each test is current.';
COMMENT ON COLUMN test_result.test IS 'The name of the test, such as MILE_TIME.';
COMMENT ON COLUMN test_result.value IS 'The result in the unit of the test.';
COMMENT ON CONSTRAINT test_result_value_range ON test_result IS 'value: INVALID';
COMMENT ON CONSTRAINT test_result_recorded_at_once ON test_result IS 'unreachable';
-- viewer.testResultHistory
CREATE INDEX ON test_result (user_id, recorded_at DESC, id DESC);
