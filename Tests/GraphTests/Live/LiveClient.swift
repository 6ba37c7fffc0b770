import Glibc
import HTTP
import HTTPTestSupport
import JSON
import Server
import TestSupport

/// A separate server, and a session that reads the number of its subscriptions.
final class LiveServer: Sendable {
  let graph: GraphServer

  /// - Parameter database: a new one unless given.
  init(
    database: String? = nil,
    _ change: @Sendable (inout RunningServer.Settings) -> Void = { _ in }
  ) throws {
    graph = try GraphServer(
      database: database ?? TestCluster.newDatabase(migrated: true),
      settings: {
        $0.loopCount = 1
        $0.writers = 2
        $0.adminAddress = .tcp(host: "127.0.0.1", port: 0)
        // Clients speak and read when their time has come, and a machine that is busy makes them late.
        $0.live.initialisation = .seconds(600)
        $0.http.ping = .seconds(3600)
        change(&$0)
      })
  }

  deinit { graph.stop(patience: .zero) }

  func metric(_ name: String) throws -> Int {
    let client = try RawClient(port: graph.adminPort)
    client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for line in client.answer().body.split(separator: "\n") where line.hasPrefix(name + " ") {
      return Int(line.dropFirst(name.utf8.count + 1)) ?? -1
    }
    return -1
  }

  /// Waits until a number that only grows, or only falls, is there.
  func wait(_ name: String, _ value: Int) throws {
    for _ in 0..<60_000 {
      if try metric(name) == value { return }
      usleep(10_000)
    }
    throw GraphTestFailure("\(name) is \(try metric(name)), not \(value)")
  }

  /// Waits until this many subscriptions are active, and no other is about to be.
  func waitForHearing(_ count: Int) throws {
    for _ in 0..<60_000 {
      if try metric("sociograph_subscriptions") == count,
        try metric("sociograph_subscriptions_starting") == 0
      {
        return
      }
      usleep(10_000)
    }
    throw GraphTestFailure(
      "\(try metric("sociograph_subscriptions")) subscriptions hear, not \(count)")
  }

  /// Returns a session that locks a table until its transaction ends.
  func lock(_ table: String) throws -> GraphData {
    let lock = try graph.data()
    // As long as it takes, however busy the machine is.
    try lock.run("SET idle_in_transaction_session_timeout = 0")
    try lock.run("BEGIN")
    try lock.run("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
    return lock
  }

  /// Waits until this many of the server's statements that contain a word wait for a lock.
  func waitForWaiting(_ count: Int, _ word: String) throws {
    let data = try graph.data()
    var found: String?
    for _ in 0..<60_000 {
      found = try data.run(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1
        """, ["%\(word)%"])[0][0]
      if found == "\(count)" { return }
      usleep(10_000)
    }
    throw GraphTestFailure("\(found ?? "none") wait, not \(count)")
  }

  /// A client that has sent a request and takes such an answer.
  func open(
    accept: String, _ document: String, _ variables: JSONValue = [:], headers: String = ""
  ) throws -> RawClient {
    let client = try RawClient(port: graph.port)
    let request = JSONValue.object([
      JSONValue.Member(name: "query", value: .string(document)),
      JSONValue.Member(name: "variables", value: variables),
    ])
    let body = "\(request)"
    client.send(
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Accept: \(accept)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    return client
  }

  func socket(_ person: Person? = nil) throws -> GraphQLSocket {
    try GraphQLSocket(
      port: graph.port, payload: person.map { #"{"authorization":"Bearer \#($0.token)"}"# })
  }
}

extension RawClient {
  /// The next line, without its end; nil when the connection ends instead.
  func line() -> String? {
    var line: [UInt8] = []
    while let byte = bytes(1) {
      if byte == [UInt8(ascii: "\n")] { return String(decoding: line, as: UTF8.self) }
      line += byte
    }
    return nil
  }
}

extension GraphQLSocket {
  /// The data of the next response to an operation; what else comes is an error.
  func data(_ id: String = "1") throws -> JSONValue {
    guard let message = message() else { throw GraphTestFailure("the socket has ended") }
    guard message["id"] == .string(id), message["type"] == "next",
      message["payload"]?["errors"] == nil, let data = message["payload"]?["data"]
    else { throw GraphTestFailure("another message: \(message)") }
    return data
  }
}
