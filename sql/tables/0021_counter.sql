-- What keeps counts from being a queue: functions/counter.sql says how.

CREATE TABLE count_slot (
  subject_id bigint,
  counter text COLLATE "C",
  slot smallint,
  amount int NOT NULL,
  -- the counts of a subject on which writers met
  CONSTRAINT count_slot_primary PRIMARY KEY (subject_id, counter, slot)
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);
COMMENT ON TABLE count_slot IS 'One part of a count, by a writer who found the row locked. Only for rows with is_hot.';
COMMENT ON COLUMN count_slot.subject_id IS 'The node with the count, with which the slot is deleted.';
COMMENT ON COLUMN count_slot.counter IS 'The column of the count, such as heart_count.';
COMMENT ON COLUMN count_slot.slot IS 'The number of the slot, 1 to 16.';
COMMENT ON COLUMN count_slot.amount IS 'The amount to add to the value of the column.';

CREATE TABLE count_due (
  subject_id bigint NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
COMMENT ON TABLE count_due IS
  'One node whose ranks or slots a pass of fold_counts left to the next pass. There may be duplicates.';
COMMENT ON COLUMN count_due.subject_id IS 'The node with the counts.';

CREATE TABLE fold_mark (
  snapshot pg_snapshot NOT NULL,
  is_only boolean DEFAULT true CONSTRAINT fold_mark_primary PRIMARY KEY
    CONSTRAINT fold_mark_only CHECK (is_only));
COMMENT ON TABLE fold_mark IS
  'The only row: the snapshot of the last pass of fold_counts. Later touches are still to be handled.';
COMMENT ON COLUMN fold_mark.snapshot IS 'The snapshot of the last pass.';
COMMENT ON COLUMN fold_mark.is_only IS 'Always true, so that there is one row.';
INSERT INTO fold_mark VALUES (pg_current_snapshot());
