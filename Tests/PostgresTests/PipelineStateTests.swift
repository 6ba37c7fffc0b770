import OracleSupport
import Testing

@testable import Postgres

/// What becomes of the results of one connection in pipeline mode, without a connection.
@Suite struct PipelineStateTests {
  private typealias Exchange = PipelineState.Exchange

  private func statement(_ number: Int) -> PostgresStatement {
    PostgresStatement("SELECT \(number)", parameterCount: 0)
  }

  /// A pipeline beside the events of its exchanges, as the connection reports them.
  private struct Pipeline {
    var state: PipelineState
    /// What came of each exchange: its tag, and what it got.
    var events: [String] = []
    private var hasResult = false
    private var error: PostgresError?

    init(limit: Int = 100, prepares: Bool = true) {
      state = PipelineState(statementLimit: limit, prepares: prepares)
    }

    /// - Returns: whether it is prepared with this use.
    @discardableResult
    mutating func send(_ statement: PostgresStatement, tag: UInt64, sharesSync: Bool = false)
      -> Bool
    {
      let (use, _) = state.use(statement)
      if use.isNew || !sharesSync { _ = state.sync() }
      state.append(
        Exchange(
          sharesSync: sharesSync, tag: tag, statement: use, preparations: use.isNew ? 1 : 0,
          hasPreamble: !state.prepares))
      if state.needsSync(after: use, sharesSync: sharesSync) { _ = state.sync() }
      return use.isNew
    }

    mutating func receive(_ replies: PipelineState.Reply..., sqlState: String = "22012") {
      for reply in replies {
        switch state.receive(reply) {
        case .ignored: break
        case .answer(let exchange): events.append("\(exchange.tag) rows")
        case .part(let tag): events.append("\(tag) part")
        case .kept: hasResult = true
        case .failure:
          error = error ?? PostgresError(.other, sqlState: sqlState, message: "")
        case .transactionEnd: finish()
        case .broken: events.append("broken")
        }
      }
    }

    private mutating func finish() {
      var isFirst = true
      while let (exchange, isLast) = state.popAnswered() {
        let name = exchange.tag == PipelineState.noTag ? "none" : "\(exchange.tag)"
        if !isFirst {
          events.append("\(name) aborted")
        } else if let error {
          let wasSkipped = state.wasSkipped(exchange, error)
          let closing = state.forget(exchange, after: error).map(\.text)
          events.append("\(name) \(wasSkipped ? "skipped" : "failed")")
          if !closing.isEmpty { events.append("close \(closing.joined(separator: ", "))") }
        } else {
          events.append("\(name) \(hasResult ? "rows" : "nothing")")
        }
        isFirst = false
        if isLast { break }
      }
      (hasResult, error) = (false, nil)
    }
  }

  @Test func `a statement is prepared once, and its outcome is final with its Sync`() {
    var pipeline = Pipeline()
    #expect(pipeline.send(statement(1), tag: 1) == true)
    #expect(pipeline.send(statement(1), tag: 2) == false)
    #expect(pipeline.state.count == 4)
    pipeline.receive(.command, .rows)
    #expect(pipeline.events == [])
    pipeline.receive(.sync, .rows, .sync)
    #expect(pipeline.events == ["1 rows", "2 rows"])
    #expect(pipeline.state.isEmpty)
  }

  @Test func `reads that share a Sync are answered as they come`() {
    var pipeline = Pipeline()
    pipeline.send(statement(1), tag: 0)
    pipeline.receive(.command, .rows, .sync)
    for tag in 1...3 { pipeline.send(statement(1), tag: UInt64(tag), sharesSync: true) }
    #expect(pipeline.state.hasUnsynced)
    let (isSent, isSentAgain) = (pipeline.state.sync(), pipeline.state.sync())
    #expect(isSent && !isSentAgain)
    pipeline.receive(.rows, .rows)
    #expect(pipeline.events == ["0 rows", "1 rows", "2 rows"])
    pipeline.receive(.rows, .sync)
    #expect(pipeline.events.last == "3 rows" && pipeline.state.isEmpty)
  }

