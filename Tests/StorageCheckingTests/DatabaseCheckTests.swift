import Postgres
import TestSupport
import Testing

@testable import StorageChecking

/// Findings about the database itself: indexes, privileges, the location of its tables. The check
/// leaves it unchanged.
@Suite(.usesCluster) struct DatabaseCheckTests {
  private static let sdl = """
    input CatFilter {
      nick: String @where(condition: "this.nick = :value")
      born: Int @where(condition: "this.born = :value")
    }
    type Query {
      cats(name: String @where(condition: "this.name = :value", unless: ""), filter: CatFilter):
        [Cat!]! @list(orderBy: "this.id")
      cat(born: Int @where(condition: "this.born = :value")): Cat @reference
    }
    type Cat @tag(id: 7) @table(name: "visible_cat(:viewer)") {
      id: ID!
      kittens(nick: String @where(condition: "this.nick = :value")): [Cat!]!
        @list(where: "this.mother_id = parent.id", orderBy: "this.id")
    }
    """

  private static let tables = """
    CREATE TABLE cat (id bigint PRIMARY KEY, name text, nick text, born int, mother_id bigint);
    CREATE FUNCTION visible_cat(viewer bigint) RETURNS SETOF cat STABLE LANGUAGE sql
      AS 'SELECT * FROM cat WHERE name <> '''' OR viewer > 0';
    CREATE INDEX ON cat (name); CREATE INDEX ON cat (mother_id);
    """

