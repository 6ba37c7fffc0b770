-- Events and meals: when, where, who comes, who is asked to.

-- A row: what an event has besides.
CREATE TABLE event (
  post_id bigint PRIMARY KEY REFERENCES post ON DELETE CASCADE CHECK (post_id & 255 = 23),
  title text NOT NULL CHECK (length(title) BETWEEN 1 AND 200),
  starts_at timestamptz NOT NULL,
  ends_at timestamptz CHECK (ends_at > starts_at),
  category text NOT NULL DEFAULT 'GENERAL' CHECK (category IN ('GENERAL', 'DINING')),
  circle_id bigint REFERENCES circle ON DELETE CASCADE,   -- the post's, which never changes
  external_id text,
  source_url text,
  cancelled_at timestamptz,                   -- called off, still to be seen by those who know it
  UNIQUE (circle_id, external_id));           -- createEvent by a scraper: update, do not double
-- schedule; agenda
CREATE INDEX ON event (starts_at, post_id);
-- agenda and schedule of circles
CREATE INDEX ON event (circle_id, starts_at, post_id) WHERE circle_id IS NOT NULL;

-- A row: one of the places that serve a meal, and when.
CREATE TABLE event_venue (
  event_id bigint REFERENCES event ON DELETE CASCADE,
  location_id bigint REFERENCES location ON DELETE CASCADE,
  opens_at timestamptz,
  closes_at timestamptz CHECK (closes_at > opens_at),
  note text,
  PRIMARY KEY (event_id, location_id));       -- Event.venues
CREATE INDEX ON event_venue (location_id);    -- deleting a location

-- A row: what the user answered when asked whether they come.
CREATE TABLE attendance (
  event_id bigint REFERENCES event ON DELETE CASCADE,
  user_id bigint REFERENCES app_user ON DELETE CASCADE,
  status text NOT NULL CHECK (status IN ('GOING', 'MAYBE', 'NOT_GOING')),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, user_id));           -- Event.viewerAttendance
-- Event.attendees, latest answer first, and their number
CREATE INDEX ON attendance (event_id, status, updated_at DESC, user_id DESC);
-- agenda
CREATE INDEX ON attendance (user_id, event_id) INCLUDE (status);

-- A row: somebody invites somebody to an event, or, without one, to join the community. People
-- without an account are known by a contact: a telephone number or an e-mail address.
CREATE TABLE invitation (
  id bigint PRIMARY KEY DEFAULT new_node(33) REFERENCES node ON DELETE CASCADE
    CHECK (id & 255 = 33),
  inviter_id bigint NOT NULL REFERENCES app_user ON DELETE CASCADE,
  event_id bigint REFERENCES event ON DELETE CASCADE,
  invitee_id bigint REFERENCES app_user ON DELETE CASCADE,
  contact text,
  channel text,
  status text NOT NULL DEFAULT 'PENDING' CHECK (status IN ('PENDING', 'ACCEPTED', 'DECLINED')),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (event_id, invitee_id),              -- visibility of events, Event.viewerInvitation
  CHECK ((event_id IS NULL) = (channel IS NOT NULL)),
  CHECK (event_id IS NULL OR invitee_id IS NOT NULL));
-- viewer.invitations, agenda, visibility of events
CREATE INDEX ON invitation (invitee_id, status, id DESC) INCLUDE (event_id);
-- deleting an account
CREATE INDEX ON invitation (inviter_id);

CREATE TRIGGER drop_nodes AFTER DELETE ON invitation REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION drop_nodes();
