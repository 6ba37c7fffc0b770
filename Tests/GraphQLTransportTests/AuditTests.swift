import GraphQLTransport
import HTTP
import HTTPTestSupport
import JSON
import Testing

/// The 61 checks of the audit suite of GraphQL over HTTP (graphql-http, `src/audits/server.ts`), by
/// their ids and sentences, over a socket against a server of one type.
@Suite struct AuditTests {
  /// Those with a status that the draft of April 2026 replaced by 422.
  private static let replaced: Set = ["423L", "74FF", "5E5B", "86EE"]

  @Test(arguments: Audit.all, [ResponseFormat.ProfileChoice.audit, .auto])
  func `audit of GraphQL over HTTP`(
    audit: Audit, profile: ResponseFormat.ProfileChoice
  ) throws {
    var configuration = GraphQLEndpoint.Configuration()
    configuration.profile = profile
    let server = try TinyServer(configuration)
    let answer = try server.send(audit.request)
    let statuses =
      profile == .auto && Self.replaced.contains(audit.id) ? 422...422 : audit.statuses
    #expect(statuses.contains(answer.status), "\(answer.head)\(answer.body)")
    if let type = audit.contentType {
      #expect(answer.head.contains("\r\nContent-Type: \(type); charset=utf-8\r\n"))
    }
    guard audit.body != .anything else { return }
    guard case .object(let members) = try JSONParser.parse(Array(answer.body.utf8)) else {
      Issue.record("The answer is no object.")
      return
    }
    let names = members.map(\.name)
    switch audit.body {
    case .anything: break
    case .withoutErrors: #expect(names == ["data"])
    case .withoutData: #expect(names == ["errors"])
    }
  }

  @Test func `there are sixty-one audits`() {
    #expect(Audit.all.count == 61)
    #expect(Set(Audit.all.map(\.id)).count == 61)
  }
}
