import CPostgreSQL
import EventLoops

/// One connection of an event loop, in pipeline mode.
///
/// Statements are sent as they come, and their results arrive in order. Each statement ends with
/// its own Sync, so that its failure affects no other. Statements whose sender allows it share the
/// Sync at the end of an event batch: one transaction and one flush for all. If one of them fails,
/// the following ones end as `.aborted` without having run.
///
/// Behind a pooler that gives each transaction another server, nothing is prepared. Each statement
/// or transaction has its own Sync and begins with the session's settings.
///
/// Call on the event loop. Outcomes go to `onFinish` with the tag of their statement, never from
/// within `send`. The end of the connection goes to `onClose` once; unanswered statements are
/// dropped. @safe: handle and results are private and freed once.
@safe package final class PostgresConnection {
  package let loop: EventLoop
  package let processID: Int32
  package private(set) var isOpen = true
  var onFinish: ((UInt64, borrowing PostgresOutcome) -> Void)?
  /// Called with the results of statements in one snapshot, except for the last one.
  var onPart: ((UInt64, borrowing PostgresResult) -> Void)?
  var onClose: ((PostgresError) -> Void)?

  private let library: LibraryConnection
  private var token: EventLoop.Token?
  private var state: PipelineState
  /// Run at the start of each transaction, where the server's session is not ours.
  private let preamble: [CChar]?
  private var isWaitingToWrite = false
  private var isServing = false
  private var isServiceDue = false
  private var pendingFailure: PostgresError?
  // The result so far of the first exchange in the pipeline.
  private var headResult: OpaquePointer?
  private var headError: PostgresError?

  private typealias Exchange = PipelineState.Exchange
  private typealias Use = PipelineState.Use

  /// Takes over an established connection; call on the loop.
  init(
    _ library: LibraryConnection, loop: EventLoop, _ configuration: PostgresConfiguration
  ) throws {
    self.library = library
    self.loop = loop
    preamble = configuration.transactionSettings.map { Array($0.utf8CString) }
    state = PipelineState(
      statementLimit: configuration.preparedStatementLimit, prepares: preamble == nil)
    let handle = unsafe library.handle
    processID = unsafe PQbackendPID(handle)
    guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
      throw unsafe PostgresError(connection: handle)
    }
    token = try loop.register(unsafe PQsocket(handle), for: .readable) { [weak self] readiness in
      self?.serve(readiness)
    }
  }

  deinit {
    // The last owner of a pool may be on another thread, and its event loop may have ended.
    if let token { loop.unregister(token, keeping: library) }
    if let headResult = unsafe headResult { unsafe PQclear(headResult) }
  }

  /// Returns an object that asks the server, from another thread, to cancel the running statement.
  /// It blocks.
  func makeCancel() -> LibraryCancel? { unsafe LibraryCancel(library.handle) }

  package var inFlightCount: Int { state.count }

  /// The timeline of a server that accepted writes on connect, or nil if it is unknown.
  var timeline: UInt32? { library.timeline }

  /// The server is inside a transaction, as of the last answer.
  package var isInTransaction: Bool {
    switch unsafe PQtransactionStatus(library.handle) {
    case PQTRANS_INTRANS, PQTRANS_INERROR: true
    default: false
    }
  }

  /// Sends a statement, and prepares it first if this connection has not yet done so.
  ///
  /// - Parameter sharesSync: whether it only reads, ends soon, and may be sent again after
  ///   `.aborted`.
  /// - Returns: whether the statement had to be prepared.
  @discardableResult
  package func send(
    _ statement: PostgresStatement, _ parameters: borrowing PostgresParameters, tag: UInt64,
    sharesSync: Bool = false, completion: ((borrowing PostgresOutcome) -> Void)? = nil
  ) -> Bool {
    loop.preconditionOnLoop()
    let sharesSync = sharesSync && preamble == nil
    let (use, closing) = state.use(statement)
    var isSent = isOpen
    if use.isNew || !sharesSync { isSent = isSent && sync() }
    for old in closing { isSent = isSent && close(old) }
    isSent = isSent && sendPreamble() && sendStatement(use, parameters)
    state.append(
      Exchange(
        sharesSync: sharesSync, tag: tag, statement: use, preparations: use.isNew ? 1 : 0,
        hasPreamble: preamble != nil, completion: completion))
    if state.needsSync(after: use, sharesSync: sharesSync) { isSent = isSent && sync() }
    note(isSent)
    return use.isNew
  }

  /// Sends statements with one Sync behind the last: one transaction, in which each sees what those
  /// before it did. Its outcome comes with the Sync, when it is committed: the last statement's
  /// result, or the first error, after which nothing of it was done. All of them return rows.
  ///
  /// - Parameter hasParts: whether `onPart` is called with the results of all but the last.
  /// - Returns: whether the last one had to be prepared.
  @discardableResult
  package func send(
    _ transaction: [BoundStatement], tag: UInt64, hasParts: Bool = false
  ) -> Bool {
    loop.preconditionOnLoop()
    var isSent = isOpen && sync()
    let uses = uses(of: transaction, &isSent)
    isSent = isSent && sendPreamble()
    for (use, bound) in zip(uses, transaction) {
      isSent = isSent && sendStatement(use, bound.parameters)
    }
    state.append(
      Exchange(
        tag: tag, statement: uses.first, others: Array(uses.dropFirst()),
        preparations: uses.count { $0.isNew }, hasPreamble: preamble != nil,
        parts: hasParts ? max(transaction.count - 1, 0) : 0))
    isSent = isSent && sync()
    note(isSent)
    return uses.last?.isNew ?? false
  }

  /// Sends statements that only read, each answered as soon as it is done, and all of them of one snapshot. The outcome
  /// is the last one's, or the first error, after which none of the others was run.
  package func send(inOneSnapshot statements: [BoundStatement], tag: UInt64) {
    loop.preconditionOnLoop()
    var isSent = isOpen && sync()
    let uses = uses(of: statements, &isSent)
    isSent =
      isSent && sendPlain("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") && sendPreamble()
    for (use, bound) in zip(uses, statements) {
      isSent = isSent && sendStatement(use, bound.parameters) && requestFlush()
    }
    state.append(
      Exchange(
        tag: tag, statement: uses.first, others: Array(uses.dropFirst()),
        preparations: uses.count { $0.isNew } + 1, hasPreamble: preamble != nil,
        parts: max(statements.count - 1, 0)))
    isSent = isSent && sync()
    // Behind the Sync, so that it is done also when one of them failed: it then takes back.
    isSent = isSent && sendPlain("COMMIT")
    state.append(Exchange())
    isSent = isSent && sync()
    note(isSent)
  }

  /// The answers so far are not to wait for those of what follows.
  private func requestFlush() -> Bool { unsafe PQsendFlushRequest(library.handle) == 1 }

  /// A command without parameters and without a Sync, which is not prepared.
  private func sendPlain(_ text: String) -> Bool {
    unsafe PQsendQueryParams(library.handle, text, 0, nil, nil, nil, nil, 0) == 1
  }

  /// Returns how each statement is known here. Closes the prepared statements that they evict.
  private func uses(of statements: [BoundStatement], _ isSent: inout Bool) -> [Use] {
    statements.map { bound in
      let (use, closing) = state.use(bound.statement)
      for old in closing { isSent = isSent && close(old) }
      return use
    }
  }

  private func sendPreamble() -> Bool {
    guard let preamble else { return true }
    return unsafe PQsendQueryParams(library.handle, preamble, 0, nil, nil, nil, nil, 0) == 1
  }

  /// Sends a statement without a Sync.
  private func sendStatement(_ use: Use, _ parameters: borrowing PostgresParameters) -> Bool {
    let handle = unsafe library.handle
    let statement = use.statement
    if use.isNew {
      guard unsafe PQsendPrepare(handle, statement.nameBytes, statement.textBytes, 0, nil) == 1
      else { return false }
    }
    let isPrepared = preamble == nil
    return unsafe parameters.withLibraryArrays { values, lengths, formats in
      isPrepared
        ? unsafe PQsendQueryPrepared(
          handle, statement.nameBytes, Int32(parameters.count), values, lengths, formats, 1) == 1
        : unsafe PQsendQueryParams(
          handle, statement.textBytes, Int32(parameters.count), nil, values, lengths, formats, 1)
          == 1
    }
  }

  private func note(_ isSent: Bool) {
    if !isSent, pendingFailure == nil {
      pendingFailure = unsafe PostgresError(connection: library.handle)
    }
    serveAfterThisBatch()
  }

  /// Ends what has been sent since the last Sync. libpq 15 flushes in this call.
  private func sync() -> Bool {
    guard state.sync() else { return true }
    return unsafe PQpipelineSync(library.handle) == 1
  }

  /// Closes the connection without calling `onClose`.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    onClose = nil
    onFinish = nil
    onPart = nil
    if let token { loop.unregister(token) }
    token = nil
    _ = state.removeAll()
  }

  /// Sends the end of a prepared statement in an exchange of its own.
  private func close(_ statement: PostgresStatement) -> Bool {
    guard sync() else { return false }
    let isSent =
      unsafe PQsendQueryParams(
        library.handle, "DEALLOCATE \(statement.name)", 0, nil, nil, nil, nil, 0) == 1
    state.append(Exchange())
    return isSent && sync()
  }

  /// libpq reads while it writes, so a result can be complete without the socket becoming ready:
  /// after sending, look once the batch is done.
  private func serveAfterThisBatch() {
    guard !isServiceDue, !isServing || state.hasUnsynced else { return }
    isServiceDue = true
    loop.afterThisBatch { [weak self] in
      guard let self else { return }
      isServiceDue = false
      if isOpen, !sync(), pendingFailure == nil {
        pendingFailure = unsafe PostgresError(connection: library.handle)
      }
      drain()
    }
  }

  private func serve(_ readiness: EventLoop.Readiness) {
    guard isOpen else { return }
    guard unsafe PQconsumeInput(library.handle) == 1 else {
      // Messages that the server sent before it closed are still to be read.
      drain()
      return fail(unsafe PostgresError(connection: library.handle))
    }
    drain()
  }

  /// Hands out what is complete, then writes what is not yet written.
  private func drain() {
    guard isOpen, !isServing else { return }
    isServing = true
    repeat {
      takeResults()
    } while isOpen && flush()
    isServing = false
    if let pendingFailure, isOpen { fail(pendingFailure) }
  }

  /// Writes the pending bytes.
  ///
  /// - Returns: whether there may be more to read afterwards.
  private func flush() -> Bool {
    guard pendingFailure == nil else { return false }
    switch unsafe PQflush(library.handle) {
    case 0:
      if isWaitingToWrite {
        isWaitingToWrite = false
        if let token { loop.update(token, for: .readable) }
      }
      return false
    case 1:
      if !isWaitingToWrite {
        isWaitingToWrite = true
        if let token { loop.update(token, for: [.readable, .writable]) }
      }
      return unsafe !state.isEmpty && PQisBusy(library.handle) == 0
    default:
      pendingFailure = unsafe PostgresError(connection: library.handle)
      return false
    }
  }

  private func takeResults() {
    let handle = unsafe library.handle
    // Between the results of two statements libpq gives nil once; twice, it has no more.
    var wasNil = false
    while isOpen, pendingFailure == nil, !state.isEmpty, unsafe PQisBusy(handle) == 0 {
      guard let result = unsafe PQgetResult(handle) else {
        if wasNil { break }
        wasNil = true
        continue
      }
      wasNil = false
      unsafe take(result)
    }
    if state.isEmpty, isOpen {
      // Lets libpq read a notice or a goodbye.
      _ = unsafe PQisBusy(handle)
    }
    if isOpen, pendingFailure == nil, unsafe PQstatus(handle) == CONNECTION_BAD {
      pendingFailure = headError ?? (unsafe PostgresError(connection: handle))
    }
  }

  private func take(_ result: OpaquePointer) {
    switch state.receive(Self.reply(unsafe PQresultStatus(result))) {
    case .ignored: unsafe PQclear(result)
    case .answer(let exchange): deliver(exchange, .success(unsafe PostgresResult(owning: result)))
    case .part(let tag): onPart?(tag, unsafe PostgresResult(owning: result))
    case .kept:
      if let headResult = unsafe headResult { unsafe PQclear(headResult) }
      unsafe headResult = unsafe result
    case .failure:
      if headError == nil { headError = unsafe PostgresError(result: result) }
      unsafe PQclear(result)
    case .transactionEnd:
      unsafe PQclear(result)
      finishTransaction()
    case .broken:
      unsafe PQclear(result)
      pendingFailure = PostgresError(.other, message: "COPY cannot be used in a pipeline.")
    }
  }

  private static func reply(_ status: ExecStatusType) -> PipelineState.Reply {
    switch status {
    case PGRES_PIPELINE_SYNC: .sync
    case PGRES_COMMAND_OK: .command
    case PGRES_TUPLES_OK: .rows
    case PGRES_EMPTY_QUERY: .empty
    case PGRES_PIPELINE_ABORTED: .aborted
    case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: .copy
    default: .failed
    }
  }

  /// A Sync was answered: what came before it is final. Its first exchange that still waits has the result or the error;
  /// those behind it were not run.
  private func finishTransaction() {
    let result = unsafe headResult
    let error = headError.take()
    unsafe headResult = nil
    var hasFinished = false
    while let (exchange, isLast) = state.popAnswered() {
      if hasFinished {
        deliver(
          exchange, .failure(PostgresError(.aborted, message: "Another statement failed.")))
      } else {
        hasFinished = true
        unsafe finish(exchange, result, error)
      }
      if isLast { return }
    }
    if !hasFinished, let result = unsafe result { unsafe PQclear(result) }
  }

  private func finish(
    _ exchange: Exchange, _ result: OpaquePointer?, _ error: PostgresError?
  ) {
    if error == nil, let result = unsafe result {
      deliver(exchange, .success(unsafe PostgresResult(owning: result)))
      return
    }
    if let result = unsafe result { unsafe PQclear(result) }
    let reason = error ?? PostgresError(.other, message: "The statement had no result.")
    let wasSkipped = state.wasSkipped(exchange, reason)
    for statement in state.forget(exchange, after: reason)
    where !close(statement) && pendingFailure == nil {
      pendingFailure = unsafe PostgresError(connection: library.handle)
    }
    deliver(
      exchange,
      .failure(
        wasSkipped
          ? PostgresError(.aborted, message: "Preparing the statement failed for another request.")
          : reason))
  }

  private func deliver(_ exchange: Exchange, _ outcome: consuming PostgresOutcome) {
    if let completion = exchange.completion {
      completion(outcome)
    } else if exchange.tag != PipelineState.noTag {
      onFinish?(exchange.tag, outcome)
    }
  }

  private func fail(_ error: PostgresError) {
    guard isOpen else { return }
    let onClose = onClose
    let completions = state.removeAll()
    // The text of a lost connection is libpq's, its kind ours.
    let loss = PostgresError(
      .unavailable, sqlState: error.sqlState, message: error.message, detail: error.detail)
    close()
    for completion in completions { completion(.failure(loss)) }
    onClose?(loss)
  }
}
