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
  subject_id bigint NOT NULL,
  table_name text NOT NULL
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
COMMENT ON TABLE count_due IS
  'A row: the counts of this subject have changed, and the next pass of fold_counts looks after its '
  'ranks and slots. Some are there more than once.';
COMMENT ON COLUMN count_due.subject_id IS 'Whose counts.';
COMMENT ON COLUMN count_due.table_name IS 'Where they are.';
