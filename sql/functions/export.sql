-- What is stored about one person, for them to keep: Viewer.dataExport. Whatever is about others, or about what others
-- made, is read as any query of the person reads it: a row that is hidden is absent, as if it were gone.

CREATE OR REPLACE FUNCTION wire_time(moment timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
COMMENT ON FUNCTION wire_time IS 'Returns a time as responses have it: in UTC, rounded down to milliseconds.';

CREATE OR REPLACE FUNCTION export_profile(person bigint) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT jsonb_build_object(
    'exportedAt', wire_time(now()),
    'profile', jsonb_build_object('id', wire_id(u.id), 'username', u.username,
      'displayName', u.display_name, 'email', u.email, 'emailVerified', u.email_verified,
      'bio', u.bio, 'website', u.website, 'avatar', wire_id(u.avatar_id),
      'home', wire_id(u.home_id),
      'address', u.address, 'cardPreference', u.card_preference, 'roles', u.roles,
      'joinedAt', wire_time(u.joined_at),
      'shipsTo', (SELECT coalesce(jsonb_agg(wire_id(s.location_id) ORDER BY s.location_id), '[]')
        FROM user_ships_to s WHERE s.user_id = person)))
  FROM app_user u WHERE u.id = person);
END $$;
COMMENT ON FUNCTION export_profile IS 'Returns the single values stored about one user.';

CREATE OR REPLACE PROCEDURE make_export() LANGUAGE plpgsql AS $make$
BEGIN
  EXECUTE format(
    $function$CREATE OR REPLACE FUNCTION export_user(person bigint) RETURNS jsonb LANGUAGE plpgsql STABLE AS $body$
BEGIN
  RETURN export_profile(person)%s;
END $body$$function$,
    (SELECT string_agg(format(
      E' || jsonb_build_object(%L,\n  (SELECT coalesce(jsonb_agg(e.item), ''[]'') FROM (%s) e(item)))',
      p.member, replace(p.items, '$1', 'person')), '' ORDER BY p.member) FROM export_part p));
  COMMENT ON FUNCTION export_user IS
  'Returns the data stored about one user: Viewer.dataExport. The lists come from CALL exported.';
END $make$;
COMMENT ON PROCEDURE make_export IS 'Creates the function export_user from the lists in export_part.';
