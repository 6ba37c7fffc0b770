-- Who a tool acts for when it is told a name instead of a session.

CREATE FUNCTION viewer_named(name text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT id FROM app_user WHERE lower(username) = lower(name)
$$;
COMMENT ON FUNCTION viewer_named IS 'The id of the user of this name, null when there is none; for `sociograph explain --viewer`.';
