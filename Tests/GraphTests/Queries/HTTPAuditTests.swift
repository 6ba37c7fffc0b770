import OracleSupport
import TestSupport
import Testing

/// Each sentence of GraphQL over HTTP that concerns a server, in the default profile and in that of
/// the draft before.
@Suite(.usesCluster) struct HTTPAuditTests {
  @Test func `no MUST and no SHOULD of the edition is short`() throws {
    let run = try LiveClients.run(
      "http_audit.py", ["http://127.0.0.1:\(GraphServer.seeded.port)/graphql"])
    #expect(run.status == 0, "\(run.output)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.last?.hasSuffix(" checks, 0 short") == true)
    #expect(lines.count { $0.hasPrefix("ok ") } >= 270, "\(run.output)")
  }
}
