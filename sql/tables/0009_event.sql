-- Events and meals: when, where, who comes, who is asked to.

CREATE TABLE event (
  post_id bigint CONSTRAINT event_id_primary PRIMARY KEY
    CONSTRAINT event_post_exists REFERENCES post ON DELETE CASCADE,
  title text NOT NULL CONSTRAINT event_title_length CHECK (length(title) BETWEEN 1 AND 200),
  starts_at timestamptz NOT NULL,
  ends_at timestamptz CONSTRAINT event_ends_at_after CHECK (ends_at > starts_at),
  category text NOT NULL DEFAULT 'GENERAL'
    CONSTRAINT event_category_known CHECK (category IN ('GENERAL', 'DINING')),
  circle_id bigint CONSTRAINT event_circle_exists REFERENCES circle ON DELETE CASCADE,
  external_id text,
  source_url text,
  cancelled_at timestamptz,
  cancellation_note text
    CONSTRAINT event_cancellation_note_length CHECK (length(cancellation_note) <= 500),
  -- upsertEvent by a scraper: update, do not double
  CONSTRAINT event_external_id_once UNIQUE (circle_id, external_id),
  CONSTRAINT event_cancellation_note_given CHECK (cancelled_at IS NOT NULL OR cancellation_note IS NULL));
COMMENT ON TABLE event IS 'The further columns of one event.';
COMMENT ON COLUMN event.category IS 'GENERAL, or DINING for a meal with venues.';
COMMENT ON COLUMN event.circle_id IS 'The circle of the post, which never changes.';
COMMENT ON COLUMN event.external_id IS 'The ID of an imported event at its source.';
COMMENT ON COLUMN event.source_url IS 'The address of an imported event at its source.';
COMMENT ON COLUMN event.cancelled_at IS
  'The date and time when the event was canceled. Canceled events remain visible.';
COMMENT ON COLUMN event.cancellation_note IS 'What the author said when canceling the event. Null if nothing.';
COMMENT ON CONSTRAINT event_title_length ON event IS 'title: TOO_LONG';
COMMENT ON CONSTRAINT event_ends_at_after ON event IS 'endsAt: INVALID';
COMMENT ON CONSTRAINT event_category_known ON event IS 'unreachable';
COMMENT ON CONSTRAINT event_external_id_once ON event IS 'externalId: TAKEN';
COMMENT ON CONSTRAINT event_cancellation_note_length ON event IS 'note: TOO_LONG';
COMMENT ON CONSTRAINT event_cancellation_note_given ON event IS 'unreachable';
-- schedule
CREATE INDEX ON event (category, starts_at, post_id);
-- agenda
CREATE INDEX ON event (starts_at, post_id);
-- explore: what is not over
CREATE INDEX ON event (coalesce(ends_at, starts_at), post_id) WHERE cancelled_at IS NULL;
-- agenda and schedule of circles
CREATE INDEX ON event (circle_id, starts_at, post_id) WHERE circle_id IS NOT NULL;
-- search, for events by title
CREATE INDEX ON event USING gin (to_tsvector('simple', title));

CREATE TABLE event_venue (
  event_id bigint CONSTRAINT event_venue_event_exists REFERENCES event ON DELETE CASCADE,
  location_id bigint CONSTRAINT event_venue_location_exists REFERENCES location ON DELETE CASCADE,
  opens_at timestamptz,
  closes_at timestamptz CONSTRAINT event_venue_closes_at_after CHECK (closes_at > opens_at),
  note text,
  CONSTRAINT event_venue_location_once PRIMARY KEY (event_id, location_id));   -- Event.venues
COMMENT ON TABLE event_venue IS 'One place that serves a meal, with its hours.';
COMMENT ON CONSTRAINT event_venue_closes_at_after ON event_venue IS 'venues: INVALID';
CREATE INDEX ON event_venue (location_id);    -- deleting a location

