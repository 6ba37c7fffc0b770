import TestSupport
import Testing

/// Every constraint of a table has a comment that `constraint_error` reads: the user error that it is, or
/// `unreachable` for what nothing that a client sends can break.
@Suite(.usesCluster) struct ConstraintErrorTests {
  /// A query for checks, unique keys and exclusions, without primary and foreign keys, the tags of
  /// IDs, and the server's own tables.
  private static let constraints = """
    SELECT r.relname || '.' || c.conname FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
    WHERE c.connamespace = 'graph'::regnamespace AND c.contype IN ('c', 'u', 'x')
      AND c.conname !~ '_tag$' AND NOT r.relispartition
      AND r.relname !~ '^sociograph_' AND r.relname NOT IN ('change_horizon', 'fold_mark')
    UNION ALL SELECT r.relname || '.' || k.relname FROM pg_index i JOIN pg_class r ON r.oid = i.indrelid
      JOIN pg_class k ON k.oid = i.indexrelid
    WHERE r.relnamespace = 'graph'::regnamespace AND i.indisunique AND NOT r.relispartition
      AND r.relname !~ '^sociograph_'
      AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
    """

  @Test func `every constraint is the user error it would be, or none that a client can cause`()
    throws
  {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let there = try session.execute(Self.constraints).compactMap { $0[0] }
    let known = try session.execute(
      "SELECT table_name || '.' || constraint_name FROM graph.constraint_error"
    ).compactMap { $0[0] }
    #expect(there.count > 50)
    #expect(Set(there).subtracting(known) == [], "comment on them")
    #expect(Set(known).subtracting(there) == [], "there are no such constraints")
    #expect(known.count == Set(known).count)
  }

  @Test func `each code and argument is one that the schema has`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let schema = try GraphServer.mapping.get().schema
    let codes = try #require(schema.typesByName["UserErrorCode"].map { schema[$0] })
    var names: Set<String> = []
    for type in schema.types {
      names.formUnion(type.fields.flatMap(\.arguments).map(\.name))
      if case .inputObject(let fields, _) = type.kind { names.formUnion(fields.map(\.name)) }
    }
    for row in try session.execute(
      "SELECT code, argument FROM graph.constraint_error WHERE code IS NOT NULL")
    {
      #expect(codes.enumValue(named: row[0] ?? "") != nil, "\(row)")
      #expect(names.contains(row[1] ?? ""), "\(row)")
    }
  }
}
