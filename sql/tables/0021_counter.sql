-- What keeps counts from being a queue: functions/counter.sql says how.

CREATE TABLE count_slot (
  subject_id bigint,
  counter text COLLATE "C",
  slot smallint,
  amount int NOT NULL,
  -- the counts of a subject on which writers met
  CONSTRAINT count_slot_primary PRIMARY KEY (subject_id, counter, slot)
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
COMMENT ON TABLE count_slot IS
  'A row: a part of a count, for a writer who found its row locked. Only of rows with is_hot.';
COMMENT ON COLUMN count_slot.subject_id IS 'Whose count; the slot goes with it.';
COMMENT ON COLUMN count_slot.counter IS 'The column, such as heart_count.';
COMMENT ON COLUMN count_slot.slot IS 'From 1 to 16.';
COMMENT ON COLUMN count_slot.amount IS 'To be added to what the column says.';

CREATE TABLE count_due (
  subject_id bigint NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
COMMENT ON TABLE count_due IS
  'A row: a pass of fold_counts has left the ranks or slots of this subject to the next one. Some are '
  'there more than once.';
COMMENT ON COLUMN count_due.subject_id IS 'Whose counts.';

CREATE TABLE fold_mark (
  snapshot pg_snapshot NOT NULL,
  is_only boolean DEFAULT true CONSTRAINT fold_mark_primary PRIMARY KEY
    CONSTRAINT fold_mark_only CHECK (is_only));
COMMENT ON TABLE fold_mark IS
  'The one row: what was committed when fold_counts began last. What was touched since is still to be done.';
COMMENT ON COLUMN fold_mark.snapshot IS 'What was committed.';
COMMENT ON COLUMN fold_mark.is_only IS 'Always true.';
INSERT INTO fold_mark VALUES (pg_current_snapshot());
