import Glibc
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

/// A subscriber by a socket to the comments on one subject, or to posts.
struct LiveWatcher {
  /// Its index among the people; nil for an anonymous client.
  let viewer: Int?
  let place: Int
  private var socket: GraphQLSocket?
  /// Events of phases in which it could not see them: they may be delivered late, if it gains
  /// access meanwhile.
  private var unseen: Set<String> = []

  init(_ viewer: Int?, _ place: Int) {
    self.viewer = viewer
    self.place = place
  }

  mutating func close() {
    socket = nil
    unseen = []
  }

  mutating func open(_ server: LiveServer, _ world: LiveWorld) throws {
    let socket = try server.socket(viewer.map { world.people[$0] })
    if place == LiveWorld.posts {
      socket.subscribe("1", "subscription { postAdded { body } }")
    } else {
      socket.subscribe(
        "1", "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }",
        ["id": world.subjects[place].json])
    }
    self.socket = socket
  }

  private func next() throws -> String? {
    guard let message = socket?.message() else { return nil }
    let data = message["payload"]?["data"]
    guard message["type"] == "next", message["payload"]?["errors"] == nil,
      let body = (data?.at("commentAdded.body") ?? data?.at("postAdded.body"))?.string
    else { throw GraphTestFailure("another message: \(message)") }
    return body
  }

  /// - Parameters:
  ///   - written: the events of this phase, each writer's in the order of their commits.
  ///   - end: the last event.
  ///   - isCut: whether its server went away meanwhile, so that it missed later events.
  mutating func expect(
    _ written: [LiveNews], _ end: String, _ world: LiveWorld, isCut: Bool
  ) throws {
    let here = written.filter { $0.place == place }
    guard world.sees(viewer, place, by: nil) else {
      unseen.formUnion(here.map(\.body))
      return
    }
    let due = here.filter { world.sees(viewer, place, by: $0.author) }
    var told: [String] = []
    while told.last != end, let body = try next() { told.append(body) }
    let who = "viewer \(viewer ?? -1) of \(place)"
    told.removeAll { unseen.contains($0) }
    unseen = []
    #expect(isCut || told.last == end, "\(who)")
    #expect(Set(told).count == told.count, "\(who)")
    for writer in Set(here.map(\.writer)) {
      let own = due.filter { $0.writer == writer }.map(\.body)
      let heard = told.filter { body in here.contains { $0.writer == writer && $0.body == body } }
      #expect(heard == (isCut ? Array(own.prefix(heard.count)) : own), "\(who)")
    }
    #expect(Set(told).isSubset(of: due.map(\.body)), "\(who)")
  }
}

/// A subscriber to the comments on one subject by a stream that breaks repeatedly, and sends the
/// last event ID each time.
struct LiveStream {
  private var random: SeededGenerator
  private var told: [String] = []
  private var last: String?
  /// It was away for so long that what happened meanwhile was forgotten.
  private var isLate = false

  init(_ number: Int, seed: UInt64) {
    random = SeededGenerator(seed: seed &* 100 &+ UInt64(number))
  }

  /// - Parameter hears: called when the first was heard.
  mutating func listen(
    _ servers: RestartedServer, _ subject: NodeKey, until end: String, hears: () -> Void
  ) throws {
    for _ in 0..<60_000 where told.last != end && !isLate {
      // Whom nobody answers any more is answered by another server.
      guard let client = try? open(servers.server, subject),
        client.answer(isHead: true).status == 200
      else {
        usleep(2_000)
        continue
      }
      for _ in 0..<Int.random(in: 1...3, using: &random) where told.last != end {
        guard let body = try event(client) else { break }
        if told.isEmpty { hears() }
        told.append(body)
      }
    }
  }

  private func open(_ server: LiveServer, _ subject: NodeKey) throws -> RawClient {
    try server.open(
      accept: "text/event-stream",
      "subscription($id: ID!) { commentAdded(subjectId: $id) { body } }", ["id": subject.json],
      headers: last.map { "Last-Event-ID: \($0)\r\n" } ?? "")
  }

  /// Returns the next event; nil for a stream that ended or could not start, because its server or
  /// the database went away.
  private mutating func event(_ client: RawClient) throws -> String? {
    while let line = client.line() {
      if line.hasPrefix("id: ") { last = String(line.dropFirst(4)) }
      guard line.hasPrefix("data: {") else { continue }
      let response = try JSONParser.parse(Array(line.utf8.dropFirst(6)))
      if let body = response.at("data.commentAdded.body")?.string { return body }
      switch response.at("errors.0.extensions.code")?.string {
      case "DATABASE_UNAVAILABLE", "SERVICE_OVERLOADED": usleep(2_000)
      case "TOKEN_EXPIRED": isLate = true
      default: throw GraphTestFailure("another event: \(response)")
      }
      return nil
    }
    guard client.isClosed else { throw GraphTestFailure("nothing came for a minute") }
    return nil
  }

  /// - Parameter written: in this phase; all of it may be seen.
  func expect(_ written: [LiveNews]) {
    #expect(Set(told).count == told.count, "told twice")
    let all = written.filter { $0.place == 0 }.map(\.body)
    #expect(isLate ? Set(told).isSubset(of: all) : told.sorted() == all.sorted())
  }
}

/// One live query, and a fresh answer to hold its last against.
struct LiveAnswerCheck {
  private var socket: GraphQLSocket
  private let document: String
  private let variables: JSONValue
  private let viewer: Person?
  private let asPatches: Bool
  private var last: JSONValue = .null
  private var revision = 0

  init(
    _ selection: String, _ id: NodeKey, _ viewer: Person?, asPatches: Bool, _ server: LiveServer
  ) throws {
    document = "query($id: ID!) { __typename \(selection) }"
    variables = ["id": id.json]
    self.viewer = viewer
    self.asPatches = asPatches
    socket = try server.socket(viewer)
    try begin()
  }

  /// Reopens the stream at another server.
  mutating func reopen(_ server: LiveServer) throws {
    socket = try server.socket(viewer)
    try begin()
  }

  private mutating func begin() throws {
    socket.subscribe(
      "1", document.replacing(") {", with: ") @live {", maxReplacements: 1), variables,
      extensions: asPatches ? ["liveFormat": "patch"] : [:])
    try read()
  }

  /// The next answer, or what is to be changed in the last one.
  private mutating func read() throws {
    guard let message = socket.message() else { throw GraphTestFailure("the socket has ended") }
    try take(message)
  }

  private mutating func take(_ message: JSONValue) throws {
    guard message["type"] == "next", let payload = message["payload"], payload["errors"] == nil
    else { throw GraphTestFailure("another message: \(message)") }
    if let data = payload["data"] {
      #expect(payload["revision"] == (asPatches ? 1 : nil))
      (last, revision) = (data, 1)
    } else {
      revision += 1
      #expect(asPatches && payload["revision"] == .number("\(revision)"))
      last = try last.patched(by: payload["patch"] ?? .null)
    }
  }

  /// Reads answers until one is what a query gives now.
  mutating func awaitFresh(_ graph: GraphServer) throws {
    while try last != fresh(graph) { try read() }
  }

  /// After all was quiet, what came last is so.
  mutating func expectLast(_ graph: GraphServer) throws {
    socket.client.send(#"{"type":"ping"}"#)
    while let message = socket.message(), message["type"] != "pong" { try take(message) }
    #expect(try fresh(graph) == last)
  }

  private func fresh(_ graph: GraphServer) throws -> JSONValue {
    try graph.data(document, variables, as: viewer)
  }

  func complete() { socket.complete("1") }
}
