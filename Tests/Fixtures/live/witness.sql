-- Witnesses of what really happens in the tables of live_source, and of the touches that it leaves: what the view says
-- is held against them. Everything here is made from the view, so that a new line is looked at as soon as it is there.

CREATE TABLE witness (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  relation text NOT NULL,
  operation text NOT NULL,
  old jsonb,
  new jsonb);
CREATE INDEX ON witness (relation);
CREATE TABLE witnessed_touch (xid xid8 NOT NULL, topic text, key bigint, node bigint);
CREATE INDEX ON witnessed_touch (xid);

CREATE FUNCTION witness_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
  new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
BEGIN
  INSERT INTO witness (relation, operation, old, new) VALUES (TG_ARGV[0], TG_OP, old_row, new_row);
  RETURN NULL;
END $$;
DO $$
DECLARE relation text;
BEGIN
  FOR relation IN SELECT DISTINCT s.relation FROM live_source s LOOP
    EXECUTE format('CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON %I '
      'FOR EACH ROW EXECUTE FUNCTION witness_change(%L)', relation, relation);
  END LOOP;
END $$;

-- Touches themselves are forgotten after a while.
CREATE FUNCTION witness_touch() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO witnessed_touch
  SELECT NEW.xid, split_part(w.word, ':', 1), split_part(w.word, ':', 2)::bigint,
    coalesce(nullif(split_part(w.word, ':', 3), ''), split_part(w.word, ':', 2))::bigint
  FROM string_to_table(NEW.news, ' ') AS w(word);
  RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER INSERT ON touch FOR EACH ROW EXECUTE FUNCTION witness_touch();

CREATE FUNCTION is_counted(name text) RETURNS boolean IMMUTABLE LANGUAGE sql AS
  $$SELECT name LIKE '%\_count' OR name IN ('score', 'popularity')$$;

-- Changes that are to be told, with the names of what was changed: not what nobody may read, not when a session was last
-- used, and not what was counted before and is only folded.
CREATE VIEW witnessed AS
SELECT w.xid, w.relation, w.operation, w.old, w.new, c.names FROM witness w, LATERAL (
  SELECT array_agg(key) AS names FROM jsonb_each(w.old) o JOIN jsonb_each(w.new) n USING (key)
  WHERE o.value IS DISTINCT FROM n.value AND o.key <> 'is_hot'
    AND (w.relation, o.key) NOT IN (VALUES ('session', 'last_used_at'), ('session', 'expires_at'))
    AND (w.relation, o.key) NOT IN (SELECT h.relation, h.attribute FROM withheld h WHERE h.attribute IS NOT NULL)
    AND NOT (is_counted(o.key) AND coalesce(w.old ->> 'is_hot', '') = 'true')) c
WHERE w.operation <> 'UPDATE' OR c.names IS NOT NULL;

-- A row for each line and change of which it says more than is so. Counts are told of the row itself only.
CREATE FUNCTION witness_faults() RETURNS TABLE (line text, operation text, change jsonb)
LANGUAGE sql STABLE AS $$
  SELECT s.relation || '.' || s.attribute, w.operation, to_jsonb(w)
  FROM live_source s JOIN witnessed w USING (relation),
    LATERAL (SELECT DISTINCT v.value::bigint FROM (VALUES (w.old ->> s.attribute), (w.new ->> s.attribute)) v(value)
      WHERE v.value IS NOT NULL) k(key)
  -- The private details of an account are told to its owner alone, and nothing else is.
  WHERE s.attribute IS NOT NULL
    AND (w.relation <> 'app_user' OR w.operation = 'UPDATE' OR s.is_own IS NOT TRUE)
    AND (w.relation <> 'app_user' OR w.operation <> 'UPDATE'
      OR EXISTS (SELECT FROM unnest(w.names) AS n(name)
        WHERE (n.name IN ('email', 'email_verified', 'address')) = coalesce(s.is_own, false)))
    AND (s.attribute IN ('id', 'post_id') OR w.operation <> 'UPDATE'
      OR EXISTS (SELECT FROM unnest(w.names) AS n(name) WHERE NOT is_counted(n.name)))
    AND NOT EXISTS (
    SELECT FROM witnessed_touch t WHERE t.xid = w.xid AND t.topic = ANY (s.topics)
      AND CASE WHEN s.is_node THEN t.node ELSE t.key END = k.key)
  UNION ALL
  SELECT w.relation, w.operation, to_jsonb(w) FROM witnessed w
  WHERE EXISTS (SELECT FROM live_source s WHERE s.relation = w.relation AND s.attribute IS NULL AND s.topics <> '{}')
    AND NOT EXISTS (SELECT FROM live_source s JOIN witnessed_touch t ON t.xid = w.xid
      AND t.topic = ANY (s.topics) AND (s.tags IS NULL OR t.node & 255 = ANY (s.tags))
      WHERE s.relation = w.relation AND s.attribute IS NULL)
$$;

-- Lines of which nothing was seen: no change of the table, or none that left the touches of that line.
CREATE FUNCTION witness_unseen() RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('.', s.relation, s.attribute) || ': ' || array_to_string(s.topics, ' ') FROM live_source s
  WHERE s.topics <> '{}' AND s.is_own IS NOT TRUE AND NOT EXISTS (
    SELECT FROM witnessed w JOIN witnessed_touch t ON t.xid = w.xid
    WHERE w.relation = s.relation AND t.topic = ANY (s.topics)
      AND CASE WHEN s.attribute IS NULL THEN s.tags IS NULL OR t.node & 255 = ANY (s.tags)
        ELSE CASE WHEN s.is_node THEN t.node ELSE t.key END::text
          IN (w.old ->> s.attribute, w.new ->> s.attribute) END)
$$;
