import JSON
import Testing

@Suite struct RequestTests {
  @Test func `a variable that does not fit its type is the client's mistake`() throws {
    let query = "query($first: Int!) { users(first: $first) { totalCount } }"
    let server = try GraphServer.shared
    #expect(try server.errorCodes(query, ["first": .null]) == ["BAD_USER_INPUT"])
    #expect(try server.errorCodes(query, ["first": "three"]) == ["BAD_USER_INPUT"])
    #expect(try server.errorCodes(query, [:]) == ["BAD_USER_INPUT"])
  }

  @Test func `arguments of a page are accepted where the page is not selected`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    for _ in 0..<2 { _ = try data.post(.text, by: anna) }
    let first = try server.data(
      "query($id: ID!) { node(id: $id) { ... on User { posts(first: 1) { pageInfo { endCursor } } } } }",
      ["id": anna.json])
    let cursor = try #require(first.at("node.posts.pageInfo.endCursor"))
    let counted = try server.data(
      """
      query($id: ID!, $cursor: String, $from: DateTime!) {
        node(id: $id) { ... on User {
          posts(after: $cursor) { totalCount }
          empty: posts(first: 0, after: $cursor) { edges { cursor } pageInfo { hasPreviousPage } }
        } }
        schedule(first: 0, filter: {from: $from, to: $from}) { edges { cursor } }
      }
      """,
      ["id": anna.json, "cursor": cursor, "from": "2026-01-01T00:00:00Z"])
    #expect(
      counted == [
        "node": [
          "posts": ["totalCount": 2],
          "empty": ["edges": [], "pageInfo": ["hasPreviousPage": true]],
        ],
        "schedule": ["edges": []],
      ])
  }
}
