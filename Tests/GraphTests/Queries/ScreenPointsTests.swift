import Foundation
import HTTP
import JSON
import Server
import TestSupport
import Testing

/// The screens of the applications under the default rate limits, for clients of other machines: the
/// showcase reads, and the queries of `docs/examples`.
@Suite(.usesCluster) struct ScreenPointsTests {
  private struct Screen {
    let name: String
    let document: String
    let variables: JSONValue
  }

  private static func showcase() throws -> [Screen] {
    try ShowcaseTests.names.map { name in
      let path = "\(ShowcaseTests.folder)/\(name)"
      return Screen(
        name: name,
        document: try String(contentsOfFile: path + "/operation.graphql", encoding: .utf8),
        variables: try JSONParser.parse(
          [UInt8](Data(contentsOf: URL(filePath: path + "/variables.json")))))
    }
  }

  /// Every query of a page, with an ID that nothing has for each variable.
  private static func examples() throws -> [Screen] {
    let folder = TestCluster.packageFolder + "/docs/examples"
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().flatMap { page in
      try Guide("docs/examples/\(page)").blocks(of: "graphql").filter {
        $0.text.contains("\nquery ")
      }.map { block in
        Screen(
          name: "\(page):\(block.line)", document: block.text,
          variables: .object(
            block.variables.map { JSONValue.Member(name: $0, value: .string("unknown")) }))
      }
    }
  }

  private static func server() throws -> GraphServer {
    try GraphServer(
      database: GraphServer.seeded.database,
      settings: {
        $0.rateLimits = RateLimiter.Settings(viewer: .standardViewer, address: .standardAddress)
        $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? $0.trustedProxies
      })
  }

  /// Sends a screen, as a phone behind an address.
  private static func status(
    of screen: Screen, _ server: GraphServer, from address: String, token: String?
  ) throws -> Int {
    let body = JSONValue.object([
      JSONValue.Member(name: "query", value: .string(screen.document)),
      JSONValue.Member(name: "variables", value: screen.variables),
    ])
    var headers = [("Content-Type", "application/json"), ("X-Forwarded-For", address)]
    if let token { headers.append(("Authorization", "Bearer \(token)")) }
    return try server.send("POST", "/graphql", headers: headers, body: Array("\(body)".utf8)).status
  }

  @Test(arguments: ["GTIO", "Happy Mail", "Peck", "Sailor+", "C7Fit", "examples"])
  func `one phone opens every screen of its application three times in a row`(
    application: String
  ) throws {
    let server = try Self.server()
    let screens =
      application == "examples"
      ? try Self.examples()
      : try Self.showcase().filter { screen in
        let title = screen.document.prefix { $0 != "\n" }
        return title.contains(application) || title.hasPrefix("# all")
      }
    #expect(screens.count >= 2)
    for token in ["demo-marisol", nil] {
      for screen in screens {
        for _ in 0..<3 {
          let status = try Self.status(of: screen, server, from: "203.0.113.9", token: token)
          #expect(status != 429, "\(screen.name) \(token ?? "")")
        }
      }
    }
  }

  @Test func `twenty phones behind one address open every screen three times in a row`() throws {
    let server = try Self.server()
    for (place, screen) in try (Self.showcase() + Self.examples()).enumerated() {
      let statuses = try crowd(of: 20) { _ in
        try (0..<3).map { _ in
          try Self.status(of: screen, server, from: "198.51.100.\(place)", token: nil)
        }
      }
      #expect(!statuses.joined().contains(429), "\(screen.name)")
    }
  }

  @Test func `a query in the pages of an application is charged what was found`() throws {
    let server = try Self.server()
    let showcase = try Self.showcase()
    let home = try #require(showcase.first { $0.name == "Q16_PeckHome" })
    let body = JSONValue.object([
      JSONValue.Member(name: "query", value: .string(home.document)),
      JSONValue.Member(name: "variables", value: home.variables),
    ])
    let headers = [
      ("Content-Type", "application/json"), ("X-Forwarded-For", "203.0.113.10"),
      ("Authorization", "Bearer demo-marisol"),
    ]
    // Seven days, all at once.
    let costs = try crowd(of: 7) { _ in
      let response = try server.send(
        "POST", "/graphql", headers: headers, body: Array("\(body)".utf8))
      return try JSONParser.parse(response.body).at("extensions.cost")
    }
    for cost in costs {
      guard case .number(let requested)? = cost?["requested"],
        case .number(let actual)? = cost?["actual"]
      else {
        Issue.record("\(costs)")
        continue
      }
      #expect((Int(requested) ?? 0) > 2_000 && (Int(actual) ?? .max) < 1_000, "\(costs)")
    }
  }
}
