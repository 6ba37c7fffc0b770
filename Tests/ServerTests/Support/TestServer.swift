import Glibc
import GraphQLPlanning
import HTTPTestSupport
import JSON
import Postgres
import Server
import Synchronization
import TestSupport

/// A server in the tests' process, on a database of the tests' cluster with tables and no rows.
final class TestServer: Sendable {
  static var shared: TestServer { get throws { try sharedServer.get() } }
  private static let sharedServer = Result { try TestServer() }
  static let mapping = Result { try SchemaFiles.load(TestCluster.packageFolder + "/Schema") }

  let database: String
  let port: UInt16
  /// 0 without an address for operators.
  let adminPort: UInt16
  private let server: RunningServer
  private let isStopped = Mutex(false)

  /// - Parameter mapping: of another schema than the graph's.
  init(
    _ mapping: StorageMapping? = nil, database: String? = nil,
    _ change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws {
    self.database = try database ?? TestCluster.newDatabase(migrated: true)
    var settings = RunningServer.Settings()
    settings.loopCount = 1
    settings.endpoint.profile = .audit
    settings.pool.queueWait = .seconds(600)
    settings.pool.operationDeadline = .seconds(600)
    change(&settings)
    server = try RunningServer(
      mapping ?? Self.mapping.get(), database: PostgresConfiguration(self.database),
      settings: settings)
    guard case .tcp(_, let port) = server.address else { throw Failure(text: "no port") }
    self.port = port
    adminPort = if case .tcp(_, let port)? = server.adminAddress { port } else { 0 }
    for _ in 0..<60_000 {
      if try get("/ready").status == 200 { return }
      usleep(10_000)
    }
    throw Failure(text: "The server is not ready.")
  }

  deinit { stop(patience: .zero) }

  struct Failure: Error { let text: String }

  func send(_ bytes: [UInt8]) throws -> RawClient.Answer {
    let client = try RawClient(port: port)
    client.send(bytes)
    return client.answer()
  }

  /// A page for operators.
  func ask(_ path: String) throws -> RawClient.Answer {
    let client = try RawClient(port: adminPort)
    client.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    return client.answer()
  }

  /// The value of a metric; nil when the page has no such line.
  func metric(_ name: String) throws -> Double? {
    for line in try ask("/metrics").body.split(separator: "\n") where line.hasPrefix(name + " ") {
      return Double(line.dropFirst(name.utf8.count + 1))
    }
    return nil
  }

  func stop(patience: Duration = .seconds(15)) {
    let isOver = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return isStopped
    }
    if !isOver { server.stop(patience: patience) }
  }

  func get(_ path: String, headers: String = "") throws -> RawClient.Answer {
    try send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n".utf8))
  }

  func post(_ body: [UInt8], headers: String = "") throws -> RawClient.Answer {
    let head =
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      + "Accept: application/graphql-response+json\r\n\(headers)"
      + "Content-Length: \(body.count)\r\n\r\n"
    return try send(Array(head.utf8) + body)
  }

  func execute(
    _ query: String, _ variables: JSONValue = .object([]), headers: String = ""
  ) throws -> RawClient.Answer {
    let request = JSONValue.object([
      JSONValue.Member(name: "query", value: .string(query)),
      JSONValue.Member(name: "variables", value: variables),
    ])
    return try post(Array("\(request)".utf8), headers: headers)
  }
}

extension RawClient.Answer {
  /// The code of the first error.
  var code: String? {
    guard let value = try? JSONParser.parse(Array(body.utf8)),
      case .array(let errors)? = value["errors"],
      case .string(let code)? = errors.first?["extensions"]?["code"]
    else { return nil }
    return code
  }
}
