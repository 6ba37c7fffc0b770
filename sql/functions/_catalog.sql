-- What the other files are written with. This one comes first, as its name begins with a line.

-- Triggers are named for what the function does and what became of the rows: count_added,
-- log_edited, log_removed.
CREATE OR REPLACE PROCEDURE watch(of_table regclass, fates text[], called regproc, argument text DEFAULT '')
LANGUAGE plpgsql AS $$
DECLARE fate text;
BEGIN
  FOREACH fate IN ARRAY fates LOOP
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER %I AFTER %s ON %s REFERENCING %s TABLE AS changed '
      'FOR EACH STATEMENT EXECUTE FUNCTION %s(%s)',
      split_part(called::text, '_', 1) || '_' || fate,
      CASE fate WHEN 'added' THEN 'INSERT' WHEN 'edited' THEN 'UPDATE'
        WHEN 'removed' THEN 'DELETE' END,
      of_table, CASE fate WHEN 'removed' THEN 'OLD' ELSE 'NEW' END, called,
      CASE WHEN argument <> '' THEN quote_literal(argument) END);
  END LOOP;
END $$;
COMMENT ON PROCEDURE watch IS
  'Has a trigger function called after each statement that inserts (added), updates (edited) or '
  'deletes (removed) rows of a table, with these rows in `changed`. For the files in sql/functions.';
