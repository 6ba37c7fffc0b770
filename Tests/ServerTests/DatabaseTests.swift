import DatabaseSetup
import Foundation
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing

/// The server and its PostgreSQL.
@Suite(.usesCluster) struct DatabaseTests {
  @Test func `an operation is one statement, however many root fields it has`() throws {
    let server = try TestServer { _ in }
    let query = """
      { users(first: 3) { nodes { id posts(first: 2) { nodes { id comments(first: 1) { totalCount } } } } }
        node(id: "AjEB") { id }
        nodes(ids: ["AjEB", "oQM"]) { id }
        again: users(first: 1) { totalCount } }
      """
    let warm = try server.execute(query)
    #expect(warm.status == 200, "\(warm.body)")
    let session = try TestCluster.session(server.database)
    // Made in one database only, but it counts for all of them.
    let admin = try TestCluster.session(TestCluster.connectionString())
    let name = try #require(try session.execute("SELECT current_database()").first?.first ?? nil)
    func calls() throws -> [String: Int] {
      let rows = try admin.execute(
        """
        SELECT query, calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = $1
        """, [name])
      return Dictionary(
        rows.map { ($0[0] ?? "", Int($0[1] ?? "") ?? 0) }, uniquingKeysWith: +)
    }
    let before = try calls()
    for _ in 0..<7 { _ = try server.execute(query) }
    // A connection that opens meanwhile asks which server it has.
    let changed = try calls().filter {
      $0.value != before[$0.key] ?? 0 && !$0.key.contains("pg_control_system")
    }
    #expect(changed.count == 1, "\(changed.keys)")
    for (text, count) in changed { #expect(count - (before[text] ?? 0) == 7) }
    // Introspection is kept ready: it asks the database nothing at all.
    let schema = try server.execute(PageTests.introspectionQuery)
    let ready = try calls()
    #expect(try server.execute(PageTests.introspectionQuery).body == schema.body)
    #expect(try calls() == ready)
  }

  @Test func `a large answer is refused while too much waits for clients that do not read`() throws
  {
    let server = try TestServer { $0.http.maximumHeldBytes = 1 }
    let refused = try server.execute(PageTests.introspectionQuery)
    #expect(refused.status == 503 && refused.code == "SERVICE_OVERLOADED")
    #expect(refused.header("Retry-After") != nil)
    #expect(try server.execute("{ users(first: 1) { nodes { id } } }").status == 200)
  }

  @Test func `why a statement failed is in the log, under the request that the client knows`()
    throws
  {
    let database = try TestCluster.newDatabase(migrated: true)
    let port = UInt16.random(in: 20_000...29_999)
    let run = try ProgramRun([
      "serve", "--database", database, "--listen", "127.0.0.1:\(port)", "--log-format", "json",
    ])
    let deadline = Date() + 60
    while !run.errors.contains("serving http://127.0.0.1:\(port)"), Date() < deadline {
      usleep(10_000)
    }
    try TestCluster.session(database).execute("ALTER TABLE app_user RENAME name_key TO another")
    let client = try RawClient(port: port)
    client.send(
      "GET /graphql?query=%7Busers%7Bnodes%7Bid%7D%7D%7D HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let answer = client.answer()
    #expect(answer.status == 503 && answer.code == "DATABASE_UNAVAILABLE", "\(answer.body)")
    let body = try JSONParser.parse(Array(answer.body.utf8))
    guard case .array(let errors)? = body["errors"],
      let requestID = errors.first?["extensions"]?["requestId"]
    else {
      Issue.record("no requestId in \(answer.body)")
      return
    }
    run.signal(SIGINT)
    #expect(run.finish() == 0)
    #expect(run.output.isEmpty, "\(run.output)")
    // Every line is an object, also those of the start and the end.
    let lines = try run.errors.split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
    #expect(lines.allSatisfy { $0["time"] != nil && $0["message"] != nil })
    let failure = try #require(lines.first { $0["requestId"] == requestID })
    guard case .string(let message)? = failure["message"] else { return }
    #expect(message.contains("name_key") && message.contains("42703"), "\(message)")
  }

  @Test func `without PostgreSQL it answers 503, and goes on when it is back`() throws {
    let folder = try TemporaryFolder()
    var options = EmbeddedCluster.Options()
    options.dataDirectory = folder.path + "/data"
    options.isDurable = false
    let first = try EmbeddedCluster.start(options) { _ in }
    defer { first.stop() }
    try Migrations.read(TestCluster.packageFolder + "/sql")
      .apply(to: PostgresConfiguration(first.connectionString))
    let server = try TestServer(database: first.connectionString) { _ in }
    let query = "{ users(first: 1) { totalCount } }"
    #expect(try server.execute(query).status == 200)

    first.stop()
    // The first ones may still find out.
    for _ in 0..<20 {
      _ = try server.execute(query)
      usleep(50_000)
    }
    for _ in 0..<5 {
      let answer = try server.execute(query)
      #expect(answer.status == 503 && answer.code == "DATABASE_UNAVAILABLE", "\(answer.body)")
      #expect(answer.header("Retry-After") != nil)
    }
    #expect(try server.get("/ready").status == 503)
    #expect(try server.get("/live").status == 200)
    #expect(try server.execute("{ __typename }").status == 200)

    let second = try EmbeddedCluster.start(options) { _ in }
    defer { second.stop() }
    var status = 0
    for _ in 0..<3_000 where status != 200 {
      status = try server.execute(query).status
      usleep(10_000)
    }
    #expect(status == 200)
    #expect(try server.get("/ready").status == 200)
  }
}
