-- Training: programs, the times they are held, who has a seat.

CREATE TABLE program (
  id bigint CONSTRAINT program_id_primary PRIMARY KEY,
  title text NOT NULL,
  description text NOT NULL DEFAULT '',
  training text NOT NULL
    CONSTRAINT program_training_known CHECK (training IN ('PERSONAL', 'SPORTS', 'GROUP')),
  location_id bigint CONSTRAINT program_location_exists REFERENCES location ON DELETE SET NULL,
  duration_minutes int NOT NULL
    CONSTRAINT program_duration_positive CHECK (duration_minutes > 0),
  is_archived boolean NOT NULL DEFAULT false);
COMMENT ON TABLE program IS 'One training program that trainers teach.';
COMMENT ON COLUMN program.is_archived IS 'Whether the program is out of the lists.';
COMMENT ON CONSTRAINT program_training_known ON program IS 'unreachable';
COMMENT ON CONSTRAINT program_duration_positive ON program IS 'durationMinutes: INVALID';
-- programs(training:)
CREATE INDEX ON program (training, title, id);
-- deleting a location
CREATE INDEX ON program (location_id) WHERE location_id IS NOT NULL;

CREATE TABLE program_trainer (
  program_id bigint CONSTRAINT program_trainer_program_exists REFERENCES program ON DELETE CASCADE,
  trainer_id bigint CONSTRAINT program_trainer_trainer_exists REFERENCES app_user ON DELETE CASCADE,
  CONSTRAINT program_trainer_once PRIMARY KEY (program_id, trainer_id));   -- Program.trainers
COMMENT ON TABLE program_trainer IS 'One trainer of a program.';
-- TrainerProfile.programs
CREATE INDEX ON program_trainer (trainer_id, program_id);

CREATE TABLE class_session (
  id bigint CONSTRAINT class_session_id_primary PRIMARY KEY,
  program_id bigint NOT NULL,
  trainer_id bigint NOT NULL,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CONSTRAINT class_session_ends_at_after CHECK (ends_at > starts_at),
  capacity int NOT NULL CONSTRAINT class_session_capacity_positive CHECK (capacity > 0),
  booked_count int NOT NULL DEFAULT 0
    CONSTRAINT class_session_booked_count_range CHECK (booked_count BETWEEN 0 AND capacity),
  cancelled_at timestamptz,
  CONSTRAINT class_session_trainer_fits
    FOREIGN KEY (program_id, trainer_id) REFERENCES program_trainer ON DELETE CASCADE,
  -- scheduleClassSessions
  CONSTRAINT class_session_starts_at_once UNIQUE (program_id, trainer_id, starts_at),
  CONSTRAINT class_session_trainer_free
    EXCLUDE USING gist (int8range(trainer_id, trainer_id, '[]') WITH &&,
      tstzrange(starts_at, ends_at) WITH &&) WHERE (booked_count > 0));
COMMENT ON TABLE class_session IS
  'One scheduled session of a program, a free time of its trainer while seats are left. A trainer may offer '
  'overlapping sessions, but only one of them can be booked.';
COMMENT ON COLUMN class_session.trainer_id IS 'The trainer, one of those who teach the program.';
COMMENT ON COLUMN class_session.cancelled_at IS
  'The date and time when the session was canceled. Canceled sessions remain visible.';
COMMENT ON COLUMN class_session.program_id IS 'The program of the session.';
COMMENT ON COLUMN class_session.capacity IS 'The number of seats.';
COMMENT ON COLUMN class_session.booked_count IS
  'The number of booked seats. Raised by the statement that books, which checks the capacity, and lowered by trigger.';
COMMENT ON CONSTRAINT class_session_ends_at_after ON class_session IS 'startsAt: INVALID';
COMMENT ON CONSTRAINT class_session_capacity_positive ON class_session IS 'capacity: INVALID';
COMMENT ON CONSTRAINT class_session_booked_count_range ON class_session IS 'classSessionId: FULL';
COMMENT ON CONSTRAINT class_session_starts_at_once ON class_session IS 'startsAt: OVERLAP';
COMMENT ON CONSTRAINT class_session_trainer_free ON class_session IS 'classSessionId: OVERLAP';
-- schedule
CREATE INDEX ON class_session (starts_at, id);
-- TrainerProfile.classSessions
CREATE INDEX ON class_session (trainer_id, starts_at, id);
-- Program.classSessions
CREATE INDEX ON class_session (program_id, starts_at, id);
-- the same, and schedule, of one trainer
CREATE INDEX ON class_session (program_id, trainer_id, starts_at, id);

CREATE TABLE booking (
  id bigint CONSTRAINT booking_id_primary PRIMARY KEY,
  session_id bigint NOT NULL
    CONSTRAINT booking_session_exists REFERENCES class_session ON DELETE CASCADE,
  user_id bigint NOT NULL CONSTRAINT booking_user_exists REFERENCES app_user ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  cancelled_at timestamptz);
COMMENT ON TABLE booking IS 'One seat that a user booked, and may have canceled.';
COMMENT ON COLUMN booking.cancelled_at IS 'The date and time when the booking was canceled.';
-- bookSession: one seat each; ClassSession.viewerBooking
CREATE UNIQUE INDEX booking_user_once ON booking (session_id, user_id) WHERE cancelled_at IS NULL;
COMMENT ON INDEX booking_user_once IS 'unreachable';
-- agenda, viewer.bookings
CREATE INDEX ON booking (user_id, session_id) WHERE cancelled_at IS NULL;
-- viewer.bookings(includeCancelled:); deleting an account, a session
CREATE INDEX ON booking (user_id, id);
-- ClassSession.bookings
CREATE INDEX ON booking (session_id, created_at, id);
