import Foundation
import Postgres
import TestSupport
import Testing

/// A custom schema and its tables, checked against each other by `schema --check` and by `serve`.
@Suite(.usesCluster) struct SchemaCheckTests {
  private static let sdl = """
    type Query { cats: [Cat!]! @list(orderBy: "this.id") }
    type Cat @tag(id: 1) @table(name: "cat") { id: ID! name: String! }
    """

  /// - Parameter name: the column's type.
  private func run(
    name: String, as role: String? = nil, _ arguments: [String] = []
  ) throws -> (status: Int32?, output: String, errors: String, database: PostgresSession) {
    let folder = try TemporaryFolder()
    _ = try folder.write("cat.graphql", Self.sdl)
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute("CREATE TABLE cat (id bigint PRIMARY KEY, name \(name))")
    var user = database
    if let role {
      try session.execute("CREATE ROLE \(role) LOGIN; GRANT SELECT ON cat TO \(role)")
      user = database.replacing(/user=[^ ]+/, with: "user=\(role)")
    }
    let run = try ProgramRun.complete(
      ["schema", "--check", "--schema", folder.path, "--database", user] + arguments)
    return (run.status, run.output, run.errors, session)
  }

  private static let warning =
    "warning: Cat.name: the column name of cat may be null, and the field may not; make it NOT NULL, "
    + "or write the field's type without \"!\".\n"
  private static let error =
    "error: Cat.name: the column name is of PostgreSQL's type integer, from which String cannot be "
    + "read; write @sql(expression: \"this.name::text\")."

  @Test func `warnings and errors are told apart, in text and by the exit code`() throws {
    let good = try run(name: "text NOT NULL")
    #expect(good.status == 0 && good.output == "Every storage directive holds.\n")
    let doubtful = try run(name: "text")
    #expect(doubtful.status == 0)
    #expect(doubtful.output == Self.warning + "Every storage directive holds.\n")
    let bad = try run(name: "integer NOT NULL")
    #expect(bad.status == 1 && bad.output == Self.error + "\n")
    #expect(
      bad.errors
        == "sociograph: the schema does not fit its database (errors: 1, warnings: 0).\n")
  }

  @Test func `nothing is put into the database, under a role that can only read`() throws {
    let tables = """
      SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' ORDER BY 1
      """
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    let empty = try TemporaryFolder()
    defer { withExtendedLifetime(empty) {} }
    for arguments in [[], ["--sql", empty.path]] {
      let own = try run(name: "text NOT NULL", arguments)
      #expect(own.status == 0, "\(own.errors)")
      #expect(try own.database.execute(tables) == [["cat"], ["cat_pkey"]])
    }
    let reader = try run(name: "text NOT NULL", as: role)
    #expect(reader.status == 0, "\(reader.errors)")
    #expect(try reader.database.execute(tables) == [["cat"], ["cat_pkey"]])
  }

  @Test func `a database that is behind is told first, with what to run`() throws {
    let folder = try TemporaryFolder()
    for name in ["schema", "sql/tables"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    _ = try folder.write("schema/cat.graphql", Self.sdl)
    _ = try folder.write(
      "sql/tables/0001_cat.sql", "CREATE TABLE cat (id bigint PRIMARY KEY, name text NOT NULL);")
    let database = try TestCluster.newDatabase()
    func check() throws -> (status: Int32?, lines: [Substring]) {
      let run = try ProgramRun.complete([
        "schema", "--check", "--schema", folder.path + "/schema", "--sql", folder.path + "/sql",
        "--database", database,
      ])
      return (run.status, run.output.split(separator: "\n"))
    }
    let before = try check()
    #expect(before.status == 1)
    #expect(
      before.lines.first?.hasPrefix("error: the database is behind this program by ") == true
        && before.lines.first?.contains("run `sociograph migrate --database URL`") == true,
      "\(before.lines)")
    #expect(before.lines.dropFirst().first == "  tables/0001_cat.sql")
    #expect(
      before.lines.contains { $0.hasPrefix("error: ") && $0.contains("cat") }, "\(before.lines)")
    let migrated = try ProgramRun.complete([
      "migrate", "--sql", folder.path + "/sql", "--database", database,
    ])
    #expect(migrated.status == 0, "\(migrated.errors)")
    let after = try check()
    #expect(
      after.status == 0 && after.lines == ["Every storage directive holds."], "\(after.lines)")
    // What was found in the folder no longer goes with the database.
    _ = try folder.write("sql/tables/0001_cat.sql", "CREATE TABLE cat (id bigint);")
    let changed = try check()
    #expect(changed.status == 1)
    #expect(changed.lines.first?.contains("0001_cat.sql was applied and has changed") == true)
  }

  @Test func `serve says the warnings, does not start with errors, and leaves tables alone`() throws
  {
    let folder = try TemporaryFolder()
    _ = try folder.write("cat.graphql", Self.sdl)
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute("CREATE TABLE cat (id bigint PRIMARY KEY, name text)")
    let arguments = [
      "serve", "--schema", folder.path, "--database", database, "--listen",
      "unix:\(folder.path)/socket",
    ]
    let run = try ProgramRun(arguments)
    #expect(run.prints("Serving"), "\(run.errors)")
    #expect(run.errors.contains("sociograph: " + Self.warning), "\(run.errors)")
    run.signal(SIGINT)
    #expect(run.finish() == 0)
    #expect(
      try session.execute(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace")
        == [["2"]])

    try session.execute("ALTER TABLE cat ALTER name TYPE integer USING 1")
    let refused = try ProgramRun.complete(arguments)
    #expect(refused.status == 1)
    #expect(refused.errors.contains(Self.error), "\(refused.errors)")
  }
}
