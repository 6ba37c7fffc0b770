import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import Postgres
import Subscriptions

/// Answers queries of one event loop from responses that are known to be current. It keeps the
/// `AnswerCache` up to date by the commit reader.
final class AnswerKeeper: @unchecked Sendable {
  // @unchecked: used on the event loop only; `positions` has a lock.

  struct Counts: Sendable {
    var sent = 0
    var bytes = 0
  }

  /// A response, without the extensions that differ each time.
  struct Kept {
    let data: [UInt8]
    let cost: Int
    /// Kept plans stay: their keys name them by identity.
    let plan: PreparedPlan
  }

  /// A statement whose response may be kept. It ends with this object.
  final class Reading {
    private let keeper: AnswerKeeper
    private var position: AnswerCache<SharingGroups.Key, Kept>.Position?

    fileprivate init(_ keeper: AnswerKeeper) {
      self.keeper = keeper
      position = keeper.cache.begin()
    }

    deinit { if let position { keeper.cache.end(position) } }

    /// Keeps the response, unless a dependency was touched since the statement began.
    func keep(
      _ outcome: OperationOutcome, of operation: PreparedOperation, _ plan: LiveDependencies,
      viewer: Int64
    ) {
      guard let position, case .executed(let body, let errors, _) = outcome.response,
        errors.isEmpty
      else { return }
      self.position = nil
      let data = Array(body.prefix(operation.charge?.extensionsStart ?? max(body.count - 1, 0)))
      keeper.cache.end(
        position,
        keeping: Kept(data: data, cost: outcome.cost, plan: operation.plan),
        for: SharingGroups.Key(operation, viewer: viewer),
        bytes: data.count + operation.plan.cost,
        dependencies: plan.dependencies(of: viewer).union(
          plan.dependencies(on: outcome.dependencies, of: viewer)))
    }
  }

  private let loop: EventLoop
  private let number: Int
  private let reader: any EventReader
  private let positions: WritePositions
  private var cache: AnswerCache<SharingGroups.Key, Kept>
  private var sent = 0

  var counts: Counts { Counts(sent: sent, bytes: cache.bytes) }

  /// - Parameters:
  ///   - number: the loop's.
  ///   - maximumBytes: of this loop.
  init(
    loop: EventLoop, number: Int, reader: any EventReader, positions: WritePositions,
    maximumBytes: Int
  ) {
    self.loop = loop
    self.number = number
    self.reader = reader
    self.positions = positions
    cache = AnswerCache(maximumBytes: maximumBytes)
  }

  /// Joins the reader, for as long as the server runs.
  func start() {
    // The loop's subscriptions join under its number.
    reader.join(
      -1 - number,
      EventListener(
        joined: { [self] _ in loop.execute { [self] in cache.joined(at: .now) } },
        receive: { [self] batch in loop.execute { [self] in cache.receive(batch, at: .now) } }))
  }

  /// Returns the response to an operation if it is known; nil if PostgreSQL is to be asked.
  ///
  /// - Parameter clients: the client, by its viewer and by its address: what it wrote under either
  ///   is in the response.
  func response(
    to operation: PreparedOperation, viewer: Int64, for clients: [PoolClient]
  ) -> OperationResponse? {
    let key = SharingGroups.Key(operation, viewer: viewer)
    guard
      let kept = cache.answer(key, after: positions.position(of: clients), at: .now)
    else { return nil }
    sent += 1
    return operation.response(from: kept.data, cost: kept.cost)
  }

  func begin() -> Reading { Reading(self) }
}
