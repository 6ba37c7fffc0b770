import Foundation
import SQL
import Testing

/// `docs/reference/sql-contract.md` is the list that the program works by. `SOCIOGRAPH_UPDATE_FIXTURES=1` writes it
/// again: read the difference before it is committed.
@Suite struct GraphContractPageTests {
  private static let path =
    #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    + "/docs/reference/sql-contract.md"

  @Test func `the page lists what the program calls`() throws {
    if ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1" {
      try GraphContract.page.write(toFile: Self.path, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOfFile: Self.path, encoding: .utf8) == GraphContract.page)
  }

  @Test func `every entry says what it is for, as a clause`() {
    for entry in GraphContract.all {
      #expect(entry.use.first?.isLowercase == true && entry.use.last != ".", "\(entry)")
      #expect(!entry.consequence.isEmpty && entry.consequence.last != ".", "\(entry)")
    }
  }

  @Test func `what a database has is used, and what it lacks has a consequence`() {
    let contract = ProvidedContract(rows: [["news_since(pg_snapshot)"], ["live_source"], [nil]])
    #expect(contract.has(GraphContract.newsSince) && contract.has(GraphContract.liveSource))
    #expect(!contract.has(GraphContract.photoAudience))
    #expect(contract.missing.count == GraphContract.all.count - 2)
    #expect(contract.consequence(of: GraphContract.newsSince) == GraphContract.newsSince.use)
    #expect(
      contract.consequence(of: GraphContract.photoAudience)
        == GraphContract.photoAudience.consequence)
  }
}
