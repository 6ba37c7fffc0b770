import DatabaseSetup
import Foundation
import GraphQLExecution
import GraphQLPlanning
import JSON
import Postgres
import Server
import Synchronization
import TestSupport

/// The real server on its own loops, over HTTP on a free port, with a new database in the tests'
/// cluster. It reaches the database as `serve` does: under the roles of an embedded database. It
/// stops with its owner.
final class GraphServer: Sendable {
  /// With the graph's tables and no rows. Tests run at the same time: each makes people of its own
  /// and says nothing about lists of everybody.
  static var shared: GraphServer { get throws { try sharedServer.get() } }

  /// With the demo data of scale 1 and random seed 1. Tests read it only.
  static var seeded: GraphServer { get throws { try seededServer.get() } }

  /// One more, with tables and no rows, for tests that must be alone.
  static func alone() throws -> GraphServer {
    try GraphServer(database: TestCluster.newDatabase(migrated: true))
  }

  private static let sharedServer = Result {
    try GraphServer(
      database: TestCluster.newDatabase(migrated: true),
      settings: { $0.writers = 8 })
  }

  private static let seededServer = Result {
    let database = try TestCluster.newDatabase(migrated: true)
    _ = try Seeder.read(TestCluster.packageFolder + "/sql/demo", scale: 1, seed: 1)
      .run(PostgresConfiguration(database)) { _ in }
    return try GraphServer(database: database)
  }

  /// The schema with its storage, as the server has it.
  static let mapping = Result { try SchemaFiles.load(TestCluster.packageFolder + "/Schema") }

  /// The connection string of its database, as the owner.
  let database: String
  private let server: RunningServer
  private let isStopped = Mutex(false)
  private let clients: HTTPClients
  let port: UInt16
  /// 0 without an address for operators.
  let adminPort: UInt16

  /// - Parameters:
  ///   - role: the role that it reads and writes under, or nil for those of an embedded database.
  ///   - maximumElements: of an answer; more than is usual unless given, as tests ask for much at once.
  ///   - runner: runs the operations' statements, on one loop then.
  ///   - mapping: another schema than the graph's.
  ///   - change: the last word about the settings.
  init(
    database: String, as role: String? = nil, maximumElements: Int? = nil,
    runner: (@Sendable (PostgresPool) -> any StatementRunner)? = nil,
    mapping: StorageMapping? = nil,
    settings change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws {
    self.database = database
    var settings = RunningServer.Settings()
    settings.loopCount = 2
    settings.writers = 4
    if let runner {
      settings.loopCount = 1
      settings.statementRunner = runner
    }
    settings.execution.plannerLimits.maximumElements = maximumElements ?? 200_000
    settings.execution.plannerLimits.maximumCost = nil
    // The same in every run, as fixtures hold cursors.
    settings.execution.cursorSigner =
      CursorSigner(bytes: Array("the tests' cursors".utf8)) ?? CursorSigner()
    // A machine that is busy with many tests is no reason to refuse one.
    settings.pool.queueWait = .seconds(600)
    settings.pool.operationDeadline = .seconds(600)
    if role == nil { try TestCluster.letServe(database) }
    func configuration(_ role: String) throws -> PostgresConfiguration {
      var configuration = try PostgresConfiguration(
        TestCluster.connectionString(database, as: role))
      configuration.statementTimeout = .seconds(600)
      configuration.lockTimeout = .seconds(600)
      return configuration
    }
    let readers = try configuration(role ?? ServerRole.reader)
    let writers = try configuration(role ?? ServerRole.writer)
    settings.writerDatabase = writers
    settings.sessionDatabase = writers
    settings.mutationTimeout = .seconds(600)
    settings.constraintErrors = try ConstraintErrors.read(
      from: PostgresSession(writers), for: mapping ?? Self.mapping.get())
    settings.pictures = try TestPictures.service()
    settings.http.body = .seconds(600)
    settings.http.linger = .seconds(600)
    change(&settings)
    server = try RunningServer(
      mapping ?? Self.mapping.get(), database: readers, settings: settings)
    guard case .tcp(_, let port) = server.address else {
      throw GraphTestFailure("the server listens on \(server.address)")
    }
    clients = HTTPClients(port: port)
    self.port = port
    adminPort = if case .tcp(_, let port)? = server.adminAddress { port } else { 0 }
    for _ in 0..<60_000 {
      if try clients.send("GET", "/ready").status == 200 { return }
      usleep(10_000)
    }
    throw GraphTestFailure("the server is not ready")
  }

  deinit { stop(patience: .zero) }

  func announceEnd(over length: Duration) { server.announceEnd(over: length) }

  func stop(patience: Duration = .seconds(15)) {
    let isOver = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return isStopped
    }
    if !isOver { server.stop(patience: patience) }
  }

  /// A connection that may write; close to one test.
  func data() throws -> GraphData { try GraphData(database) }

  /// The whole response to an operation.
  ///
  /// - Parameter token: of the session it is sent with; nil for an anonymous client.
  func execute(
    _ query: String, _ variables: JSONValue? = nil, token: String? = nil
  ) throws -> JSONValue {
    try JSONParser.parse(send(query, variables, token: token).body)
  }

  func execute(
    _ query: String, _ variables: JSONValue? = nil, as person: Person?
  ) throws -> JSONValue {
    try execute(query, variables, token: person?.token)
  }

  /// The data of a response that must have no errors.
  func data(
    _ query: String, _ variables: JSONValue? = nil, as person: Person? = nil
  ) throws -> JSONValue {
    let response = try execute(query, variables, as: person)
    if let errors = response["errors"] { throw GraphTestFailure("errors: \(errors)") }
    guard let data = response["data"] else { throw GraphTestFailure("no data: \(response)") }
    return data
  }

  /// The codes of a response's errors, in order.
  func errorCodes(
    _ query: String, _ variables: JSONValue? = nil, as person: Person? = nil
  ) throws -> [String] {
    let errors = try execute(query, variables, as: person)["errors"]
    return (errors?.array ?? []).map { $0["extensions"]?["code"]?.string ?? "" }
  }

  /// Sends an operation by POST and gives the response as it came.
  func send(
    _ query: String, _ variables: JSONValue? = nil, token: String? = nil
  ) throws -> HTTPClients.Response {
    var members = [JSONValue.Member(name: "query", value: .string(query))]
    if let variables { members.append(JSONValue.Member(name: "variables", value: variables)) }
    var headers = [("Content-Type", "application/json")]
    if let token { headers.append(("Authorization", "Bearer \(token)")) }
    return try send(
      "POST", "/graphql", headers: headers, body: Array("\(JSONValue.object(members))".utf8))
  }

  func send(
    _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8] = []
  ) throws -> HTTPClients.Response {
    try clients.send(method, path, headers: headers, body: body)
  }
}

struct GraphTestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
