import GraphQLResponse
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing

@testable import Server

/// The lines of the log, and that writing them never blocks.
@Suite(.usesCluster) struct LogTests {
  /// The pipe is not read: it and the buffer are full, and `write` still returns.
  @Test func `what does not fit is counted, and said when there is room again`() throws {
    let pipe = LogPipe(maximumBytes: 10_000)
    let filler = String(repeating: "x", count: 1_000)
    var written = 0
    while pipe.writer.counts.lost < 10 {
      pipe.writer.write(LogLine(.info, "test", filler), as: .json)
      written += 1
      try #require(written < 1_000_000)
    }
    // Some may have been lost, and said, before the pipe was full.
    var said = 0
    let lines = try #require(
      pipe.lines { lines in
        let counts = lines.compactMap { Self.lostCount($0) }
        said = counts.reduce(0, +)
        return said >= 10 ? lines.indices.last { Self.lostCount(lines[$0]) != nil } : nil
      })
    #expect(said == 10)
    #expect(lines.count { Self.lostCount($0) == nil } == written - 10)
  }

  /// Returns the number of lost lines; nil for any other line.
  private static func lostCount(_ line: String) -> Int? {
    guard line.contains("dropped lines"),
      let value = try? JSONParser.parse(Array(line.utf8)), value["subject"] == .string("log")
    else { return nil }
    return value["count"]?.number.map { Int($0) }
  }

  @Test func `a server whose log nobody reads goes on`() throws {
    let pipe = LogPipe(maximumBytes: 4_096)
    let server = try TestServer {
      $0.log.access = .all
      $0.logWriter = pipe.writer
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
    }
    for _ in 0..<2_000 where pipe.writer.counts.lost == 0 {
      let client = try RawClient(port: server.port)
      for _ in 0..<50 {
        client.send(
          "GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nHost: localhost\r\n"
            + "GraphQL-Require-Preflight: 1\r\n\r\n")
        #expect(client.answer().status == 200)
      }
    }
    #expect(pipe.writer.counts.lost > 0)
    #expect(try server.get("/live").status == 200)
    #expect(try server.metric("sociograph_log_lines_total{result=\"lost\"}") ?? 0 > 0)
    server.stop()
  }

  @Test func `what a client sent is never a line of its own`() throws {
    let pipe = LogPipe()
    pipe.writer.write(
      LogLine(.info, "a", "b\nc\u{2028}d\u{1b}[0m", [("e", .text("f\r\ng"))]), as: .text)
    pipe.writer.write(LogLine(.info, "end", ""), as: .text)
    let lines = try #require(pipe.lines(through: "end: "))
    #expect(lines.count == 2)
    #expect(lines[0].hasSuffix(" info a: b?c?d?[0m e=f??g"))
  }

  @Test func `moments are in UTC with milliseconds`() throws {
    let pipe = LogPipe()
    pipe.writer.write(LogLine(.info, "a", ""), as: .json)
    let time = try #require(try pipe.object("a")?["time"]?.text)
    let shape = /\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d{3}Z/
    #expect(time.wholeMatch(of: shape) != nil, "\(time)")
  }

  /// A failure, a retry, and a step of the start, in both formats.
  @Test(arguments: LogLine.Format.allCases)
  func `each line has the level of its event`(_ format: LogLine.Format) throws {
    let pipe = LogPipe()
    var settings = ServiceLog.Settings()
    settings.format = format
    let log = ServiceLog(settings, writer: pipe.writer)
    let identity = RequestIdentity.random()
    let events: [(ServerEvent, LogLine.Level)] = [
      (.life(.step("serving")), .info), (.life(.warning("no list")), .warning),
      (.life(.failure("no port")), .error), (.pool(.breakerOpened), .error),
      (.pool(.breakerClosed), .info),
      (.task(.failed("fold_counts", PostgresError(.lost, message: "gone"))), .warning),
      (.outbox(.failed("7", reason: "refused", isTriedAgain: true)), .warning),
      (.outbox(.failed("7", reason: "refused", isTriedAgain: false)), .error),
      (.push(identity, [.fault("a mistake")]), .error),
      (.push(identity, [GraphQLError("Not so.", code: .badUserInput, reason: "22P02")]), .info),
      (.push(identity, [GraphQLError("?", code: .valueNotRepresentable, reason: "NaN")]), .warning),
      (.picture(.notModerated(reason: "status 1")), .warning), (.picture(.forgotten(3)), .info),
    ]
    for (event, _) in events { log.report(event, loop: 1) }
    pipe.writer.write(LogLine(.info, "end", ""), as: .text)
    let lines = try #require(pipe.lines(through: " end: ")).dropLast()
    #expect(lines.count == events.count)
    for (line, (event, level)) in zip(lines, events) {
      switch format {
      case .text:
        #expect(line.split(separator: " ")[1] == level.rawValue, "\(event)")
      case .json:
        let value = try JSONParser.parse(Array(line.utf8))
        #expect(value["level"] == .string(level.rawValue), "\(line)")
        #expect(value.names.prefix(4) == ["time", "level", "subject", "message"])
      }
    }
  }

  @Test(arguments: [
    (ServiceLog.AccessLog.off, [] as [String]), (.errors, ["BAD"]), (.all, ["GOOD", "BAD"]),
    (.sampled(1e-12), ["BAD"]), (.sampled(1), ["GOOD", "BAD"]),
  ])
  func `the access log has the answers it was told to have`(
    _ access: ServiceLog.AccessLog, _ expected: [String]
  ) throws {
    let pipe = LogPipe()
    let server = try TestServer(database: TestCluster.migratedDatabase()) {
      $0.log.access = access
      $0.logWriter = pipe.writer
    }
    #expect(try server.execute("query GOOD { __typename }").status == 200)
    #expect(try server.execute("query BAD { nodes(ids: [\"?\"], x: 1) { id } }").status == 400)
    server.stop()
    pipe.writer.write(LogLine(.info, "end", ""), as: .text)
    let lines = try #require(pipe.lines(through: "end: ")).filter { $0.contains(" access: ") }
    #expect(lines.count == expected.count)
    for (line, name) in zip(lines, expected) {
      // A document that is not valid has no operation yet.
      #expect(line.contains(name == "GOOD" ? "query GOOD" : "GRAPHQL_VALIDATION_FAILED"), "\(line)")
      #expect(line.contains("requestId=") && line.contains("client=127.0.0.1"))
    }
  }

  @Test func `a slow operation has a line with where its time went, and no value`() throws {
    let pipe = LogPipe()
    let server = try TestServer(database: TestCluster.migratedDatabase()) {
      $0.log.format = .json
      $0.log.slowOperation = .zero
      $0.logWriter = pipe.writer
    }
    let answer = try server.execute(
      "query Slow($name: String!) { user(by: {username: $name}) { id } }",
      .object([JSONValue.Member(name: "name", value: .string("a-secret-name"))]))
    #expect(answer.status == 200)
    let lines = try #require(pipe.lines(through: "\"subject\":\"slow\""))
    let line = try #require(lines.last)
    #expect(!line.contains("a-secret-name"))
    let value = try JSONParser.parse(Array(line.utf8))
    #expect(value["message"] == .string("query Slow"))
    #expect(value["document"]?.text?.utf8.count == 16)
    #expect(value["statement"]?.text?.hasPrefix("s_") == true)
    #expect(value["requestId"]?.text == answer.header("X-Request-Id"))
    for phase in ["parse", "validate", "plan", "postgresql", "write", "milliseconds"] {
      #expect(value[phase]?.number ?? 0 > 0, "\(phase) in \(line)")
    }
    #expect(value["wait"]?.number != nil)
    #expect(value["responseBytes"]?.number == Double(answer.body.utf8.count))
  }

  /// The table is locked, so the statement cannot end before the deadline.
  @Test func `a timeout says which operation it was, and the database shows the same`() throws {
    let pipe = LogPipe()
    let database = try TestCluster.newDatabase(migrated: true)
    let server = try TestServer(database: database) {
      $0.log.format = .json
      $0.logWriter = pipe.writer
      $0.pool.operationDeadline = .seconds(2)
    }
    let watch = try TestCluster.session(database)
    let lock = try TestCluster.session(database)
    try lock.execute("BEGIN; LOCK TABLE app_user")
    let client = try RawClient(port: server.port)
    let body = #"{"query":"query Held { users(first: 1) { nodes { id } } }"}"#
    client.send(
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Accept: application/graphql-response+json\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    var shown: String?
    _ = try eventually {
      shown =
        try watch.execute(
          "SELECT query FROM pg_stat_activity WHERE query LIKE '/*action=''Held''%' AND state = 'active'"
        ).first?.first ?? nil
      return shown != nil
    }
    let answer = client.answer()
    #expect(answer.code == "TIMEOUT" || answer.code == "LOCK_TIMEOUT", "\(answer.body)")
    let line = try #require(try pipe.object("error"))
    #expect(line["message"]?.text?.hasPrefix("query Held: ") == true)
    let document = try #require(line["document"]?.text)
    let statement = try #require(line["statement"]?.text)
    let comment =
      "/*action='Held',application='sociograph',document='\(document)',statement='\(statement)'*/"
    #expect(try #require(shown).hasPrefix(comment + " SELECT"))
    try lock.execute("ROLLBACK")
  }

  @Test func `what passwords wait and take is a phase of its own`() throws {
    let pipe = LogPipe()
    let server = try TestServer {
      $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
      $0.log.format = .json
      $0.log.slowOperation = .zero
      $0.logWriter = pipe.writer
    }
    let input = #"username: "slow", password: "correct horse""#
    let operations = [
      ("None", #"mutation None { followUsers(userIds: ["AQ"]) { __typename } }"#),
      ("New", "mutation New { signUp(input: {\(input)}) { userErrors { code } } }"),
      ("Known", "mutation Known { signIn(\(input)) { userErrors { code } } }"),
    ]
    for (name, document) in operations {
      #expect(try server.execute(document).status == 200)
      let lines = try #require(pipe.lines(through: "\"mutation \(name)\""))
      let line = try #require(lines.last)
      #expect(!line.contains("correct horse"))
      let value = try JSONParser.parse(Array(line.utf8))
      let password = try #require(value["password"]?.number)
      #expect((password > 0) == (name != "None"), "\(line)")
      // Within the whole, and not in what PostgreSQL took.
      let other = try #require(value["postgresql"]?.number)
      #expect(password + other <= value["milliseconds"]?.number ?? 0, "\(line)")
      #expect(other > 0 || name == "None", "\(line)")
    }
    #expect(
      try server.metric("sociograph_phase_duration_seconds_count{phase=\"password\"}") == 2)
  }

  @Test func `a subscription is not slow for that it lasts`() throws {
    let pipe = LogPipe()
    let server = try TestServer {
      $0.log.slowOperation = .zero
      $0.logWriter = pipe.writer
    }
    let socket = try GraphQLSocket(port: server.port)
    socket.subscribe("1", "subscription Lasting { postAdded { body } }")
    socket.complete("1")
    socket.subscribe("2", "query After { users(first: 1) { totalCount } }")
    #expect(socket.answer("2").map(\.type) == ["next", "complete"])
    let lines = try #require(pipe.lines(through: " slow: query After"))
    #expect(!lines.contains { $0.contains("Lasting") })
  }

  @Test func `a client that leaves is in the log of slow operations`() throws {
    let pipe = LogPipe()
    let database = try TestCluster.newDatabase(migrated: true)
    let server = try TestServer(database: database) {
      $0.log.slowOperation = .zero
      $0.logWriter = pipe.writer
    }
    let watch = try TestCluster.session(database)
    let lock = try TestCluster.session(database)
    try lock.execute("BEGIN; LOCK TABLE app_user")
    do {
      let client = try RawClient(port: server.port)
      client.send(
        "GET /graphql?query=query+Gone%7Busers(first:1)%7Bnodes%7Bid%7D%7D%7D HTTP/1.1\r\n"
          + "Host: localhost\r\nGraphQL-Require-Preflight: 1\r\n\r\n")
      let isAsked = try eventually {
        try !watch.execute(
          "SELECT 1 FROM pg_stat_activity WHERE query LIKE '/*action=''Gone''%' AND state = 'active'"
        ).isEmpty
      }
      try #require(isAsked)
      client.reset()
    }
    let lines = try #require(pipe.lines(through: "which its client did not wait for"))
    #expect(lines.last?.contains(" slow: query Gone, ") == true)
    try lock.execute("ROLLBACK")
  }
}
