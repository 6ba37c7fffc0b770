import DatabaseSetup
import Dispatch
import Foundation
import HTTPTestSupport
import JSON
import Postgres
import Server
import TestSupport
import Testing

/// `/metrics`, `/live` and `/ready` on the operators' address.
@Suite(.usesCluster) struct MetricsTests {
  private static func server(
    _ change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws -> TestServer {
    try TestServer(database: TestCluster.migratedDatabase()) {
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      $0.loopCount = 2
      change(&$0)
    }
  }

  @Test func `operations are counted by type and code, and their phases measured`() throws {
    let server = try Self.server()
    for _ in 0..<3 { _ = try server.execute("query A { users(first: 1) { nodes { id } } }") }
    _ = try server.execute("{ nonsense }")
    _ = try server.execute("query B($id: ID!) { node(id: $id) { id } }")
    _ = try server.post(Array("[]".utf8))
    func operations(_ type: String, _ code: String) throws -> Double? {
      try server.metric("sociograph_operations_total{type=\"\(type)\",code=\"\(code)\"}")
    }
    #expect(try operations("query", "OK") == 3)
    #expect(try operations("none", "GRAPHQL_VALIDATION_FAILED") == 1)
    #expect(try operations("query", "BAD_USER_INPUT") == 1)
    #expect(try operations("none", "BAD_REQUEST") == 1)
    #expect(
      try server.metric("sociograph_operation_duration_seconds_count{type=\"query\"}") == 4)
    func phase(_ name: String) throws -> Double {
      try server.metric("sociograph_phase_duration_seconds_count{phase=\"\(name)\"}") ?? 0
    }
    for name in ["postgresql", "wait", "write"] { #expect(try phase(name) == 3) }
    // Each loop keeps documents of its own.
    #expect(try (3...5).contains(phase("parse")))
    #expect(try (1...2).contains(phase("plan")))
    #expect(try server.metric("sociograph_document_cache_entries") ?? 0 >= 2)
    // One or two for reading on each loop, and as many as the loop's part of eight for writing.
    for (pool, least) in [("reads", 1), ("writes", 2)] {
      let name = "sociograph_pool_connections{pool=\"\(pool)\",state=\"idle\"}"
      #expect(try server.metric(name) ?? 0 >= Double(least))
    }
    #expect(try server.metric("process_resident_memory_bytes") ?? 0 > 1e6)
    #expect(try server.metric("process_start_time_seconds") ?? 0 > 1.7e9)
  }

  @Test func `every fault that clients see is counted beside its line, by where it happened`()
    throws
  {
    let log = LogPipe()
    let graph = try OwnGraph(
      """
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") { id: Int size: Float name: String }
      """,
      """
      CREATE TABLE thing (id bigint PRIMARY KEY, size float8, name text);
      INSERT INTO thing VALUES (1, 'NaN'), (2, 'Infinity'), (3, 1);
      """
    ) {
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      $0.logWriter = log.writer
    }
    func faults(_ code: String) throws -> Double? {
      try graph.server.metric("sociograph_faults_total{subject=\"query\",code=\"\(code)\"}")
    }
    #expect(try graph.body("{ things { id } }").hasPrefix(#"{"data":"#))
    _ = try graph.body("{ nonsense }")
    #expect(try !graph.server.ask("/metrics").body.contains("sociograph_faults_total{"))
    for _ in 0..<3 { _ = try graph.body("{ things { id size } }") }
    #expect(try faults("VALUE_NOT_REPRESENTABLE") == 6)
    try TestCluster.session(graph.server.database).execute("ALTER TABLE thing DROP name")
    #expect(try graph.server.execute("{ things { name } }").status == 503)
    #expect(try faults("DATABASE_UNAVAILABLE") == 1)
    let lines = log.lines(through: "DATABASE_UNAVAILABLE") ?? []
    #expect(lines.count { $0.contains(" error: ") } == 7, "\(lines)")
  }

  @Test
  func `what clients use is counted by operation and client, what is deprecated also as a metric`()
    throws
  {
    let graph = try OwnGraph(
      """
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") { id: Int size: Int @deprecated(reason: "Use id.") }
      """,
      "CREATE TABLE thing (id bigint PRIMARY KEY, size int); INSERT INTO thing VALUES (1, 2);"
    ) {
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      $0.loopCount = 2
    }
    func ask(_ query: String, as client: String) throws {
      let body = Array(#"{"query":"\#(query)"}"#.utf8)
      let headers =
        "apollographql-client-name: \(client)\r\napollographql-client-version: 2\r\n"
      #expect(try graph.server.post(body, headers: headers).status == 200)
    }
    for _ in 0..<3 { try ask("query A { things { size } }", as: "ios") }
    try ask("query B { things { id ...F } } fragment F on Thing { size }", as: "web")
    try ask("query B { things { id ...F } } fragment F on Thing { size }", as: "ios")
    _ = try graph.body("{ things { id } }")
    _ = try graph.body("{ nonsense }")
    let answer = try graph.server.ask("/usage")
    #expect(answer.status == 200)
    let report = try JSONParser.parse(Array(answer.body.utf8))
    func text(_ value: JSONValue?) -> String {
      if case .string(let text)? = value { text } else { value.map { "\($0)" } ?? "" }
    }
    guard case .array(let elements)? = report["coordinates"],
      case .array(let operations)? = report["operations"]
    else {
      Issue.record("\(answer.body)")
      return
    }
    let counts = elements.map { "\(text($0["executions"])) \(text($0["coordinate"]))" }
    #expect(counts == ["6 Query.things", "5 Thing.size", "3 Thing.id", "2 Thing"])
    #expect(elements[1]["deprecated"] == .string("Use id."))
    #expect(
      elements[1]["clients"]
        == (try JSONParser.parse(
          Array(
            #"[{"name":"ios","version":"2","executions":4},{"name":"web","version":"2","executions":1}]"#
              .utf8))))
    #expect(operations.map { text($0["name"]) } == ["A", "B", "null"])
    for (client, count) in [("ios", 4.0), ("web", 1.0)] {
      #expect(
        try graph.server.metric(
          "sociograph_deprecated_uses_total{coordinate=\"Thing.size\",client=\"\(client)\",version=\"2\"}"
        ) == count)
    }
  }

