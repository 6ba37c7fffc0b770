import Foundation
import GraphQLResponse
import GraphQLTransport
import TestSupport
import Testing

@Suite(.usesCluster) struct ErrorTableTests {
  @Test func `the documentation lists every code with its status, and no other`() throws {
    let rows = try Guide("docs/reference/errors.md").text.split(separator: "\n").filter {
      $0.hasPrefix("| `")
    }
    .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    #expect(
      rows.map { $0.prefix(2).joined(separator: " ") }
        == ErrorCode.allCases.map { "`\($0.rawValue)` \($0.status.code)" })
    #expect(rows.allSatisfy { $0.count == 3 && !$0[2].isEmpty })
  }
}
