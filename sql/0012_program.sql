-- Training: programs, the times they are held, who has a seat.

-- A row: something trainers teach.
CREATE TABLE program (
  id bigint PRIMARY KEY DEFAULT new_node(40) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 40),
  title text NOT NULL,
  description text NOT NULL DEFAULT '',
  training text NOT NULL CHECK (training IN ('PERSONAL', 'SPORTS', 'GROUP')),
  location_id bigint REFERENCES location ON DELETE SET NULL,
  duration_minutes int NOT NULL CHECK (duration_minutes > 0));
-- programs(training:)
CREATE INDEX ON program (training, title, id);
-- deleting a location
CREATE INDEX ON program (location_id) WHERE location_id IS NOT NULL;

-- A row: the trainer teaches the program.
CREATE TABLE program_trainer (
  program_id bigint REFERENCES program ON DELETE CASCADE,
  trainer_id bigint REFERENCES app_user ON DELETE CASCADE,
  PRIMARY KEY (program_id, trainer_id));      -- Program.trainers
-- TrainerProfile.programs
CREATE INDEX ON program_trainer (trainer_id, program_id);

-- A row: one time a program is held; while seats are left it is a free time of its trainer. A
-- trainer may offer times that overlap, but hold only one of them once somebody has booked.
CREATE TABLE class_session (
  id bigint PRIMARY KEY DEFAULT new_node(41) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 41),
  program_id bigint NOT NULL,
  trainer_id bigint NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
  capacity int NOT NULL CHECK (capacity > 0),
  booked_count int NOT NULL DEFAULT 0 CHECK (booked_count BETWEEN 0 AND capacity),
  FOREIGN KEY (program_id, trainer_id) REFERENCES program_trainer ON DELETE CASCADE,
  UNIQUE (program_id, trainer_id, starts_at),   -- scheduleSessions
  EXCLUDE USING gist (int8range(trainer_id, trainer_id, '[]') WITH &&,
    tstzrange(starts_at, ends_at) WITH &&) WHERE (booked_count > 0));
-- schedule
CREATE INDEX ON class_session (starts_at, id);
-- TrainerProfile.sessions
CREATE INDEX ON class_session (trainer_id, starts_at, id);
-- Program.sessions
CREATE INDEX ON class_session (program_id, starts_at, id);

-- A row: a seat the user took, and perhaps gave back.
CREATE TABLE booking (
  id bigint PRIMARY KEY DEFAULT new_node(42) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 42),
  session_id bigint NOT NULL REFERENCES class_session ON DELETE CASCADE,
  user_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  cancelled_at timestamptz);
-- bookSession: one seat each; ClassSession.viewerBooking
CREATE UNIQUE INDEX ON booking (session_id, user_id) WHERE cancelled_at IS NULL;
-- agenda, viewer.bookings
CREATE INDEX ON booking (user_id, session_id) WHERE cancelled_at IS NULL;
-- viewer.bookings(includeCancelled:); deleting an account, a session
CREATE INDEX ON booking (user_id, id);
CREATE INDEX ON booking (session_id);

CREATE TRIGGER drop_nodes AFTER DELETE ON program REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
CREATE TRIGGER drop_nodes AFTER DELETE ON class_session REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
CREATE TRIGGER drop_nodes AFTER DELETE ON booking REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