  @Test func `a condition that no index serves on a large table is a warning`() throws {
    let graph = try CheckedGraph(Self.sdl, Self.tables)
    try TestCluster.session(graph.database).execute(
      """
      INSERT INTO cat SELECT n, 'a' || n, 'b' || n, n, n / 2 FROM generate_series(1, 2000) n;
      ANALYZE cat
      """)
    #expect(try graph.findings { $0.largeTableRows = 2_001 } == [])
    let rest =
      "no index of cat serves its condition, and the table has 2000 rows; create one for what "
      + "the condition compares, or leave the argument out."
    #expect(
      try graph.findings { $0.largeTableRows = 2_000 } == [
        "warning: CatFilter.nick: \(rest) The same: CatFilter.born, Query.cat(born:)."
      ])
  }

  @Test func `what an index serves is no warning, however it is reached`() throws {
    let graph = try CheckedGraph(
      """
      type Query { clubs: [Club!]! @list(orderBy: "this.id") cats(kind: Kind
        @where(condition: "this.kind = :value")): [Cat!]! @list(orderBy: "this.id") }
      enum Kind { COMMON RARE }
      type Club @tag(id: 1) @table(name: "club") {
        id: ID!
        cats(name: String @where(condition: "strpos(this.name, :value) > 0")): [Cat!]!
          @list(from: "member", on: "this.id = edge.cat_id", where: "edge.club_id = parent.id", orderBy: "this.id")
      }
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! kind: Kind! }
      """,
      """
      CREATE TABLE club (id bigint PRIMARY KEY);
      CREATE TABLE cat (id bigint PRIMARY KEY, name text, kind text NOT NULL CHECK (kind IN ('COMMON', 'RARE')));
      CREATE TABLE member (cat_id bigint, club_id bigint);
      CREATE UNIQUE INDEX ON member (club_id, cat_id);
      CREATE UNIQUE INDEX ON member (cat_id, club_id);
      """)
    let session = try TestCluster.session(graph.database)
    try session.execute(
      """
      INSERT INTO club SELECT n FROM generate_series(1, 300) n;
      INSERT INTO cat SELECT n, 'a' || n, CASE WHEN n % 3 = 0 THEN 'RARE' ELSE 'COMMON' END
        FROM generate_series(1, 20000) n;
      INSERT INTO member SELECT n, n % 300 + 1 FROM generate_series(1, 20000) n;
      ANALYZE
      """)
    let sizes = { (check: inout StorageCheck) in
      check.largeTableRows = 10_000
      check.maximumListRows = 20_000
    }
    // The club of which cats are asked for is read as a whole; its members are found by an index, and
    // of cats of a kind there are many.
    #expect(try graph.findings(sizes) == [])
    // Without that index all members are read for each club, the other one does not begin with clubs.
    try session.execute("DROP INDEX member_club_id_cat_id_idx")
    #expect(
      try graph.findings(sizes) == [
        "warning: Club.cats(name:): no index of member serves its condition, and the table has 20000 rows; "
          + "create one for what the condition compares, or leave the argument out."
      ])
  }

  @Test func `an index on few of the rows serves what is looked for among these`() throws {
    let graph = try CheckedGraph(
      """
      type Query { news(nick: String @where(condition: "this.nick = :value")): [Cat!]!
        @list(where: "this.born < 100", orderBy: "this.id") }
      type Cat @tag(id: 7) @table(name: "cat") { id: ID! }
      """, Self.tables)
    let session = try TestCluster.session(graph.database)
    try session.execute(
      """
      INSERT INTO cat SELECT n, 'a' || n, 'b' || n, n, n / 2 FROM generate_series(1, 2000) n;
      ANALYZE cat
      """)
    #expect(try graph.findings { $0.largeTableRows = 2_000 }.count == 1)
    try session.execute("CREATE INDEX ON cat (id) WHERE born < 1900; ANALYZE cat")
    #expect(try graph.findings { $0.largeTableRows = 2_000 }.count == 1)
    try session.execute("CREATE INDEX ON cat (id) WHERE born < 100; ANALYZE cat")
    #expect(try graph.findings { $0.largeTableRows = 2_000 } == [])
  }

  @Test func `a role that lacks a right is an error, with what to grant`() throws {
    let graph = try CheckedGraph(Self.sdl, Self.tables)
    let owner = try TestCluster.session(graph.database)
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try owner.execute(
      """
      CREATE ROLE \(role) LOGIN; CREATE TABLE other (id int);
      REVOKE EXECUTE ON FUNCTION visible_cat FROM public
      """)
    #expect(
      try graph.findings(as: role) == [
        "error: Query: the role \(role) may not use the function visible_cat; GRANT EXECUTE ON "
          + "FUNCTION visible_cat TO \(role). The same: Query.cats."
      ])
    try owner.execute("GRANT EXECUTE ON FUNCTION visible_cat TO \(role)")
    #expect(
      try graph.findings(as: role) == [
        "error: Query: the role \(role) may not use the table cat; GRANT SELECT ON cat TO \(role). "
          + "The same: Query.cats."
      ])
    // What no statement reads it need not read.
    try owner.execute("GRANT SELECT ON cat TO \(role)")
    #expect(try graph.findings(as: role) == [])
  }

  @Test func `tables that Citus manages are refused by name`() throws {
    let graph = try CheckedGraph(Self.sdl, Self.tables + "CREATE TABLE place (id bigint);")
    let session = try TestCluster.session(graph.database)
    // As Citus lays it out.
    try session.execute(
      """
      SET allow_system_table_mods = on;
      CREATE TABLE pg_catalog.pg_dist_partition (
        logicalrelid regclass NOT NULL PRIMARY KEY, partmethod "char" NOT NULL, partkey text,
        colocationid integer NOT NULL DEFAULT 0, repmodel "char" NOT NULL DEFAULT 'c',
        autoconverted boolean NOT NULL DEFAULT false);
      """)
    // The extension is there, and keeps nothing.
    #expect(try graph.findings() == [])
    func expect(_ others: String) throws {
      #expect(
        try graph.findings() == [
          "error: cat: Citus manages this table\(others), and statements that read it through "
            + "functions would find it empty; serve a database whose tables are its own, or "
            + "undistribute_table them."
        ])
    }
    try session.execute("INSERT INTO pg_dist_partition VALUES ('cat', 'n', NULL, 1, 't')")
    try expect("")
    try session.execute("INSERT INTO pg_dist_partition VALUES ('place', 'h', 'id', 1, 's')")
    try expect(" (and 1 more)")
  }

  @Test func `nothing is changed, and no right but to read is needed`() throws {
    let graph = try CheckedGraph(
      Self.sdl.replacing("id: ID!", with: #"id: ID! next: Int @sql(expression: "taken()")"#),
      Self.tables + """
        CREATE SEQUENCE numbers;
        CREATE FUNCTION taken() RETURNS int LANGUAGE sql AS 'SELECT nextval(''numbers'')::int';
        """)
    let owner = try TestCluster.session(graph.database)
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try owner.execute(
      """
      CREATE ROLE \(role) LOGIN; REVOKE ALL ON DATABASE \(graph.name) FROM public;
      GRANT CONNECT ON DATABASE \(graph.name) TO \(role); GRANT SELECT ON cat TO \(role)
      """)
    let catalogs = """
      SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_proc),
        (SELECT count(*) FROM pg_type), (SELECT count(*) FROM pg_namespace),
        (SELECT last_value::text || is_called FROM numbers)
      """
    let before = try owner.execute(catalogs)
    #expect(try graph.findings(as: role) == [])
    #expect(try graph.findings() == [])
    #expect(try owner.execute(catalogs) == before)

    // Whoever hands its own session over finds that it can no longer write.
    _ = try StorageCheck(mapping: graph.mapping).run(owner)
    let error = #expect(throws: PostgresError.self) { try owner.execute("DELETE FROM cat") }
    #expect(error?.kind == .readOnly)
  }

  @Test func `a table under row level security is a warning for a role that it binds`() throws {
    let graph = try CheckedGraph.thing(
      "name: String", "name text",
      more:
        "extend type Query { others: [Other!]! @list(orderBy: \"this.id\") } type Other @table(name: \"other\") { id: Int }"
    )
    let role = "secured_\(UInt32.random(in: 0 ... .max))"
    try TestCluster.session(graph.database).execute(
      """
      CREATE TABLE other (id bigint PRIMARY KEY);
      ALTER TABLE thing ENABLE ROW LEVEL SECURITY;
      CREATE ROLE \(role) LOGIN; GRANT SELECT ON thing, other TO \(role);
      """)
    #expect(try graph.findings() == [])
    #expect(
      try graph.findings(as: role) == [
        "warning: thing: it has row level security, and the role \(role), under which every viewer is served, "
          + "finds only the rows that its policies give to that role; serve with --roles claims, so that each client "
          + "has a role of its own, or write the rule in @table(where:), and ALTER ROLE \(role) BYPASSRLS."
      ])
    try TestCluster.session(graph.database).execute("ALTER ROLE \(role) BYPASSRLS")
    #expect(try graph.findings(as: role) == [])
  }

  @Test func `policies that lead to themselves are found under the roles that they bind`() throws {
    let graph = try CheckedGraph.thing(
      "name: String", "name text",
      more: "")
    let role = "bound_\(UInt32.random(in: 0 ... .max))"
    try TestCluster.session(graph.database).execute(
      """
      CREATE ROLE \(role); GRANT SELECT ON thing TO \(role);
      ALTER TABLE thing ENABLE ROW LEVEL SECURITY;
      CREATE POLICY circle ON thing USING (EXISTS (SELECT FROM thing t WHERE t.name = 'x'));
      """)
    let findings = try graph.findings()
    #expect(
      findings.count == 1
        && findings[0].hasPrefix(
          "error: thing: its policies lead to themselves under the role \(role)"),
      "\(findings)")
  }

  @Test func `a list of all rows of a large table is a warning`() throws {
    let graph = try CheckedGraph(
      """
      type Query {
        things: [Thing!]! @list(orderBy: "this.id")
        some(limit: Int! = 20): [Thing!]! @list(orderBy: "this.id")
        own: [Thing!]! @list(where: "this.owner = :viewer", orderBy: "this.id")
      }
      type Thing @table(name: "thing") {
        owner: Int others: [Thing!]! @list(where: "this.owner = parent.owner", orderBy: "this.id")
      }
      """,
      """
      CREATE TABLE thing (id bigint PRIMARY KEY, owner bigint);
      INSERT INTO thing SELECT n, n FROM generate_series(1, 50) AS n; ANALYZE thing;
      """)
    #expect(try graph.findings() == [])
    #expect(
      try graph.findings { $0.maximumListRows = 49 } == [
        "warning: Query.things: the list has all 50 rows of thing, and is refused beyond 49; give it the "
          + "argument limit: Int! = 20, or make it a @connection."
      ])
  }
}
