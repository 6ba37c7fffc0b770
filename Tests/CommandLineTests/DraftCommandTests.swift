import Foundation
import GraphQLLanguage
import GraphQLPlanning
import JSON
import Postgres
import TestSupport
import Testing

/// `sociograph draft`: a schema over an existing database, which `serve` takes.
@Suite(.usesCluster) struct DraftCommandTests {
  private static let samples = TestCluster.packageFolder + "/../shared/databases"

  /// A new database with the contents of files of SQL.
  ///
  /// - Parameter stops: whether an error ends it; nil for files of our own.
  private func database(_ files: [String], stops: Bool? = nil) throws -> String {
    let database = try TestCluster.newDatabase()
    for file in files {
      // Those of others name roles that are not here.
      let stops = stops ?? !file.hasPrefix(Self.samples)
      let run = try command(
        "psql", "-q", "-v", "ON_ERROR_STOP=\(stops ? 1 : 0)", "-f", file, database)
      try #require(run.status == 0, "\(file): \(run.output)")
    }
    return database
  }

  private func awkward() throws -> String {
    try database([TestCluster.packageFolder + "/Tests/Fixtures/drafting/awkward.sql"])
  }

  /// Drafts a database, serves it, and compares its rows.
  ///
  /// - Returns: the number of rows that were compared.
  private func compare(_ database: String, _ arguments: [String] = []) throws -> Int {
    let server = try DraftedServer(database, arguments)
    let comparison = try DraftComparison(folder: server.path)
    let session = try TestCluster.session(database)
    #expect(try comparison.compareFilters(port: server.port, session) > 20)
    if arguments.contains("--nodes") {
      #expect(try comparison.compareNodes(port: server.port) > 30)
    }
    return try comparison.compare(port: server.port, session)
  }

  @Test func `every table of an awkward database is served with its rows`() throws {
    #expect(try compare(awkward(), ["--namespace", "public,Other One", "--nodes"]) > 60)
  }

