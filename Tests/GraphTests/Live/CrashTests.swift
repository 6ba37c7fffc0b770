import Glibc
import HTTPTestSupport
import JSON
import TestSupport
import Testing

extension LiveTests {
  /// Transactions that PostgreSQL lost in a crash do not hide later events.
  @Suite struct CrashTests {
    private static let comments = "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }"

    @Test func `what transactions do that have numbers of before a crash is told, once`() throws {
      // The log is written when something is committed, and hardly otherwise.
      let servers = try RestartedServer(
        "crash", settings: [("synchronous_commit", "on"), ("wal_writer_delay", "10s")])
      let server = servers.server
      var data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      func open(_ headers: String = "") throws -> RawClient {
        try server.open(
          accept: "text/event-stream", Self.comments, ["id": post.json], headers: headers)
      }
      let socket = try server.socket()
      socket.subscribe("1", Self.comments, ["id": post.json])
      let stream = try open()
      #expect(stream.answer(isHead: true).status == 200)
      try server.waitForHearing(2)
      _ = try data.comment(post, by: ann, "before")
      #expect(try body(of: socket) == "before")
      let old = try event(stream).id
      let lost = try loseNumbers(servers)
      data = try server.graph.data()
      var texts: [String] = []
      repeat {
        texts.append("after \(texts.count)")
        _ = try data.comment(post, by: ann, texts.last ?? "")
      } while try number(data) <= lost
      #expect(try texts.map { _ in try body(of: socket) } == texts)
      let events = try texts.map { _ in try event(stream) }
      #expect(events.map(\.body) == texts)
      // Who comes back says whether it was before.
      #expect(try event(open("Last-Event-ID: \(old)\r\n")).code == "TOKEN_EXPIRED")
      let again = try open("Last-Event-ID: \(events[0].id)\r\n")
      #expect(try texts.dropFirst().map { _ in try event(again).body } == Array(texts.dropFirst()))
    }

    @Test func `the id of an event outlives ends of PostgreSQL that are in order, and no other`()
      throws
    {
      let servers = try RestartedServer("order")
      var data = try servers.server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      func open(_ id: String? = nil) throws -> RawClient {
        try servers.server.open(
          accept: "text/event-stream", Self.comments, ["id": post.json],
          headers: id.map { "Last-Event-ID: \($0)\r\n" } ?? "")
      }
      func comment(_ text: String) throws {
        try waitForAnswers(servers.server)
        data = try servers.server.graph.data()
        _ = try data.comment(post, by: ann, text)
      }
      let stream = try open()
      #expect(stream.answer(isHead: true).status == 200)
      try servers.server.waitForHearing(1)
      try comment("first")
      let first = try event(stream)
      try servers.restartDatabase()
      try comment("second")
      #expect(try event(open(first.id)).body == "second")
      try servers.crashDatabase()
      try waitForAnswers(servers.server)
      let later = try open()
      #expect(later.answer(isHead: true).status == 200)
      try servers.server.waitForHearing(2)
      try comment("third")
      let third = try event(later)
      // For who was told after the crash, an end in order is none; who was told before it is known for it even then.
      try servers.restartDatabase()
      try comment("fourth")
      #expect(try event(open(third.id)).body == "fourth")
      #expect(try event(open(first.id)).code == "TOKEN_EXPIRED")
      try servers.restartServer()
      try waitForAnswers(servers.server)
      #expect(try event(open(third.id)).body == "fourth")
      #expect(try event(open(first.id)).code == "TOKEN_EXPIRED")
    }

    /// Until the server has found PostgreSQL again.
    private func waitForAnswers(_ server: LiveServer) throws {
      for _ in 0..<60_000 {
        if (try? server.graph.data("{ programs { totalCount } }")) != nil { return }
        usleep(10_000)
      }
      throw GraphTestFailure("the server does not answer")
    }

    private func body(of socket: GraphQLSocket) throws -> String? {
      try socket.data().at("commentAdded.body")?.string
    }

    private func event(_ stream: RawClient) throws -> (id: String, body: String?, code: String?) {
      var id = ""
      while let line = stream.line() {
        if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
        guard line.hasPrefix("data: {") else { continue }
        let response = try JSONParser.parse(Array(line.utf8.dropFirst(6)))
        return (
          id, response.at("data.commentAdded.body")?.string,
          response.at("errors.0.extensions.code")?.string
        )
      }
      throw GraphTestFailure("the stream broke")
    }

    private func number(_ data: GraphData) throws -> Int {
      try Int(data.run("SELECT pg_current_xact_id()")[0][0] ?? "") ?? 0
    }

    /// - Returns: the last number that the reader took as seen and that PostgreSQL will assign
    ///   again.
    private func loseNumbers(_ servers: RestartedServer) throws -> Int {
      for _ in 0..<20 {
        let data = try GraphData(servers.database)
        var last = 0
        for _ in 0..<40 {
          try data.run("BEGIN")
          last = try number(data)
          try data.run("ROLLBACK")
        }
        try waitForLooks(data)
        try servers.crashDatabase()
        if try number(GraphData(servers.database)) < last { return last }
      }
      throw GraphTestFailure("PostgreSQL loses nothing")
    }

    /// Waits until the reader has polled once more.
    private func waitForLooks(_ data: GraphData) throws {
      var looks: Set<String> = []
      for _ in 0..<12_000 {
        let look = try data.run(
          """
          SELECT max(query_start) FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%news_since%'
            AND state = 'idle' AND pid <> pg_backend_pid()
          """)[0][0]
        if let look { looks.insert(look) }
        if looks.count == 2 { return }
        usleep(10_000)
      }
      throw GraphTestFailure("nobody looks for news")
    }
  }
}
