/// The exchanges of one connection in pipeline mode, as plain data. Sent statements go in, then the kinds of the
/// results in the order of their arrival. The outcome of each result comes out. No libpq, no socket.
///
///     statement, Sync            an exchange and the Sync after it; its outcome is final with the Sync
///     statement, ..., Sync       statements that share a Sync: each result is final when it arrives
///     [statement, ...], Sync     one transaction, one exchange, one outcome
///
/// An error ends the transaction of its Sync: the first exchange that still waits gets the error, and those behind it
/// were not run.
struct PipelineState {
  /// A statement that is sent, or the Sync after one or several.
  struct Exchange {
    var isSync = false
    /// The statement only reads, so its result stands whatever comes before the Sync.
    var sharesSync = false
    var tag = PipelineState.noTag
    var statement: Use?
    /// The statements after it in a transaction.
    var others: [Use] = []
    /// The number of results before those of statements that have yet to arrive: one for each statement that is
    /// prepared, and one for BEGIN.
    var preparations = 0
    /// The result of the preamble has yet to arrive.
    var hasPreamble = false
    /// The number of results to be delivered as parts.
    var parts = 0
    var completion: ((borrowing PostgresOutcome) -> Void)?
  }

  /// A statement, as this connection knows it.
  struct Use {
    let statement: PostgresStatement
    let generation: UInt32
    /// It is prepared with this use.
    let isNew: Bool
  }

  /// The kind of a result.
  enum Reply {
    case sync
    /// A command without rows, as after Parse.
    case command
    case rows
    case empty
    /// Not run, because an earlier statement of the transaction failed.
    case aborted
    case failed
    case copy
  }

  /// The outcome of a result.
  enum Fate {
    case ignored
    /// It answers this exchange, which is finished.
    case answer(Exchange)
    /// It is a part of the exchange with this tag.
    case part(UInt64)
    /// It is the result of the transaction, unless another one follows.
    case kept
    /// It says why the transaction failed.
    case failure
    /// The transaction is over: `popAnswered` returns its exchanges.
    case transactionEnd
    /// The connection cannot go on.
    case broken
  }

  /// The number of statements that the pool sends on one connection at once: their results come together.
  private static let maximumUnsynced = 16

  /// The tag of exchanges without a recipient, such as DEALLOCATE.
  static let noTag = UInt64.max

  private var exchanges = RingBuffer<Exchange>()
  private var statements: PreparedStatements
  /// False through a pooler: each transaction may have another server.
  let prepares: Bool
  /// The statements after the last Sync.
  private var unsynced = 0

  init(statementLimit: Int, prepares: Bool) {
    statements = PreparedStatements(limit: statementLimit)
    self.prepares = prepares
  }

  var count: Int { exchanges.count }
  var isEmpty: Bool { exchanges.isEmpty }
  var hasUnsynced: Bool { unsynced > 0 }

  // MARK: Sending

  /// Returns how a statement is known here, and the statements to close because of the limit of prepared ones.
  mutating func use(_ statement: PostgresStatement) -> (Use, closing: [PostgresStatement]) {
    guard prepares else {
      return (Use(statement: statement, generation: 0, isNew: false), [])
    }
    return switch statements.use(statement) {
    case .prepared(let generation):
      (Use(statement: statement, generation: generation, isNew: false), [])
    case .new(let generation, let closing):
      (Use(statement: statement, generation: generation, isNew: true), closing)
    }
  }

  /// Adds an exchange whose statements are sent.
  mutating func append(_ exchange: Exchange) {
    exchanges.append(exchange)
    unsynced += 1
  }

  /// Whether a Sync must follow the last exchange at once.
  func needsSync(after use: Use, sharesSync: Bool) -> Bool {
    !sharesSync || use.isNew || unsynced >= Self.maximumUnsynced
  }

  /// Returns whether a Sync is to be sent, and adds it.
  mutating func sync() -> Bool {
    guard unsynced > 0 else { return false }
    unsynced = 0
    exchanges.append(Exchange(isSync: true))
    return true
  }

  // MARK: Receiving

  /// Returns the outcome of the next result.
  mutating func receive(_ reply: Reply) -> Fate {
    switch reply {
    case .sync: return .transactionEnd
    case .command where (exchanges.first?.preparations ?? 0) > 0:
      exchanges[0]?.preparations -= 1
      return .ignored
    case .rows where exchanges.first?.hasPreamble == true:
      exchanges[0]?.hasPreamble = false
      return .ignored
    case .rows, .command, .empty:
      if exchanges.first?.sharesSync == true, let exchange = exchanges.popFirst() {
        return .answer(exchange)
      }
      if let exchange = exchanges.first, exchange.parts > 0 {
        exchanges[0]?.parts -= 1
        return .part(exchange.tag)
      }
      return .kept
    case .aborted: return .ignored
    case .failed: return .failure
    // There is no way back to the pipeline from here.
    case .copy: return .broken
    }
  }

  /// Returns the next exchange of the transaction whose Sync was answered; nil if none is left. The first one gets the
  /// result or the error, those behind it were not run.
  mutating func popAnswered() -> (exchange: Exchange, isLast: Bool)? {
    guard let exchange = exchanges.popFirst(), !exchange.isSync else { return nil }
    let isLast = exchanges.first?.isSync ?? true
    if isLast { exchanges.popFirst() }
    return (exchange, isLast)
  }

  /// Returns whether the statement was not run because preparing it had failed for an earlier exchange, which got the
  /// reason.
  func wasSkipped(_ exchange: Exchange, _ error: PostgresError) -> Bool {
    guard error.sqlState == "26000", prepares, let use = exchange.statement else { return false }
    return !use.isNew && !statements.knows(use.statement, use.generation)
  }

  /// Forgets statements of a failed exchange that were not prepared, or are not valid any more.
  ///
  /// - Returns: those that the server may know, to be closed.
  mutating func forget(_ exchange: Exchange, after error: PostgresError) -> [PostgresStatement] {
    let uses = (exchange.statement.map { [$0] } ?? []) + exchange.others
    var closing: [PostgresStatement] = []
    var prepared = uses.count { $0.isNew } - exchange.preparations
    var isFirst = true
    for use in uses {
      var wasNotPrepared = false
      if use.isNew {
        wasNotPrepared = prepared <= 0
        prepared -= 1
      }
      guard wasNotPrepared || error.kind == .staleStatement,
        statements.remove(use.statement, generation: use.generation)
      else { continue }
      // Its name is taken unless preparing it failed for another reason, or it was unknown. Which one of several was
      // unknown is not reported; closing it once more does no harm.
      let isKnownToServer =
        wasNotPrepared
        ? isFirst && error.sqlState == "42P05" : error.sqlState != "26000" || uses.count > 1
      if wasNotPrepared { isFirst = false }
      if isKnownToServer { closing.append(use.statement) }
    }
    return closing
  }

  /// Removes all exchanges, and returns what is to be called with the loss of the connection.
  mutating func removeAll() -> [(borrowing PostgresOutcome) -> Void] {
    var completions: [(borrowing PostgresOutcome) -> Void] = []
    while let exchange = exchanges.popFirst() {
      if let completion = exchange.completion { completions.append(completion) }
    }
    return completions
  }
}
