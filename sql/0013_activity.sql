-- What people measure of themselves.

-- A row: one recorded run, ride or walk. path: [{"at", "latitude", "longitude"}, ...]
CREATE TABLE activity_track (
  id bigint PRIMARY KEY DEFAULT new_node(43) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 43),
  user_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  title text NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL CHECK (ended_at >= started_at),
  distance float8 NOT NULL CHECK (distance >= 0),
  path jsonb NOT NULL);
-- viewer.activityTracks
CREATE INDEX ON activity_track (user_id, started_at DESC, id DESC);

-- A row: a result of a fitness test; the latest of each test is the current one.
CREATE TABLE test_result (
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  test text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  value float8 NOT NULL CHECK (value >= 0),
  PRIMARY KEY (user_id, test, recorded_at));  -- viewer.testResults

CREATE TRIGGER drop_nodes AFTER DELETE ON activity_track REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