  @Test func `a list without pages ends where an answer's elements do`() throws {
    let graph = try OwnGraph(
      """
      type Query { list: [Thing!] @list(orderBy: "this.id") one: Thing @reference(where: "this.id = 1") }
      type Thing @table(name: "thing") { id: Int }
      """,
      """
      CREATE TABLE thing (id bigint PRIMARY KEY);
      INSERT INTO thing SELECT n FROM generate_series(1, 21) AS n;
      """
    ) { $0.execution.plannerLimits.maximumElements = 20 }
    let body = try graph.body("{ list { id } one { id } }")
    #expect(
      body.hasPrefix(
        #"{"data":{"list":null,"one":{"id":1}},"errors":[{"message":"The list has more"#))
    #expect(body.contains("RESULT_LIMIT_EXCEEDED"))
    try TestCluster.session(graph.server.database).execute("DELETE FROM thing WHERE id = 21")
    #expect(try !graph.body("{ list { id } one { id } }").contains("errors"))
  }

  @Test func `what nobody can ask for is not counted`() throws {
    let server = try TestServer(database: TestCluster.migratedDatabase())
    #expect(server.adminPort == 0)
    #expect(try server.get("/metrics").status == 404)
  }

  @Test func `promtool has nothing against the page`() throws {
    let server = try Self.server()
    _ = try server.execute("query A { users(first: 1) { nodes { id } } }")
    _ = try server.execute("{ nonsense }")
    let page = try server.ask("/metrics")
    #expect(page.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
    let folder = try MetricsFolder()
    try folder.write("page", page.body)
    let status = try folder.run("promtool check metrics < page > said 2>&1")
    #expect(status == 0 && folder.text("said").isEmpty, "\(folder.text("said"))")
  }

  @Test func `a Prometheus scrapes it`() throws {
    let server = try Self.server()
    for _ in 0..<5 { _ = try server.execute("query A { users(first: 1) { nodes { id } } }") }
    let folder = try MetricsFolder()
    try folder.write(
      "prometheus.yml",
      """
      global: {scrape_interval: 1s}
      scrape_configs:
      - job_name: sociograph
        static_configs: [{targets: ['127.0.0.1:\(server.adminPort)']}]
      """)
    let prometheus = try folder.start(
      "exec prometheus --config.file=prometheus.yml --storage.tsdb.path=data "
        + "--web.listen-address=127.0.0.1:0 > log 2>&1")
    defer {
      kill(prometheus, SIGKILL)
      _ = waitpid(prometheus, nil, 0)
    }
    func ask(_ port: UInt16, _ query: String) throws -> String? {
      let client = try RawClient(port: port)
      client.send("GET /api/v1/query?query=\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let value = try JSONParser.parse(Array(client.answer().body.utf8))
      guard case .array(let results)? = value["data"]?["result"],
        case .array(let pair)? = results.first?["value"], pair.count == 2
      else { return nil }
      return pair[1].text
    }
    let count = "sum(sociograph_operations_total%7Btype=%22query%22,code=%22OK%22%7D)"
    let isSeen = eventually {
      guard let port = Self.port(in: folder.text("log")) else { return false }
      return (try? ask(port, count)) == "5"
    }
    #expect(isSeen, "\(folder.text("log"))")
    if let port = Self.port(in: folder.text("log")) {
      #expect(try ask(port, "up%7Bjob=%22sociograph%22%7D") == "1")
      #expect(
        try ask(
          port,
          "histogram_quantile(0.5,sum(sociograph_phase_duration_seconds_bucket"
            + "%7Bphase=%22postgresql%22%7D)by(le))") != nil)
    }
  }

  /// `msg="Listening on" address=127.0.0.1:43521`
  private static func port(in log: String) -> UInt16? {
    guard let match = log.firstMatch(of: /Listening on" address=127\.0\.0\.1:(\d+)/) else {
      return nil
    }
    return UInt16(match.1)
  }

  /// A runner that blocks its loop until it is released.
  private final class Held: StatementRunner {
    let gate: DispatchSemaphore
    let pool: PostgresPool

    init(_ pool: PostgresPool, _ gate: DispatchSemaphore) { (self.pool, self.gate) = (pool, gate) }

    func run(
      _ statement: BatchableStatement, _ parameters: PostgresParameters, for client: PoolClient?,
      completion: @escaping StatementCompletion
    ) -> PostgresTicket? {
      gate.wait()
      return pool.execute(statement.alone, parameters, completion: completion)
    }
  }

  @Test func `live says no while a loop is held up, and yes again`() throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try Self.server {
      $0.loopCount = 1
      $0.statementRunner = { Held($0, gate) }
    }
    #expect(try server.ask("/live").status == 200)
    #expect(try server.ask("/ready").status == 200)
    let client = try RawClient(port: server.port)
    client.send(
      "GET /graphql?query=%7Busers(first:1)%7Bnodes%7Bid%7D%7D%7D HTTP/1.1\r\nHost: localhost\r\n"
        + "GraphQL-Require-Preflight: 1\r\n\r\n")
    #expect(try eventually { try server.ask("/live").status == 503 })
    // Its last numbers are still shown.
    #expect(try server.ask("/ready").status == 503)
    #expect(try server.metric("sociograph_http_connections_opened_total") ?? 0 > 0)
    gate.signal()
    #expect(client.answer().status == 200)
    #expect(try eventually { try server.ask("/live").status == 200 })
    #expect(try server.ask("/ready").status == 200)
    let delay = "sociograph_loop_delay_seconds"
    let short = try server.metric("\(delay)_bucket{loop=\"0\",le=\"0.5\"}") ?? 0
    let all = try server.metric("\(delay)_count{loop=\"0\"}") ?? 0
    #expect(short < all)
  }
}

/// A folder of a test's own, and programs run in it.
private final class MetricsFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/sociograph-metrics-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  func text(_ name: String) -> String {
    String(
      decoding: FileManager.default.contents(atPath: "\(path)/\(name)") ?? Data(), as: UTF8.self)
  }

  func start(_ command: String) throws -> pid_t {
    try ChildProcess.start(
      ["/bin/sh", "-c", "cd \"$1\" && \(command)", "sh", path], user: nil,
      output: path + "/output")
  }

  func run(_ command: String) throws -> Int32 {
    var status: Int32 = 0
    _ = unsafe waitpid(try start(command), &status, 0)
    return status
  }
}
