import HTTPTestSupport
import JSON
import TestSupport
import Testing

@testable import Server

/// `Server-Timing`, and what a socket has in its place.
@Suite(.usesCluster) struct TimingTests {
  private static let phases = [
    "parse", "validate", "plan", "password", "wait", "postgresql", "write",
  ]

  private let query = "query Times { users(first: 1) { nodes { id } } }"
  private let prefer = "Prefer: respond-async, metrics=timings\r\n"

  /// The times by their names, as they were written.
  private func timings(_ header: String) -> [String: String] {
    var result: [String: String] = [:]
    for entry in header.split(separator: ", ") {
      let parts = entry.split(separator: ";dur=")
      if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
    }
    return result
  }

  private func timings(_ value: JSONValue?) -> [String: String] {
    guard case .object(let members)? = value else { return [:] }
    var result: [String: String] = [:]
    for member in members {
      if case .number(let text) = member.value { result[member.name] = text }
    }
    return result
  }

  private func number(_ text: String?) -> Double { text.flatMap { Double($0) } ?? 0 }

  /// The times that the log has of an operation, those of phases that did not take place left out.
  private func logged(_ name: String, _ pipe: LogPipe) throws -> [String: String] {
    let line = try #require(pipe.lines(through: "\"message\":\"query \(name)\"")?.last)
    let value = try JSONParser.parse(Array(line.utf8))
    var result: [String: String] = [:]
    if case .number(let text)? = value["milliseconds"] { result["total"] = text }
    for phase in Self.phases {
      if case .number(let text)? = value[phase], number(text) > 0 { result[phase] = text }
    }
    return result
  }

  private func server(
    _ access: ServerTimingAccess, _ pipe: LogPipe? = nil
  ) throws -> TestServer {
    try TestServer(database: TestCluster.migratedDatabase()) {
      $0.serverTiming = access
      guard let pipe else { return }
      $0.log.slowOperation = .zero
      $0.log.format = .json
      $0.logWriter = pipe.writer
    }
  }

  @Test func `a client that asks receives the times of its request, which are the log's`() throws {
    let pipe = LogPipe()
    let server = try server(.all, pipe)
    let first = try server.execute(query, headers: prefer)
    let told = timings(try #require(first.header("Server-Timing")))
    for phase in ["total", "parse", "validate", "plan", "postgresql", "write"] {
      #expect(told[phase] != nil, "\(phase) in \(told)")
    }
    let known = told.filter { number($0.value) > 0 }
    #expect(known == (try logged("Times", pipe)))
    let parts = told.filter { $0.key != "total" }.values.map(number).reduce(0, +)
    // Each part is rounded to a microsecond.
    #expect(parts <= number(told["total"]) + 0.001 * Double(told.count))
    // From the cache: nothing was parsed.
    let second = try server.execute(query, headers: prefer)
    let again = timings(try #require(second.header("Server-Timing")))
    #expect(again["parse"] == nil && again["postgresql"] != nil)
    #expect(try server.execute(query).header("Server-Timing") == nil)
    #expect(
      try server.execute(query, headers: "Prefer: metrics=none\r\n").header("Server-Timing") == nil)
  }

  @Test func `a server that is not told to keeps its times`() throws {
    let server = try TestServer(database: TestCluster.migratedDatabase())
    #expect(try server.execute(query, headers: prefer).header("Server-Timing") == nil)
    let socket = try GraphQLSocket(port: server.port)
    socket.subscribe(
      "1", query, extensions: .object([.init(name: "serverTiming", value: .boolean(true))]))
    #expect(socket.answer("1").first?.payload?.names == ["data"])
  }

  @Test func `viewers alone are told where strangers are not`() throws {
    let server = try server(.signedIn)
    let token = try SocketTests.token(server.database)
    let bearer = "Authorization: Bearer \(token)\r\n"
    // Also where nothing is run.
    for query in [query, "{ nothing }", "{"] {
      #expect(try server.execute(query, headers: prefer).header("Server-Timing") == nil)
    }
    let unknown = "Authorization: Bearer \(token)x\r\n"
    #expect(try server.execute(query, headers: prefer + unknown).header("Server-Timing") == nil)
    #expect(try server.execute(query, headers: prefer + bearer).header("Server-Timing") != nil)
    #expect(try server.execute(query, headers: bearer).header("Server-Timing") == nil)
    for (payload, isTold) in [(nil, false), (#"{"authorization":"Bearer \#(token)"}"#, true)] {
      let socket = try GraphQLSocket(port: server.port, payload: payload)
      socket.subscribe(
        "1", query, extensions: .object([.init(name: "serverTiming", value: .boolean(true))]))
      let extensions = socket.answer("1").first?.payload?["extensions"]
      #expect(timings(extensions?["serverTiming"]).isEmpty == !isTold)
    }
  }

  @Test func `a socket's response has the times in its extensions`() throws {
    let pipe = LogPipe()
    let server = try server(.all, pipe)
    let socket = try GraphQLSocket(port: server.port)
    socket.subscribe(
      "1", "query OverASocket { users(first: 1) { nodes { id } } }",
      extensions: .object([.init(name: "serverTiming", value: .boolean(true))]))
    let answer = socket.answer("1")
    #expect(answer.map(\.type) == ["next", "complete"])
    #expect(answer.first?.payload?.names == ["data", "extensions"])
    let told = timings(answer.first?.payload?["extensions"]?["serverTiming"])
    #expect(told["total"] != nil && told["postgresql"] != nil)
    #expect(told.filter { number($0.value) > 0 } == (try logged("OverASocket", pipe)))
    for asked: JSONValue in [.boolean(false), .null, .number("1")] {
      socket.subscribe("2", query, extensions: .object([.init(name: "serverTiming", value: asked)]))
      #expect(socket.answer("2").first?.payload?.names == ["data"])
    }
  }

  @Test func `times are added to other extensions`() throws {
    let record = RequestRecord(.random(), peer: .local)
    record.timing = .told
    record.times.querying = 1_234_567
    func body(_ text: String, hasExtensions: Bool) -> String {
      let response = record.tellMore(
        in: .executed(body: Array(text.utf8), errors: []), hasExtensions: hasExtensions)
      guard case .executed(let body, _, _) = response else { return "" }
      return String(decoding: body, as: UTF8.self)
    }
    let cost = #"{"data":{},"extensions":{"cost":{"throttle":{"maximum":1}}}}"#
    let both = try JSONParser.parse(Array(body(cost, hasExtensions: true).utf8))
    #expect(both["extensions"]?.names == ["cost", "serverTiming"])
    #expect(both["extensions"]?["serverTiming"]?["postgresql"] == .number("1.234"))
    #expect(both["extensions"]?["cost"]?["throttle"]?["maximum"] == .number("1"))
    let alone = try JSONParser.parse(Array(body(#"{"data":{"a":{}}}"#, hasExtensions: false).utf8))
    #expect(alone.names == ["data", "extensions"])
    #expect(alone["extensions"]?.names == ["serverTiming"])
  }
}
