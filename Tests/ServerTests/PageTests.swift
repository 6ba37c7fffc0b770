import Foundation
import HTTPTestSupport
import JSON
import OracleSupport
import TestSupport
import Testing

@testable import Server

/// The resources served in addition to the API.
@Suite(.usesCluster) struct PageTests {
  /// A folder with files of GraphiQL's names.
  private static func assets() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for name in GraphiQLPage.files { _ = try folder.write(name, "/* \(name) */") }
    return folder
  }

  @Test func `the IDE's page names only files that are here, kept for ever`() throws {
    let folder = try Self.assets()
    let server = try TestServer { $0.graphiQL = .folder(folder.path) }
    let page = try server.get("/")
    #expect(page.status == 200)
    #expect(page.header("Content-Type") == "text/html; charset=utf-8")
    #expect(page.header("X-Content-Type-Options") == "nosniff")
    let policy = try #require(page.header("Content-Security-Policy"))
    #expect(policy.contains("script-src 'self';") && policy.contains("default-src 'none'"))
    #expect(!page.body.contains("://") && !page.body.contains("<script>"))
    let addresses = page.body.matches(of: #/(?:src|href)="(graphiql\/[^"]+)"/#).map { "/" + $0.1 }
    #expect(addresses.count == GraphiQLPage.files.count + 5)
    for address in addresses {
      let file = try server.get(address)
      #expect(file.status == 200)
      #expect(
        file.header("Content-Type")
          == (address.hasSuffix(".css") ? "text/css" : "text/javascript") + "; charset=utf-8")
      #expect(file.header("Cache-Control") == "public, max-age=31536000, immutable")
    }
    #expect(try server.get("/graphiql/0/page.js").status == 404)
    #expect(try server.get("/../../etc/passwd").status >= 400)
  }

  @Test func `the page has a pane for plans only where they are shown`() throws {
    let folder = try Self.assets()
    for explains in [false, true] {
      let page = try TestServer {
        $0.graphiQL = .folder(folder.path)
        $0.explains = explains
      }.get("/")
      #expect(page.body.contains(" data-explain>") == explains)
    }
  }

  @Test func `the page names the database and the schema, and has the examples of demo data`()
    throws
  {
    let folder = try Self.assets()
    func page(_ change: (inout GraphiQLPage.Content) -> Void) throws -> String {
      try TestServer {
        $0.graphiQL = .folder(folder.path)
        change(&$0.pageContent)
      }.get("/").body
    }
    let plain = try page { _ in }
    #expect(plain.contains("<title>Sociograph</title>"))
    #expect(plain.contains("data-served=\"The social graph over an embedded database.\""))
    #expect(!plain.contains("data-demo"))
    let named = try page {
      $0.database = "<a> & \"b\""
      $0.schema = "graph"
      $0.demo = "{\"identities\": []}"
    }
    #expect(named.contains("<title>&lt;a> &amp; &quot;b&quot; – Sociograph</title>"))
    #expect(named.contains("data-demo=\"{&quot;identities&quot;: []}\""))
    #expect(named.contains("The schema &quot;graph&quot; over the database &quot;&lt;a>"))
  }

  @Test func `without its files the page says how to get them`() throws {
    let folder = try Self.assets()
    try FileManager.default.removeItem(atPath: folder.path + "/graphiql.min.js")
    let page = try TestServer { $0.graphiQL = .folder(folder.path) }.get("/")
    #expect(page.status == 200 && page.header("Content-Type") == "text/plain; charset=utf-8")
    #expect(page.body.contains("script/setup"))
  }

  @Test func `a site is served under its path, and no other file of its folder`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("index.html", "<p>Index</p>")
    _ = try folder.write("search.js", "1")
    _ = try folder.write("secret.txt", "no")
    #expect(throws: CommandFailure.self) { try SitePages(folder: folder.path + "/none") }
    let site = try SitePages(folder: folder.path)
    let server = try TestServer { $0.site = site }
    let index = try server.get("/docs/")
    #expect(index.status == 200 && index.body == "<p>Index</p>")
    #expect(index.header("Content-Type") == "text/html; charset=utf-8")
    #expect(index.header("Content-Security-Policy")?.contains("script-src 'self'") == true)
    #expect(try server.get("/docs").body.contains("url=docs/"))
    #expect(try server.get("/docs/search.js").body == "1")
    for path in ["/docs/secret.txt", "/docs/../secret.txt", "/docs/none.html"] {
      #expect(try server.get(path).status >= 400, "\(path)")
    }
    #expect(try TestServer.shared.get("/docs/").status == 404)
  }

  @Test func `the IDE can be turned off`() throws {
    let page = try TestServer { $0.graphiQL = .off }.get("/")
    #expect(page.header("Content-Type") == "text/plain; charset=utf-8")
    #expect(!page.body.contains("GraphiQL"))
  }

  @Test(
    .enabled(
      if: GraphiQLPage.installedFolder != nil,
      "GraphiQL's files are not installed; script/setup run does it."))
  func `the installed IDE is served`() throws {
    let page = try TestServer.shared.get("/")
    #expect(page.body.contains("/graphiql.min.js"))
  }

  @Test func `live and ready answer at once, unknown paths and methods are refused`() throws {
    let server = try TestServer.shared
    #expect(try server.get("/live").status == 200)
    #expect(try server.get("/ready").status == 200)
    #expect(try server.get("/nowhere").status == 404)
    let head = try RawClient(port: server.port)
    head.send("HEAD /schema.graphql HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(head.answer(isHead: true).status == 200)
    let delete = try server.send(
      Array("DELETE /schema.graphql HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    #expect(delete.status == 405 && delete.header("Allow") == "GET, HEAD, OPTIONS")
    #expect(delete.header("Content-Length") == "0")
    for target in ["*", "/schema.graphql", "/graphql"] {
      let options = try server.send(
        Array("OPTIONS \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
      #expect(options.status == 204, "\(target)")
      #expect(options.header("Allow")?.contains("OPTIONS") == true, "\(target)")
    }
  }

  @Test(
    .enabled(
      if: Oracle.graphQLCore != nil, "graphql-core is not installed; script/oracle does it."))
  func `graphql-core builds the published schema from introspection`() throws {
    let server = try TestServer.shared
    let introspection = try JSONParser.parse(
      Array(try server.execute(Self.introspectionQuery).body.utf8))
    let text = try server.get("/schema.graphql").body
    let answer = try #require(Oracle.graphQLCore).answers(to: [
      .object([
        JSONValue.Member(name: "op", value: .string("client")),
        JSONValue.Member(name: "introspection", value: introspection["data"] ?? .null),
        JSONValue.Member(name: "schema", value: .string(text)),
      ])
    ])
    let found = try #require(answer.first)
    #expect(found["failure"] == nil, "\(found["failure"] ?? .null)")
    #expect(found["fromIntrospection"] != nil)
    #expect(found["fromIntrospection"] == found["fromText"])
  }

  @Test func `introspection can be kept from strangers`() throws {
    let closed = try TestServer { $0.introspection = .off }
    #expect(try closed.execute(Self.introspectionQuery).code == "INTROSPECTION_DISABLED")
    #expect(try closed.execute("{ t: __type(name: \"User\") { name } }").status == 400)
    #expect(try closed.execute("{ __typename }").status == 200)
    #expect(try closed.get("/schema.graphql").status == 404)
    let members = try TestServer { $0.introspection = .signedIn }
    #expect(try members.execute("{ __schema { __typename } }").code == "INTROSPECTION_DISABLED")
    let lie = try members.execute(
      "{ __schema { __typename } }", headers: "Authorization: Bearer nobody\r\n")
    #expect(lie.status == 401 || lie.status == 400)
    for headers in ["", "Authorization: Bearer nobody\r\n"] {
      let text = try members.get("/schema.graphql", headers: headers)
      #expect(text.status == 401 && text.header("WWW-Authenticate") == "Bearer", "\(text.body)")
      #expect(!text.body.contains("type Query"))
    }
  }

  @Test(arguments: [IntrospectionAccess.signedIn, .off])
  func `who may not read the schema cannot guess it from suggestions`(
    access: IntrospectionAccess
  ) throws {
    let slips: [(String, JSONValue)] = [
      ("{ userz { totalCount } }", .object([])),
      ("{ users(frist: 1) { totalCount } }", .object([])),
      ("{ ... on Usr { id } }", .object([])),
      ("{ posts(filter: {kinds: [PHOT]}) { totalCount } }", .object([])),
      (
        "query($k: PostKind!) { posts(filter: {kinds: [$k]}) { totalCount } }",
        .object([JSONValue.Member(name: "k", value: .string("PHOT"))])
      ),
      (
        "query($f: PostFilter) { posts(filter: $f) { totalCount } }",
        .object([
          JSONValue.Member(
            name: "f", value: .object([JSONValue.Member(name: "kindz", value: .null)]))
        ])
      ),
    ]
    let (open, closed) = (try TestServer.shared, try TestServer { $0.introspection = access })
    for (query, variables) in slips {
      let told = try open.execute(query, variables)
      #expect(told.body.contains("Did you mean"), "\(told.body)")
      let untold = try closed.execute(query, variables)
      #expect(untold.status == told.status && untold.code == told.code)
      #expect(!untold.body.contains("Did you mean"), "\(untold.body)")
    }
  }

  @Test func `those who are signed in read the schema's text`() throws {
    let server = try TestServer { $0.introspection = .signedIn }
    let signUp = try server.execute(
      """
      mutation {
        signUp(input: {username: "reader", password: "correct horse battery"}) {
          token
        }
      }
      """)
    let answer = try JSONParser.parse(Array(signUp.body.utf8))
    guard case .string(let token)? = answer["data"]?["signUp"]?["token"] else {
      Issue.record("\(signUp.body)")
      return
    }
    let text = try server.get("/schema.graphql", headers: "Authorization: Bearer \(token)\r\n")
    #expect(text.status == 200 && text.body.contains("type Query"))
  }

  static let introspectionQuery = """
    query IntrospectionQuery {
      __schema {
        description queryType { name } mutationType { name } subscriptionType { name }
        types { ...FullType }
        directives { name description isRepeatable locations args { ...InputValue } }
      }
    }
    fragment FullType on __Type {
      kind name description specifiedByURL isOneOf
      fields(includeDeprecated: true) {
        name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
      }
      inputFields { ...InputValue }
      interfaces { ...TypeRef }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { ...TypeRef }
    }
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
    fragment TypeRef on __Type {
      kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
    }
    """
}
