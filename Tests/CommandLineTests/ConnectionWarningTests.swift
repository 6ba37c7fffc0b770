import Testing

@testable import CommandLine

/// The warning that the event loops may open more connections than PostgreSQL accepts.
@Suite struct ConnectionWarningTests {
  private func warning(_ arguments: [String], permitted: Int) throws -> String? {
    let arguments = ["--schema", "Schema", "--database", "postgresql:///x"] + arguments
    return try ServeSettings(ServeCommand.specification.parse(arguments, environment: [:]))
      .connectionWarning(permitted: permitted)
  }

  @Test func `every loop has its connections, and mutations have theirs`() throws {
    let many = ["--loops", "8", "--pool-size", "64"]
    let text =
      "8 loops with --pool-size 64 may open 552 connections, but the database accepts 97 "
      + "(max_connections)."
    #expect(try warning(many, permitted: 97) == text)
    #expect(try warning(many, permitted: 551) != nil)
    #expect(try warning(many, permitted: 552) == nil)
    #expect(try warning(many + ["--writers", "20"], permitted: 563) != nil)
    #expect(try warning(many + ["--writers", "20"], permitted: 564) == nil)
  }

  @Test func `the defaults on two cores need no more than PostgreSQL accepts by default`() throws {
    #expect(try warning(["--loops", "2"], permitted: 97) == nil)
  }
}
