import TestSupport
import Testing

@Suite(.usesCluster) struct TimingTests {
  private let query = "query Times { users(first: 1) { nodes { id } } }"
  private let prefer = "Prefer: respond-async, metrics=timings\r\n"

  private func timings(_ header: String) -> [String: Double] {
    var result: [String: Double] = [:]
    for entry in header.split(separator: ", ") {
      let parts = entry.split(separator: ";dur=")
      if parts.count == 2, let number = Double(parts[1]) { result[String(parts[0])] = number }
    }
    return result
  }

  @Test func `a client that asks receives the times of its request, if the server is told to`()
    throws
  {
    let server = try TestServer(database: TestCluster.migratedDatabase()) { $0.timings = true }
    let first = try server.execute(query, headers: prefer)
    let told = timings(try #require(first.header("Server-Timing")))
    for phase in ["total", "parse", "validate", "plan", "postgresql", "write"] {
      #expect(told[phase] ?? 0 > 0, "\(phase) in \(told)")
    }
    let parts = told.filter { $0.key != "total" }.values.reduce(0, +)
    // Each part is rounded to a microsecond.
    #expect(parts <= (told["total"] ?? 0) + 0.001 * Double(told.count))
    // From the cache: nothing was parsed.
    let second = try server.execute(query, headers: prefer)
    let again = timings(try #require(second.header("Server-Timing")))
    #expect(again["parse"] == nil && again["postgresql"] ?? 0 > 0)
    #expect(try server.execute(query).header("Server-Timing") == nil)
    #expect(
      try server.execute(query, headers: "Prefer: metrics=none\r\n").header("Server-Timing") == nil)
  }

  @Test func `a server that is not told to keeps its times`() throws {
    let server = try TestServer(database: TestCluster.migratedDatabase())
    #expect(try server.execute(query, headers: prefer).header("Server-Timing") == nil)
  }
}
