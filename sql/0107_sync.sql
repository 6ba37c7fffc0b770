-- What changed, page by page: Query.changes.
--
-- A token is "xid:seq": everything up to there is known. Rows of transactions that may still be
-- joined by older ones are left for later, so nothing is skipped.

-- Changes after a token in the viewer's own scope and circles (anonymous: default channels), each
-- node once, as it was last. Without a token only a fresh one.
-- Fails with SG001 (TOKEN_EXPIRED) and SG002 (BAD_USER_INPUT); the detail is the code for clients.
CREATE FUNCTION change_page(viewer bigint, since text, page int)
RETURNS TABLE (token text, has_more boolean, node_ids bigint[], operations text[])
LANGUAGE plpgsql STABLE ROWS 1 AS $$
DECLARE
  safe xid8 := pg_snapshot_xmin(pg_current_snapshot());
  fresh text := safe || ':0';
  wanted int := least(greatest(coalesce(page, 100), 0), 100);
  since_xid xid8;
  since_seq bigint;
  scopes bigint[];
  number int;
  last text;
BEGIN
  IF since IS NULL THEN
    RETURN QUERY SELECT fresh, false, '{}'::bigint[], '{}'::text[];
    RETURN;
  END IF;
  IF since !~ '^[0-9]{1,18}:[0-9]{1,18}$' THEN
    RAISE EXCEPTION 'The token is not one that changes has given.'
      USING ERRCODE = 'SG002', DETAIL = 'BAD_USER_INPUT';
  END IF;
  since_xid := split_part(since, ':', 1)::xid8;
  since_seq := split_part(since, ':', 2)::bigint;
  IF since_xid < (SELECT h.xid FROM change_horizon h) THEN
    RAISE EXCEPTION 'The token is too old; start anew without one.'
      USING ERRCODE = 'SG001', DETAIL = 'TOKEN_EXPIRED';
  END IF;
  scopes := CASE WHEN viewer = 0 THEN ARRAY(SELECT c.id FROM circle c WHERE c.is_default)
    ELSE viewer || ARRAY(SELECT m.circle_id FROM circle_member m WHERE m.user_id = viewer) END;
  WITH found AS (
    SELECT row_number() OVER (ORDER BY c.xid, c.seq) AS number, c.* FROM (
      SELECT c.xid, c.seq, c.node_id, c.deleted FROM unnest(scopes) s(id) CROSS JOIN LATERAL (
        SELECT * FROM change c
        WHERE c.scope_id = s.id AND (c.xid, c.seq) > (since_xid, since_seq) AND c.xid < safe
        ORDER BY c.xid, c.seq LIMIT wanted + 1) c
      ORDER BY c.xid, c.seq LIMIT wanted + 1) c)
  SELECT (SELECT count(*) FROM found),
    (SELECT f.xid || ':' || f.seq FROM found f WHERE f.number = wanted),
    array_agg(n.node_id ORDER BY n.number),
    array_agg(CASE WHEN n.deleted THEN 'DELETE' ELSE 'UPSERT' END ORDER BY n.number)
  INTO number, last, node_ids, operations
  FROM (SELECT DISTINCT ON (f.node_id) f.node_id, f.deleted, f.number FROM found f
    WHERE f.number <= wanted ORDER BY f.node_id, f.number DESC) n;
  has_more := number > wanted;
  token := CASE WHEN has_more THEN coalesce(last, since)
    WHEN since_xid >= safe THEN since ELSE fresh END;
  node_ids := coalesce(node_ids, '{}');
  operations := coalesce(operations, '{}');
  RETURN NEXT;
END $$;