CREATE TABLE attendance (
  event_id bigint CONSTRAINT attendance_event_exists REFERENCES event ON DELETE CASCADE,
  user_id bigint CONSTRAINT attendance_user_exists REFERENCES app_user ON DELETE CASCADE,
  status text NOT NULL
    CONSTRAINT attendance_status_known CHECK (status IN ('GOING', 'MAYBE', 'NOT_GOING')),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT attendance_user_once PRIMARY KEY (event_id, user_id));   -- Event.viewerAttendance
COMMENT ON TABLE attendance IS 'One answer of a user about attending an event.';
COMMENT ON CONSTRAINT attendance_status_known ON attendance IS 'unreachable';
-- Event.attendees, latest answer first, and their number
CREATE INDEX ON attendance (event_id, status, updated_at DESC, user_id DESC);
-- agenda
CREATE INDEX ON attendance (user_id, event_id) INCLUDE (status);

CREATE TABLE invitation (
  id bigint CONSTRAINT invitation_id_primary PRIMARY KEY,
  inviter_id bigint NOT NULL
    CONSTRAINT invitation_inviter_exists REFERENCES app_user ON DELETE CASCADE,
  event_id bigint CONSTRAINT invitation_event_exists REFERENCES event ON DELETE CASCADE,
  invitee_id bigint CONSTRAINT invitation_invitee_exists REFERENCES app_user ON DELETE CASCADE,
  contact text,
  contact_key text,
  channel text CONSTRAINT invitation_channel_known
    CHECK (channel IN ('TWITTER', 'FACEBOOK', 'SMS', 'EMAIL')),
  code text CONSTRAINT invitation_code_once UNIQUE,
  status text NOT NULL DEFAULT 'PENDING'
    CONSTRAINT invitation_status_known
      CHECK (status IN ('PENDING', 'ACCEPTED', 'DECLINED', 'WITHDRAWN')),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- visibility of events, Event.viewerInvitation
  CONSTRAINT invitation_invitee_once UNIQUE (event_id, invitee_id),
  CONSTRAINT invitation_channel_given CHECK ((event_id IS NULL) = (channel IS NOT NULL)),
  CONSTRAINT invitation_invitee_given CHECK (event_id IS NULL OR invitee_id IS NOT NULL));
COMMENT ON TABLE invitation IS 'One invitation to an event or, without an event, to join the community.';
COMMENT ON COLUMN invitation.contact IS 'The phone number, email address, or name of a person without an account.';
COMMENT ON COLUMN invitation.contact_key IS
  'What the same person is known by again: the contact in lower case, or the ID of an imported contact after a #.';
COMMENT ON COLUMN invitation.code IS
  'The code at the end of the link in the text, which accepts the invitation at sign-up.';
COMMENT ON COLUMN invitation.channel IS 'The channel of an invitation to the community: SMS, EMAIL, and so on.';
COMMENT ON CONSTRAINT invitation_channel_known ON invitation IS 'unreachable';
COMMENT ON CONSTRAINT invitation_code_once ON invitation IS 'unreachable';
COMMENT ON CONSTRAINT invitation_status_known ON invitation IS 'unreachable';
COMMENT ON CONSTRAINT invitation_invitee_once ON invitation IS 'unreachable';
COMMENT ON CONSTRAINT invitation_channel_given ON invitation IS 'unreachable';
COMMENT ON CONSTRAINT invitation_invitee_given ON invitation IS 'unreachable';
-- viewer.invitations, agenda, visibility of events
CREATE INDEX ON invitation (invitee_id, status, id DESC) INCLUDE (event_id);
-- inviteToApp: one open invitation for each person and channel
CREATE UNIQUE INDEX invitation_contact_once ON invitation (inviter_id, channel, contact_key)
  WHERE event_id IS NULL AND status = 'PENDING';
COMMENT ON INDEX invitation_contact_once IS 'unreachable';
-- viewer.sentInvitations; deleting an account
CREATE INDEX ON invitation (inviter_id, id DESC);