  @Test func `when one that shares a Sync fails, those behind it were not run`() {
    var pipeline = Pipeline()
    pipeline.send(statement(1), tag: 0)
    pipeline.receive(.command, .rows, .sync)
    for tag in 1...4 { pipeline.send(statement(1), tag: UInt64(tag), sharesSync: true) }
    _ = pipeline.state.sync()
    pipeline.send(statement(1), tag: 5)
    pipeline.receive(.rows, .failed, .aborted, .aborted, .sync, .rows, .sync)
    #expect(
      pipeline.events == ["0 rows", "1 rows", "2 failed", "3 aborted", "4 aborted", "5 rows"])
  }

  @Test func `a Sync follows after sixteen`() {
    var pipeline = Pipeline()
    pipeline.send(statement(1), tag: 0)
    pipeline.receive(.command, .rows, .sync)
    for tag in 1...15 { pipeline.send(statement(1), tag: UInt64(tag), sharesSync: true) }
    #expect(pipeline.state.hasUnsynced)
    pipeline.send(statement(1), tag: 16, sharesSync: true)
    #expect(!pipeline.state.hasUnsynced && pipeline.state.count == 17)
  }

  @Test func `the parts of a snapshot come before its end`() {
    var pipeline = Pipeline()
    let uses = [statement(1), statement(2)].map { pipeline.state.use($0).0 }
    pipeline.state.append(
      Exchange(tag: 7, statement: uses[0], others: [uses[1]], preparations: 3, parts: 1))
    _ = pipeline.state.sync()
    pipeline.state.append(Exchange())
    _ = pipeline.state.sync()
    // BEGIN, Parse, the first statement, Parse, the second one.
    pipeline.receive(.command, .command, .command, .rows, .rows, .sync, .command, .sync)
    #expect(pipeline.events == ["7 part", "7 rows", "none rows"])
  }

  @Test func `a statement that could not be prepared is unknown, and so is its next use`() {
    var pipeline = Pipeline()
    #expect(pipeline.send(statement(1), tag: 1) == true)
    #expect(pipeline.send(statement(1), tag: 2) == false)
    pipeline.receive(.failed, .sync, sqlState: "42601")
    pipeline.receive(.failed, .sync, sqlState: "26000")
    #expect(pipeline.events == ["1 failed", "2 skipped"])
    #expect(pipeline.send(statement(1), tag: 3) == true)
  }

  @Test func `a name that is taken is closed, and prepared anew`() {
    var pipeline = Pipeline()
    pipeline.send(statement(1), tag: 1)
    pipeline.receive(.failed, .sync, sqlState: "42P05")
    #expect(pipeline.events == ["1 failed", "close SELECT 1"])
    #expect(pipeline.send(statement(1), tag: 2) == true)
  }

  @Test func `the oldest statement makes room`() {
    var pipeline = Pipeline(limit: 2)
    for number in 1...2 { pipeline.send(statement(number), tag: UInt64(number)) }
    let (use, closing) = pipeline.state.use(statement(3))
    #expect(use.isNew && closing.map(\.text) == ["SELECT 1"])
  }

  @Test func `through a pooler nothing is prepared, and a preamble comes first`() {
    var pipeline = Pipeline(prepares: false)
    #expect(pipeline.send(statement(1), tag: 1) == false)
    #expect(pipeline.send(statement(1), tag: 2) == false)
    pipeline.receive(.rows, .rows, .sync, .rows, .failed, .sync, sqlState: "26000")
    #expect(pipeline.events == ["1 rows", "2 failed"])
  }

  @Test func `COPY ends the connection, whose exchanges are all lost`() {
    var pipeline = Pipeline()
    var losses = 0
    for number in 1...3 {
      let (use, _) = pipeline.state.use(statement(number))
      pipeline.state.append(
        Exchange(tag: UInt64(number), statement: use) { _ in losses += 1 })
    }
    pipeline.receive(.copy)
    #expect(pipeline.events == ["broken"])
    let loss = PostgresError(.unavailable, message: "")
    for completion in pipeline.state.removeAll() { completion(.failure(loss)) }
    #expect(losses == 3 && pipeline.state.isEmpty)
  }

  /// Whatever is sent in whatever way, and whatever fails, every exchange gets one outcome, in order.
  @Test(arguments: 0..<20) func `every exchange has one outcome, in order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var pipeline = Pipeline(limit: 3)
    var sent: UInt64 = 0
    for _ in 0..<2_000 {
      var replies: [PipelineState.Reply] = []
      var isFailed = false
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        sent += 1
        let sharesSync = Bool.random(using: &random)
        let before = pipeline.state.count
        let hadUnsynced = pipeline.state.hasUnsynced
        let isNew = pipeline.send(
          statement(Int.random(in: 1...5, using: &random)), tag: sent, sharesSync: sharesSync)
        // The Syncs that were sent show in the count: one before, one after.
        if hadUnsynced, isNew || !sharesSync {
          replies.append(.sync)
          isFailed = false
        }
        if isFailed {
          if isNew { replies.append(.aborted) }
          replies.append(.aborted)
        } else {
          if isNew { replies.append(.command) }
          isFailed = Int.random(in: 0..<10, using: &random) == 0
          replies.append(isFailed ? .failed : .rows)
        }
        if !pipeline.state.hasUnsynced {
          replies.append(.sync)
          isFailed = false
        }
        #expect(pipeline.state.count > before)
      }
      if pipeline.state.sync() { replies.append(.sync) }
      for reply in replies { pipeline.receive(reply) }
      #expect(pipeline.state.isEmpty)
    }
    let order = pipeline.events.compactMap { UInt64($0.prefix { $0.isNumber }) }
    #expect(order == Array(1...sent))
  }
}