  private static func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(samples)/\(name)")
  }

  @Test(.enabled(if: has("chinook.sql"), "needs ../shared/databases/chinook.sql"))
  func `Chinook is served with its rows`() throws {
    #expect(try compare(database(["\(Self.samples)/chinook.sql"])) > 4000)
  }

  @Test(.enabled(if: has("northwind.sql"), "needs ../shared/databases/northwind.sql"))
  func `Northwind is served with its rows`() throws {
    #expect(try compare(database(["\(Self.samples)/northwind.sql"])) > 2000)
  }

  @Test(.enabled(if: has("pagila-data.sql"), "needs ../shared/databases/pagila-data.sql"))
  func `Pagila is served with its rows`() throws {
    let files = ["pagila-schema.sql", "pagila-data.sql"].map { "\(Self.samples)/\($0)" }
    let database = try database(files)
    try TestCluster.session(database).execute("REFRESH MATERIALIZED VIEW rental_by_category")
    #expect(try compare(database, ["--nodes"]) > 4000)
  }

  @Test func `each row of a table with a key of any type is found by its ID`() throws {
    let server = try DraftedServer(
      database([TestCluster.packageFolder + "/Tests/Fixtures/drafting/keys.sql"]), ["--nodes"])
    let comparison = try DraftComparison(folder: server.path)
    #expect(try comparison.compareNodes(port: server.port) == 31)
  }

  @Test
  func `what is no ID finds nothing, and a value that is none of its type is the client's error`()
    throws
  {
    let server = try DraftedServer(
      database([TestCluster.packageFolder + "/Tests/Fixtures/drafting/keys.sql"]), ["--nodes"])
    func node(_ id: String) throws -> JSONValue {
      try DraftComparison.send("{ node(id: \"\(id)\") { __typename } }", server.port)
    }
    let nothing = JSONValue.object([
      .init(name: "data", value: .object([.init(name: "node", value: .null)]))
    ])
    for id in ["", "A", "AQE=", "gAAA", "____"] { #expect(try node(id) == nothing) }
    for tag in 1...30 {
      for values in [
        [""], ["1"], ["-1"], ["99999999999999999999"], ["a", "'"], ["\u{20AC}", "", ""],
      ] {
        let answer = try node(KeyID.encode(tag, values))
        guard case .array(let errors)? = answer["errors"] else {
          #expect(answer["data"]?["node"] != nil)
          continue
        }
        #expect(errors.first?["extensions"]?["code"] == .string("BAD_USER_INPUT"), "\(answer)")
      }
    }
  }

  @Test func `IDs stay as they are when tables come and go`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(
      "CREATE TABLE b (b_id int PRIMARY KEY); CREATE TABLE d (id int PRIMARY KEY); CREATE TABLE e (x int)"
    )
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    func draft(_ arguments: [String]) throws {
      let run = try ProgramRun.complete(["draft", path, "--database", database] + arguments)
      try #require(run.status == 0, "\(run.errors) \(run.output)")
    }
    func head(_ file: String) throws -> String {
      try String(contentsOfFile: "\(path)/\(file).graphql", encoding: .utf8)
        .split(separator: "\n").first.map(String.init) ?? ""
    }
    try draft(["--nodes"])
    #expect(try head("b").hasPrefix("type B implements Node @tag(id: 1) "))
    #expect(try head("d").hasPrefix("type D implements Node @tag(id: 2) "))
    #expect(try head("e").hasPrefix("type E @table"))
    try session.execute(
      "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE c (id uuid PRIMARY KEY); DROP TABLE b")
    try draft(["--update"])
    #expect(try head("a").hasPrefix("type A implements Node @tag(id: 3) "))
    #expect(try head("c").hasPrefix("type C implements Node @tag(id: 4) "))
    #expect(try head("d").hasPrefix("type D implements Node @tag(id: 2) "))
    try draft(["--update"])
    #expect(try head("c").hasPrefix("type C implements Node @tag(id: 4) "))
  }

  @Test func `a table named node keeps its name`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      "CREATE TABLE node (id int PRIMARY KEY); INSERT INTO node VALUES (5)")
    let server = try DraftedServer(database, ["--nodes"])
    let id = KeyID.encode(1, ["5"])
    let answer = try DraftComparison.send(
      "{ node(rowId: 5) { id } nodeById(id: \"\(id)\") { ... on NodeObject { id } __typename } }",
      server.port)
    #expect(
      "\(answer)"
        == #"{"data":{"node":{"id":"\#(id)"},"nodeById":{"id":"\#(id)","__typename":"Node"}}}"#)
  }

  @Test func `a folder whose clients know a column as id gets no other field of that name`() throws
  {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (b_id int PRIMARY KEY); INSERT INTO b VALUES (1)"
    )
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    for arguments in [[], ["--update", "--nodes"]] {
      let run = try ProgramRun.complete(["draft", path, "--database", database] + arguments)
      try #require(run.status == 0, "\(run.errors) \(run.output)")
    }
    func text(_ file: String) throws -> String {
      try String(contentsOfFile: "\(path)/\(file).graphql", encoding: .utf8)
    }
    #expect(try text("a").contains("  id: Int!\n") && !text("a").contains("Node"))
    #expect(try text("b").contains("type B implements Node @tag(id: "))
    #expect(try text("b").contains("  id: ID! @id\n  bId: Int!\n"))
  }

  private static let given = ProcessInfo.processInfo.environment["SOCIOGRAPH_DRAFTED_SQL"]

  /// SOCIOGRAPH_DRAFTED_SQL has the files of another database, separated by colons, and
  /// SOCIOGRAPH_DRAFTED_NAMESPACES its schemas.
  @Test(.enabled(if: given != nil, "needs SOCIOGRAPH_DRAFTED_SQL"))
  func `a given database is served with its rows`() throws {
    let files = (Self.given ?? "").split(separator: ":").map(String.init)
    let namespaces = ProcessInfo.processInfo.environment["SOCIOGRAPH_DRAFTED_NAMESPACES"]
    let count = try compare(
      database(files, stops: false),
      ["--namespace", namespaces ?? "public", "--nodes", "--aggregates", "--mutations", "--nested"])
    print("compared \(count) rows")
    #expect(count > 0)
  }

  // MARK: - Privileges and options

  @Test func `a role that may read some columns has those, and nothing is put into the database`()
    throws
  {
    let database = try awkward()
    let session = try TestCluster.session(database)
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try session.execute(
      """
      REVOKE ALL ON SCHEMA public FROM PUBLIC;
      CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA public TO \(role);
      GRANT SELECT (id, name) ON secret TO \(role); GRANT SELECT ON country, city TO \(role)
      """)
    let counts = "SELECT count(*) FROM pg_class"
    let before = try session.execute(counts)
    let folder = try TemporaryFolder()
    let user = TestCluster.connectionString(database, as: role)
    let draft = try ProgramRun.complete(["draft", folder.path + "/a", "--database", user])
    #expect(draft.status == 0, "\(draft.errors)")
    #expect(try session.execute(counts) == before)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/a").sorted()
    #expect(
      files == [".drafted", "city.graphql", "country.graphql", "secret.graphql", "types.graphql"])
    let secret = try String(contentsOfFile: folder.path + "/a/secret.graphql", encoding: .utf8)
    #expect(secret.contains("name: String") && !secret.contains("pin"))
    // The owner drafts the same for that role.
    let other = try ProgramRun.complete([
      "draft", folder.path + "/b", "--database", database, "--role", role,
    ])
    #expect(other.status == 0, "\(other.errors)")
    for file in files.dropFirst() {
      #expect(
        try String(contentsOfFile: "\(folder.path)/a/\(file)", encoding: .utf8)
          == String(contentsOfFile: "\(folder.path)/b/\(file)", encoding: .utf8))
    }
    // And what the owner may read besides is no change.
    let same = try ProgramRun.complete([
      "draft", "--check", folder.path + "/a", "--database", database,
    ])
    #expect(same.status == 0, "\(same.output)")
    let check = try ProgramRun.complete([
      "schema", "--check", "--schema", folder.path + "/a", "--database", user,
    ])
    #expect(check.output == "Every storage directive holds.\n", "\(check.output)")
  }

  @Test func `tables are selected by patterns, and other files are left alone`() throws {
    let database = try awkward()
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    let arguments = ["draft", path, "--database", database, "--tables", "charge*,!*_edge,visit"]
    #expect(try ProgramRun.complete(arguments).status == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("charge_") }
        .sorted() == [
          "charge_connections.graphql", "charge_filters.graphql", "charge_orders.graphql",
        ])
    let again = try ProgramRun.complete(arguments)
    #expect(again.status == 1)
    #expect(
      again.errors
        == "sociograph: the folder \"\(path)\" has .graphql files; name an empty folder, or use "
        + "--update.\n")
  }

  @Test func `a call that cannot be done says what to do instead`() throws {
    let database = try awkward()
    func run(_ arguments: String...) throws -> (status: Int32?, errors: String) {
      let run = try ProgramRun.complete(["draft"] + arguments)
      return (run.status, run.errors)
    }
    #expect(try run("--database", database).status == 2)
    #expect(
      try run("graph").errors == "sociograph: draft needs --database URL, the database to read.\n")
    let nothing = try run("graph", "--database", database, "--namespace", "none")
    #expect(nothing.status == 1)
    #expect(nothing.errors.contains("--namespace Other One,public"), "\(nothing.errors)")
    let role = try run("graph", "--database", database, "--role", "no such role")
    #expect(role.status == 1 && role.errors.contains("\"no such role\""), "\(role.errors)")
  }
}
