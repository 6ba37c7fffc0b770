-- What is shown on a day: of each list the item whose number is the day's, counted from 1970-01-01,
-- round and round.
CREATE OR REPLACE FUNCTION daily_content(day date)
RETURNS TABLE (date date, video_url text, motivation text)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT day,
    max(i.value) FILTER (WHERE i.list = 'VIDEO'),
    max(i.value) FILTER (WHERE i.list = 'MOTIVATION')
  FROM (
    SELECT d.list, d.value,
      row_number() OVER (PARTITION BY d.list ORDER BY d.position) - 1 AS number,
      count(*) OVER (PARTITION BY d.list) AS items
    FROM daily_item d) i
  WHERE i.number = mod(mod(day - DATE '1970-01-01', i.items) + i.items, i.items)
$$;
COMMENT ON FUNCTION daily_content IS
  'What is shown on a day: of each list the item whose number is the days, counted from 1970.';
