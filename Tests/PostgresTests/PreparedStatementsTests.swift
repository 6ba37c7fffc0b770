import Testing

@testable import Postgres

@Suite struct PreparedStatementsTests {
  /// - Parameter bytes: with the NUL at its end.
  private func statement(_ number: Int, bytes: Int) -> PostgresStatement {
    let text = "SELECT \(number) /* "
    return PostgresStatement(
      text + String(repeating: "-", count: bytes - text.utf8.count - 3) + "*/", parameterCount: 0)
  }

  /// The texts of those that had to go; nil when it was prepared already.
  private func closed(_ use: PreparedStatements.Use) -> [String]? {
    guard case .new(_, let closing) = use else { return nil }
    return closing.map(\.text)
  }

  @Test func `wide statements make room by the bytes of their texts`() {
    var statements = PreparedStatements(limit: 100, textLimit: 1_000)
    let small = (0..<5).map { statement($0, bytes: 100) }
    for statement in small { #expect(closed(statements.use(statement)) == []) }
    #expect(closed(statements.use(small[0])) == nil)
    // Beside 700 bytes there is room for 300.
    let wide = statement(5, bytes: 700)
    #expect(closed(statements.use(wide)) == small[1...2].map(\.text))
    #expect(statements.count == 4 && statements.textBytes == 1_000)
    #expect(closed(statements.use(small[0])) == nil)
  }

  @Test func `one that is wider than all may be is alone`() {
    var statements = PreparedStatements(limit: 100, textLimit: 1_000)
    _ = statements.use(statement(1, bytes: 100))
    #expect(closed(statements.use(statement(2, bytes: 5_000)))?.count == 1)
    #expect(statements.count == 1)
    #expect(closed(statements.use(statement(3, bytes: 100)))?.count == 1)
    #expect(statements.count == 1 && statements.textBytes == 100)
  }
}
