import Foundation
import Glibc
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing

/// `/explain`, which the page's pane "Plan" asks where `--explain-in-page` lets it.
@Suite(.serialized, .usesCluster(isFirst: true)) struct ExplainInPageTests {
  private static let server = Result {
    try GraphServer(
      database: TestCluster.newDatabase(migrated: true),
      // What waits for a test's lock does so until the test has seen it.
      settings: {
        $0.explains = true
        $0.loopCount = 1
        $0.writers = 1
      })
  }

  private static func request(
    _ query: String, _ variables: JSONValue, _ token: String?
  ) -> String {
    let body = "\(["query": .string(query), "variables": variables] as JSONValue)"
    let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    return "POST /explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      + "\(authorization)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  private func ask(
    _ query: String, _ variables: JSONValue = .object([]), token: String? = nil,
    of server: GraphServer? = nil
  ) throws -> (status: Int, text: String, report: JSONValue?) {
    let client = try RawClient(port: (server ?? Self.server.get()).port)
    client.send(Self.request(query, variables, token))
    let answer = client.answer()
    return (answer.status, answer.body, try? JSONParser.parse(Array(answer.body.utf8)))
  }

  private func code(_ report: JSONValue?) -> String? {
    report?["errors"]?.array?.first?["extensions"]?["code"]?.string
  }

  private static let posts = """
    query Posts($name: String!) { user(by: {username: $name}) { posts(first: 10) { nodes { body } } } }
    """

  private func name(_ text: String) -> JSONValue { ["name": .string(text)] }

  @Test func `a server explains nothing unless it is told to`() throws {
    let answer = try ask("{ __typename }", of: .shared)
    #expect(answer.status == 403)
    #expect(answer.text.contains("--explain-in-page"))
  }

  @Test func `the plan is that of the viewer's own rows`() throws {
    let data = try Self.server.get().data()
    let bob = try data.person()
    let circle = try data.circle("Circle", owner: bob)
    for _ in 0..<2 { _ = try data.post(.text, by: bob) }
    _ = try data.post(.text, by: bob, circle: circle, visibility: "CIRCLE")
    func rows(_ token: String?) throws -> Double? {
      let answer = try ask(Self.posts, name(bob.username), token: token)
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.report?["statement"]?.string?.hasPrefix("SELECT ROW(") == true)
      #expect(answer.report?["nodes"]?.array?.isEmpty == false)
      let fields = answer.report?["fields"]?.array ?? []
      let known: Set<String> = ["", "user", "user.posts", "user.posts.nodes"]
      #expect(known.isSuperset(of: fields.compactMap { $0["field"]?.string }), "\(answer.text)")
      guard
        case .number(let text)? = fields.first(where: {
          $0["field"]?.string?.hasPrefix("user.posts") == true
        })?["rows"]
      else { return nil }
      return Double(text)
    }
    #expect(try rows(bob.token) == 3)
    #expect(try rows(nil) == 2)
  }

  @Test func `values reach PostgreSQL as values, and the plan serves all of them`() throws {
    for text in ["it's \"odd\" \\ $1 :x ]", "'); SELECT 1; --", "ä🦉"] {
      let answer = try ask(Self.posts, name(text))
      #expect(answer.status == 200, "\(answer.text)")
      let values = (answer.report?["parameters"]?.array ?? []).compactMap { $0["value"]?.string }
      #expect(values.contains(text), "\(values)")
      let details = (answer.report?["nodes"]?.array ?? []).flatMap { $0["details"]?.array ?? [] }
      #expect(details.contains { $0.string?.contains("$") == true }, "\(details)")
      #expect(!details.contains { $0.string?.contains("odd") == true })
    }
  }

  @Test(arguments: ShowcaseTests.names.filter { !$0.hasPrefix("Q19") })
  func `the showcase reads are explained`(name: String) throws {
    let person = try Self.server.get().data().person()
    let folder = ShowcaseTests.folder + "/" + name
    let query = try String(contentsOfFile: folder + "/operation.graphql", encoding: .utf8)
    let variables = try String(contentsOfFile: folder + "/variables.json", encoding: .utf8)
    let answer = try ask(query, JSONParser.parse(Array(variables.utf8)), token: person.token)
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.report?["nodes"]?.array?.isEmpty == false)
  }

  @Test func `what follows a cursor is explained, too`() throws {
    let data = try Self.server.get().data()
    let bob = try data.person()
    for _ in 0..<3 { _ = try data.post(.text, by: bob) }
    let query = """
      query After($name: String!, $after: String) {
        user(by: {username: $name}) {
          posts(first: 1, after: $after) { nodes { body } pageInfo { endCursor } }
        }
      }
      """
    let page = try Self.server.get().data(query, name(bob.username))
    let cursor = page.at("user.posts.pageInfo.endCursor") ?? .null
    #expect(cursor.string != nil)
    let answer = try ask(query, ["name": .string(bob.username), "after": cursor])
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.report?["nodes"]?.array?.isEmpty == false)
  }

  @Test func `a mutation is refused and not run, and neither is a subscription`() throws {
    let server = try Self.server.get()
    let person = try server.data().person()
    let mutation = try ask(
      #"mutation { createTextPost(input: {body: "x"}) { __typename } }"#, token: person.token)
    #expect(code(mutation.report) == "BAD_REQUEST", "\(mutation.text)")
    let count = try server.data(
      "query($name: String!) { user(by: {username: $name}) { posts { totalCount } } }",
      name(person.username), as: person)
    #expect(count.at("user.posts.totalCount") == .number("0"), "\(count)")
    let subscription = try ask("subscription { postAdded { id } }", token: person.token)
    #expect(code(subscription.report) == "BAD_REQUEST", "\(subscription.text)")
  }

  @Test func `limits and tokens are those of operations`() throws {
    #expect(try ask(Self.posts, name("x"), token: "nobody").status == 401)
    let deep = String(repeating: "author { posts { nodes { ", count: 6)
    let ends = String(repeating: "} } } ", count: 6)
    let answer = try ask("{ posts { nodes { \(deep) id \(ends) } } }")
    #expect(code(answer.report) == "DEPTH_LIMIT_EXCEEDED", "\(answer.text)")
    let none = try ask("{ __typename }")
    #expect(none.status == 200 && none.report?["nodes"] == .array([]), "\(none.text)")
  }

  @Test func `one operation at a time is explained`() throws {
    let server = try Self.server.get()
    let session = try TestCluster.session(server.database)
    _ = try session.execute("BEGIN")
    _ = try session.execute("LOCK TABLE post IN ACCESS EXCLUSIVE MODE")
    let client = try RawClient(port: server.port)
    client.send(Self.request("{ posts(first: 1) { nodes { id } } }", .object([]), nil))
    // A transaction sees what others do as it was when it looked first.
    let observer = try TestCluster.session(server.database)
    for _ in 0..<60_000 {
      let waiting = try observer.execute(
        """
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ROW(%'
        """)
      if !waiting.isEmpty { break }
      usleep(10_000)
    }
    #expect(try code(ask(Self.posts, name("x")).report) == "SERVICE_OVERLOADED")
    _ = try session.execute("ROLLBACK")
    #expect(client.answer().status == 200)
    #expect(try ask(Self.posts, name("x")).status == 200)
  }
}
