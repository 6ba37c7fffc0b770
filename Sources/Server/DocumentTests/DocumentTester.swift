import Accounts
import Dispatch
import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import JSON
import Postgres
import SQL
import Synchronization

/// Runs documents as a server runs them, each in a transaction that is rolled back, and compares the
/// responses.
///
/// It has one event loop with one connection. A document with `@defer` or `@live` is answered once
/// and completely; a subscription is refused.
package final class DocumentTester: @unchecked Sendable {
  // @unchecked: after `init`, everything but the loop itself is used on the loop.
  private let loop: EventLoop
  private let pool: PostgresPool
  private let preparer: OperationPreparer
  private let settings: ExecutionSettings
  private let mapping: StorageMapping
  private let constraintErrors: ConstraintErrors
  private let setUp: PostgresStatement?
  private let roles: ClientRoles?
  private static let patience = Duration.seconds(60)

  /// - Parameters:
  ///   - database: a connection that may write.
  ///   - setUp: SQL that runs in each transaction before the document, or nil.
  ///   - roles: the roles of clients by their claims; nil if all have that of the connection.
  package init(
    mapping: StorageMapping, database: PostgresConfiguration, settings: ExecutionSettings,
    setUp: String?, roles: ClientRoles? = nil
  ) throws {
    self.roles = roles
    var database = database
    database.statementTimeout = Self.patience
    database.isReadOnly = false
    database.writes = true
    constraintErrors = try ConstraintErrors.read(from: PostgresSession(database), for: mapping)
    loop = try EventLoop(label: "sociograph.test")
    var pool = PoolSettings(size: 1)
    pool.operationDeadline = Self.patience
    self.pool = PostgresPool(loop: loop, configuration: database, settings: pool)
    self.settings = settings
    self.mapping = mapping
    preparer = OperationPreparer(mapping: mapping, settings: settings)
    self.setUp = setUp.map { PostgresStatement(Self.block($0), parameterCount: 0) }
    loop.execute { [self] in self.pool.start() }
  }

  /// Closes the connection.
  package func stop() {
    let done = DispatchSemaphore(value: 0)
    loop.execute { [self] in pool.stop { done.signal() } }
    done.wait()
    loop.stop()
  }

  /// Returns one statement that runs any number of commands.
  private static func block(_ commands: String) -> String {
    let tag = "$sociograph\(UInt64.random(in: 0 ... .max))$"
    return "DO $do$ BEGIN EXECUTE \(tag)\(commands)\(tag); END $do$"
  }

  /// Runs a document, and blocks until it is done.
  ///
  /// - Returns: the differences of all steps; empty if the test passed.
  /// - Throws: a failure that is not one of the document, such as a viewer that does not exist.
  package func run(_ test: DocumentTest) throws -> [String] {
    let outcome = Mutex(Result<[String], CommandFailure>?.none)
    let done = DispatchSemaphore(value: 0)
    loop.execute { [self] in
      begin(test) { result in
        outcome.withLock { $0 = result }
        done.signal()
      }
    }
    done.wait()
    return try outcome.withLock { $0 }?.get() ?? []
  }

  private typealias Completion = (Result<[String], CommandFailure>) -> Void

  private func begin(_ test: DocumentTest, _ completion: @escaping Completion) {
    pool.lease { [self] result in
      switch result {
      case .failure(let error):
        completion(.failure(CommandFailure("\(test.name): \(error)")))
      case .success(let lease):
        let transaction = UncommittedTransaction(lease, on: loop, patience: Self.patience)
        let finish: Completion = { result in transaction.end { completion(result) } }
        guard let setUp else { return step(0, of: test, transaction, lease, [], finish) }
        lease.execute(setUp, PostgresParameters()) { [self] outcome in
          switch outcome {
          case .success: step(0, of: test, transaction, lease, [], finish)
          case .failure(let error):
            finish(.failure(CommandFailure("setup.sql: \(error)")))
          }
        }
      }
    }
  }

  /// Runs a step and those behind it.
  private func step(
    _ index: Int, of test: DocumentTest, _ transaction: UncommittedTransaction,
    _ lease: PostgresLease, _ found: [String], _ completion: @escaping Completion
  ) {
    guard index < test.steps.count else { return completion(.success(found)) }
    let step = test.steps[index]
    let prefix = test.steps.count == 1 ? "" : "step \(index + 1), "
    find(step, lease) { [self] viewer in
      switch viewer {
      case .failure(let error):
        completion(.failure(CommandFailure("\(test.name).json: \(error.description)")))
      case .success(let viewer):
        run(test, step, viewer: viewer, transaction) { [self] body, reasons in
          let received = (try? JSONParser.parse(body, maximumNesting: 500)) ?? .null
          var lines = ResponseDifferences(expected: step.response, received: received).lines
          // What a client is not told, and whoever writes the test needs.
          if !lines.isEmpty { lines += reasons.map { "reason: \($0)" } }
          self.step(
            index + 1, of: test, transaction, lease, found + lines.map { prefix + $0 }, completion)
        }
      }
    }
  }

  private func find(
    _ step: DocumentTest.Step, _ lease: PostgresLease,
    _ completion: @escaping (Result<Int64, CommandFailure>) -> Void
  ) {
    guard let name = step.viewer else { return completion(.success(step.claimedViewer)) }
    var parameters = PostgresParameters()
    parameters.append(inTextFormat: name)
    lease.execute(Self.viewer, parameters) { outcome in
      switch outcome {
      case .failure(let error): completion(.failure(CommandFailure("\(error)")))
      case .success(let result):
        guard result.rowCount == 1, let id = result.integer(row: 0, column: 0) else {
          return completion(.failure(CommandFailure("there is no user \"\(name)\".")))
        }
        completion(.success(id))
      }
    }
  }

  private static let viewer = PostgresStatement(
    "SELECT \(GraphContract.viewerNamed)($1)::bigint", parameterCount: 1)

  private func run(
    _ test: DocumentTest, _ step: DocumentTest.Step, viewer: Int64,
    _ transaction: UncommittedTransaction,
    _ completion: @escaping (_ body: [UInt8], _ reasons: [String]) -> Void
  ) {
    let request = GraphQLRequest(
      identity: .random(), document: test.document, operationName: step.operation,
      variables: step.variables)
    func finish(_ response: OperationResponse) {
      switch response {
      case .executed(let body, let errors, _): completion(body, errors.compactMap(\.reason))
      case .refused(let errors, _):
        completion(
          JSONWriter.response(errors, requestID: request.identity.id),
          errors.compactMap(\.reason))
      }
    }
    let operation: PreparedOperation
    switch preparer.prepare(request) {
    case .ready(let prepared): operation = prepared
    case .refused(let errors, _, _): return finish(.refused(errors.errors))
    }
    operation.claims = step.claims
    do throws(GraphQLError) {
      transaction.role = try roles?.role(of: step.claims)
    } catch {
      return finish(.refused([error]))
    }
    switch operation.plan.kind {
    case .query(let response), .live(let response, _), .incremental(let response, _, _):
      QueryRunner(on: transaction, settings: settings).run(operation, response, viewer: viewer) {
        finish($0.response)
      }
    case .mutation(let fields):
      _ = mutations(transaction).run(
        operation, fields, viewer: viewer,
        findClient: {
          var client = ClientIdentity()
          client.device = "sociograph test"
          return client
        }, findViewer: { $0(.success(viewer)) },
        completion: { finish($0.response) })
    case .subscription:
      finish(
        .refused([GraphQLError("A subscription has no single response to test.", code: .badRequest)]
        )
      )
    }
  }

  private func mutations(_ transaction: UncommittedTransaction) -> MutationRunner {
    MutationRunner(
      writers: transaction, groupCommit: GroupCommit(pool) { 0 }, mapping: mapping,
      constraintErrors: constraintErrors, settings: settings,
      transformer: LoopAccountInputs(AccountInputs(AccountInputs.Settings()), loop: loop),
      makeSecret: { SessionToken().text })
  }
}
