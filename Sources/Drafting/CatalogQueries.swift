import SQL

/// The statements that read PostgreSQL's catalogs for a draft.
struct CatalogQueries {
  private let namespaces: String
  private let role: String

  init(namespaces: [String], role: String?) {
    self.namespaces = SQLQuoting.arrayLiteral(namespaces) + "::name[]"
    self.role = role.map { SQLQuoting.literal($0) + "::name" } ?? "current_user"
  }

  var all: [String] {
    [relations, columns, types, labels, keys, foreignKeys, otherNamespaces, database]
  }

  /// The relations that a draft can have. Partitions are read through their parent.
  private var candidates: String {
    """
    pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      AND n.nspname = ANY (\(namespaces)) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT c.relispartition AND NOT starts_with(c.relname, 'sociograph_')
      AND has_schema_privilege(\(role), n.oid, 'USAGE')
      AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
          AND d.deptype = 'e')
    """
  }

  private var relations: String {
    """
    SELECT c.oid, n.nspname, c.relname, c.relkind,
      CASE WHEN n.nspname = 'public' AND pg_table_is_visible(c.oid) THEN '' ELSE
        quote_ident(n.nspname) || '.' END || quote_ident(c.relname),
      obj_description(c.oid, 'pg_class'), c.relrowsecurity, c.relispopulated,
      has_table_privilege(\(role), c.oid, 'DELETE')
        AND has_any_column_privilege(\(role), c.oid, 'UPDATE'),
      CASE WHEN EXISTS (
        SELECT FROM pg_type t
        WHERE t.typname = c.relname AND t.typnamespace = 'pg_catalog'::regnamespace)
        THEN quote_ident(n.nspname) || '.' || quote_ident(c.relname) END
    FROM \(candidates) AND has_any_column_privilege(\(role), c.oid, 'SELECT')
    ORDER BY array_position(\(namespaces), n.nspname), c.relname <> lower(c.relname),
      c.relname COLLATE "C"
    """
  }

  private var columns: String {
    """
    SELECT c.oid, a.attnum, a.attname, a.atttypid, a.attndims,
      c.relkind IN ('r', 'p') AND a.attnotnull, col_description(c.oid, a.attnum),
      a.atthasdef OR a.attidentity <> '' OR EXISTS (
        SELECT FROM pg_trigger g
        WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgtype & 7 = 7),
      has_column_privilege(\(role), c.oid, a.attnum, 'INSERT')
        AND a.attgenerated = '' AND a.attidentity <> 'a',
      has_column_privilege(\(role), c.oid, a.attnum, 'UPDATE')
        AND a.attgenerated = '' AND a.attidentity <> 'a',
      EXISTS (
        SELECT FROM pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic)
    FROM \(candidates) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      AND NOT a.attisdropped AND has_column_privilege(\(role), c.oid, a.attnum, 'SELECT')
    ORDER BY c.oid, a.attnum
    """
  }

  private var types: String {
    """
    WITH RECURSIVE needed (oid) AS (
      SELECT a.atttypid FROM \(candidates)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION
      SELECT u.oid FROM needed x JOIN pg_type t ON t.oid = x.oid
      CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) AS u (oid)
      WHERE u.oid <> 0
    )
    SELECT t.oid, t.typname, n.nspname,
      CASE WHEN n.nspname = 'pg_catalog' OR n.nspname = 'public' AND pg_type_is_visible(t.oid)
        THEN '' ELSE quote_ident(n.nspname) || '.' END || quote_ident(t.typname),
      t.typtype, t.typbasetype,
      CASE WHEN t.typlen = -1 AND t.typcategory = 'A'
        AND t.oid NOT IN ('int2vector'::regtype, 'oidvector'::regtype) THEN t.typelem ELSE 0 END,
      obj_description(t.oid, 'pg_type'),
      t.typtype IN ('e', 'r', 'm') OR EXISTS (
        SELECT FROM pg_opclass o JOIN pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
        WHERE o.opcdefault AND o.opcintype = t.oid) AND (n.nspname = 'pg_catalog'
          OR pg_type_is_visible(t.oid) AND EXISTS (
            SELECT FROM pg_operator x
            WHERE x.oprname = '<' AND x.oprleft = t.oid AND x.oprright = t.oid))
        OR n.nspname = 'pg_catalog' AND t.typname IN ('varchar', 'cidr'),
      t.typsend <> 0
    FROM needed x JOIN pg_type t ON t.oid = x.oid JOIN pg_namespace n ON n.oid = t.typnamespace
    """
  }

  private var labels: String {
    "SELECT e.enumtypid, e.enumlabel FROM pg_enum e ORDER BY e.enumtypid, e.enumsortorder"
  }

  private var keys: String {
    """
    SELECT c.oid, array_to_string((i.indkey::int2[])[0:i.indnkeyatts - 1], ','), i.indisprimary,
      i.indnullsnotdistinct, i.indimmediate
    FROM \(candidates) JOIN pg_index i ON i.indrelid = c.oid AND i.indisunique AND i.indisvalid
      AND i.indpred IS NULL AND i.indexprs IS NULL
    JOIN pg_class x ON x.oid = i.indexrelid
    ORDER BY c.oid, i.indisprimary DESC, i.indnkeyatts, x.relname COLLATE "C"
    """
  }

  /// The foreign keys; of a partitioned table also those that each of its partitions has.
  private var foreignKeys: String {
    """
    SELECT c.oid, k.conname, array_to_string(k.conkey, ','), k.confrelid,
      array_to_string(k.confkey, ','), k.convalidated
    FROM \(candidates) JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f'
      AND k.conparentid = 0
    UNION ALL
    SELECT c.oid, min(k.conname), own.columns, k.confrelid, array_to_string(k.confkey, ','),
      bool_and(k.convalidated)
    FROM \(candidates) AND c.relkind = 'p'
    JOIN pg_inherits h ON h.inhparent = c.oid
    JOIN pg_constraint k ON k.conrelid = h.inhrelid AND k.contype = 'f' AND k.conparentid = 0
    CROSS JOIN LATERAL (
      SELECT string_agg(p.attnum::text, ',' ORDER BY o.place)
      FROM unnest(k.conkey) WITH ORDINALITY AS o (number, place)
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = o.number
      JOIN pg_attribute p ON p.attrelid = c.oid AND p.attname = a.attname
    ) AS own (columns)
    GROUP BY c.oid, own.columns, k.confrelid, k.confkey
    HAVING count(DISTINCT k.conrelid) =
      (SELECT count(*) FROM pg_inherits x WHERE x.inhparent = c.oid)
    ORDER BY 1, 3, 2
    """
  }

  private var otherNamespaces: String {
    """
    SELECT DISTINCT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> ALL (\(namespaces))
      AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
      AND has_schema_privilege(\(role), n.oid, 'USAGE')
    ORDER BY n.nspname
    """
  }

  /// The identity of the database. In a copy of it, tables may have other numbers.
  private var database: String {
    """
    SELECT concat((SELECT system_identifier FROM pg_control_system()), '/', oid)
    FROM pg_database WHERE datname = current_database()
    """
  }
}
