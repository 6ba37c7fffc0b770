import JSON
import TestSupport
import Testing

@Suite(.usesCluster) struct RequestTests {
  @Test func `a variable that does not fit its type is the client's mistake`() throws {
    let query = "query($first: Int!) { users(first: $first) { totalCount } }"
    let server = try GraphServer.shared
    #expect(try server.errorCodes(query, ["first": .null]) == ["BAD_USER_INPUT"])
    #expect(try server.errorCodes(query, ["first": "three"]) == ["BAD_USER_INPUT"])
    #expect(try server.errorCodes(query, [:]) == ["BAD_USER_INPUT"])
  }

  @Test func `more than 100 IDs are refused, also after fewer of the same types`() throws {
    let server = try GraphServer.shared
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    for (count, codes) in [(1, []), (100, []), (101, ["BAD_USER_INPUT"]), (99, [])] {
      let ids = Array(repeating: JSONValue.string("AQE"), count: count)
      #expect(try server.errorCodes(query, ["ids": .array(ids)]) == codes, "\(count)")
    }
  }

  @Test(arguments: [
    "query($v: ID = \"AQE\") { nodes(ids: [$v]) { id } }",
    "query($v: ID = \"AQE\") { node(id: $v) { id } }",
    "query($v: PostKind = PHOTO) { posts(filter: {kinds: [TEXT, $v]}) { totalCount } }",
    "query($v: String = \"tom\") { user(by: {username: $v}) { id } }",
    """
    query($v: DateTime = "2026-01-01T00:00:00.000Z") {
      schedule(filter: {from: $v, to: "2026-02-01T00:00:00.000Z"}) { totalCount }
    }
    """,
  ])
  func `null for a variable with a default is refused where null may not stand`(query: String)
    throws
  {
    let server = try GraphServer.shared
    #expect(try server.errorCodes(query, ["v": .null]) == ["BAD_USER_INPUT"])
    #expect(try server.errorCodes(query, [:]) == [])
  }

  @Test func `an argument that may not be null is an error of its field alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    let root = try server.execute(
      """
      query($bad: ID = "AQE", $id: ID!) {
        a: node(id: $bad) { id }
        b: node(id: $id) { id }
        c: node(id: $bad) { id }
      }
      """, ["bad": .null, "id": anna.json], as: nil)
    #expect(root["data"] == ["a": .null, "b": ["id": anna.json], "c": .null])
    #expect(root["errors"]?.array?.map { $0["path"] ?? .null } == [["a"], ["c"]])
    #expect(
      root.at("errors.0.message")
        == #"Argument "id" of non-null type "ID!" must not be null."#)
    #expect(root.at("errors.0.locations.0.line") == 2)
    let only = try server.execute(
      #"query($bad: ID = "AQE") { node(id: $bad) { id } }"#, ["bad": .null], as: nil)
    #expect(only["data"] == ["node": .null])
    let whole = try server.execute(
      #"query($bad: ID = "AQE") { nodes(ids: [$bad]) { id } }"#, ["bad": .null], as: nil)
    #expect(whole["data"] == .null)
    #expect(whole["errors"]?.array?.map { $0["path"] ?? .null } == [["nodes"]])
  }

  @Test(arguments: [
    "users(first: -1) { totalCount }", "users(first: 101) { totalCount }",
    "changes(limit: -1) { token }", "changes(limit: 101) { token }",
    "circles(first: 2147483647) { nodes { id } }",
  ])
  func `a page of no size or of too many is refused`(field: String) throws {
    #expect(try GraphServer.shared.errorCodes("{ \(field) }") == ["BAD_USER_INPUT"])
  }

  @Test func `an answer that is too large is refused`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    for _ in 0..<25 { _ = try data.post(.text, by: anna) }
    // 20,000 bytes each.
    try data.run("UPDATE post SET body = repeat('𝄞', 5000) WHERE author_id = $1", [anna.key])
    func query(_ count: Int) -> String {
      let posts = (0..<count).map { "a\($0): posts(first: 25) { nodes { body } }" }
      return "query($id: ID!) { node(id: $id) { ... on User { \(posts.joined(separator: " ")) } } }"
    }
    #expect(try server.errorCodes(query(16), ["id": anna.json]) == [])
    #expect(try server.errorCodes(query(17), ["id": anna.json]) == ["COST_LIMIT_EXCEEDED"])
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
      ["id": anna.json, "cursor": cursor, "from": "2026-01-01T00:00:00.000Z"])
    #expect(
      counted == [
        "node": [
          "posts": ["totalCount": 2],
          "empty": ["edges": [], "pageInfo": ["hasPreviousPage": true]],
        ],
        "schedule": ["edges": []],
      ])
  }

  @Test func `a cursor that was changed, or is one of another list, is the client's mistake`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let anna = try data.person("anna")
    for _ in 0..<2 { _ = try data.post(.text, by: anna) }
    let page = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on User {
        posts(first: 1) { pageInfo { endCursor } }
      } } }
      """, ["id": anna.json])
    let cursor = try #require(page.at("node.posts.pageInfo.endCursor")?.string)
    let next =
      "query($id: ID!, $c: String) { node(id: $id) { ... on User { posts(after: $c) { nodes { id } } } } }"
    #expect(try server.errorCodes(next, ["id": anna.json, "c": .string(cursor)]) == [])
    // Keys of no length or of the wrong one, which PostgreSQL would not read.
    for text in [
      "", "AAAA", "AAAAAA", "AAFB", String(cursor.dropFirst(4)), "_" + cursor.dropFirst(),
    ] {
      #expect(
        try server.errorCodes(next, ["id": anna.json, "c": .string(text)]) == ["BAD_USER_INPUT"])
    }
    #expect(
      try server.errorCodes(
        "query($c: String) { users(after: $c) { totalCount nodes { id } } }", ["c": .string(cursor)]
      )
        == ["BAD_USER_INPUT"])
  }

  @Test func `each missing node leaves its place empty, whatever the others are`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    let group = try data.circle("Group", owner: ben)
    let hidden = try data.post(.text, by: ben, circle: group, visibility: "CIRCLE")
    let shown = try data.post(.text, by: ben)
    let gone = NodeKey(Int64(1) << 40 | 24)
    func nodes(_ keys: [NodeKey]) throws -> JSONValue? {
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }",
        ["ids": .array(keys.map(\.json))], as: anna
      )["nodes"]
    }
    func found(_ key: NodeKey) -> JSONValue { ["id": key.json] }
    // All of one table, of several, and of none.
    #expect(
      try nodes([hidden, shown, gone, shown])
        == [.null, found(shown), .null, found(shown)])
    #expect(
      try nodes([group, shown, anna.key, hidden])
        == [.null, found(shown), found(anna.key), .null])
    #expect(try nodes([group, gone]) == [.null, .null])
    #expect(try nodes([group]) == [.null])
    #expect(try nodes([NodeKey(Int64(5) << 8 | 200)]) == [.null])
    #expect(try nodes([]) == [])
  }
}
