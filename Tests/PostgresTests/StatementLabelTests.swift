import TestSupport
import Testing

@testable import Postgres

/// The label of a statement as the server shows it.
@Suite(.usesCluster) struct StatementLabelTests {
  /// The text that the server keeps, without our own statement's value.
  private static let shown = """
    SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()
    """

  @Test func `the server is given purpose and name in a comment`() async throws {
    let harness = try PoolHarness(size: 1)
    let statement = PostgresStatement(
      Self.shown, parameterCount: 0,
      label: StatementLabel(operation: "Feed", document: "0123456789abcdef"))
    let shown = try await harness.run(statement)
    #expect(
      shown
        == "/*action='Feed',application='sociograph',document='0123456789abcdef',"
        + "statement='\(statement.name)'*/ \(Self.shown)")
  }

  @Test func `two purposes of one text are one prepared statement`() async throws {
    let harness = try PoolHarness(size: 1)
    let first = PostgresStatement(
      Self.shown, parameterCount: 0, label: StatementLabel(task: "first"))
    let second = PostgresStatement(
      Self.shown, parameterCount: 0, label: StatementLabel(task: "second"))
    #expect(first.name == second.name)
    _ = try await harness.run(first)
    #expect(try await harness.run(second)?.contains("task='first'*/") == true)
    #expect(harness.count("prepared \(first.name)") == 1)
  }

  @Test(arguments: [
    "*/ DROP TABLE app_user; --", "a/**/b", "$1 $2::text", "'\"\\", "line\nfeed\u{0}", "é\u{202e}",
    String(repeating: "x", count: 100_000),
  ])
  func `no label ends its comment`(_ text: String) {
    let label = StatementLabel(operation: text, document: text).batching("s_1")
    let comment = label.comment(of: "s_2")
    #expect(comment.utf8.count <= 300)
    let form =
      /\/\*action='[\w\-]*',application='sociograph',batch_of='s_1',document='[\w\-]*',statement='s_2'\*\//
    #expect(comment.wholeMatch(of: form.asciiOnlyWordCharacters()) != nil, "\(comment)")
  }

  @Test func `a wait for a connection and the time on it are told apart`() async throws {
    let harness = try PoolHarness(size: 1) { $0.reservedForQuick = 0 }
    let lease = try await harness.lease()
    async let waiting = harness.times(PostgresStatement("SELECT 'x'", parameterCount: 0))
    #expect(try await harness.eventually { harness.onLoop { $0.statistics.waiting } == 1 })
    let waited = ContinuousClock.now
    try await lease.run("SELECT pg_sleep(0.02)::text")
    let atLeast = ContinuousClock.now - waited
    lease.release()
    let times = try await waiting
    #expect(Duration.nanoseconds(Int64(clamping: times.waited)) >= atLeast)
    #expect(times.served > 0)
  }
}
