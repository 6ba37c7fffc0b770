import GraphQLSchema
import JSON
import TestSupport
import Testing

/// Every connection of the schema, walked in pages of several sizes over rows that only their ids
/// tell apart.
@Suite(.usesCluster) struct PageTests {
  @Test func `every connection of what can be read is walked`() throws {
    let schema = try GraphServer.mapping.get().schema
    let walked = Set(try Walk.all().map(\.coordinate))
    var missing: [String] = []
    for type in schema.types where !type.isAbstract && type.name != "Mutation" {
      for field in type.fields where schema[field.type.namedType].name.hasSuffix("Connection") {
        if !walked.contains("\(type.name).\(field.name)") {
          missing.append("\(type.name).\(field.name)")
        }
      }
    }
    #expect(missing == [])
  }

  @Test(arguments: [1, 2, 4, 7])
  func `pages hold every row once and in order`(size: Int) throws {
    for walk in try Walk.all() {
      let whole = try walk.whole()
      #expect(whole.rows.count == whole.total, "\(walk.name)")
      #expect(whole.rows.count >= 3, "\(walk.name) has too few rows to say anything")
      #expect(Set(whole.rows).count == whole.rows.count, "\(walk.name)")
      #expect(try walk.rows(size: size, backward: false) == whole.rows, "\(walk.name) forward")
      if walk.isTwoWay {
        #expect(try walk.rows(size: size, backward: true) == whole.rows, "\(walk.name) backward")
      }
    }
  }

  @Test func `the order is the one the naive graph finds`() throws {
    let graph = try CrowdedGraph.shared.get()
    let schema = try GraphServer.mapping.get().schema
    let naive = try NaiveDatabase(graph.server.database)
    // What is found by relevance has tests of its own.
    for walk in try Walk.all() where !walk.isOrdered(by: "RELEVANCE") {
      let book = CursorBook()
      let viewer = try NaiveGraph(naive, book, viewer: walk.viewer(in: graph).key.number)
      let operation = walk.operation([("first", .constant(100))])
      let expected = try NaiveExecutor(operation, schema: schema).execute(viewer.query)
      var comparison = Comparison(book)
      comparison.compare(
        try graph.server.data(operation.text, as: walk.viewer(in: graph)), expected)
      #expect(comparison.differences.prefix(3) == [], "\(walk.name)")
    }
  }

  @Test func `a count stops at its limit and says so; what is kept is exact`() throws {
    let graph = try CrowdedGraph.shared.get()
    let query = """
      query($id: ID!) { products { totalCount isTotalCountExact nodes { id } }
        none: products(search: "zzyzx") { totalCount isTotalCountExact }
        node(id: $id) { ... on User {
          followers { totalCount isTotalCountExact }
          some: followers(search: "same") { isTotalCountExact }
          posts(kinds: [ANNOUNCEMENT]) { totalCount isTotalCountExact } } } }
      """
    let all = try graph.server.data(query, ["id": graph.viewer.json], as: graph.viewer)
    #expect(all.at("products.totalCount") == 9)
    #expect(all.at("products.isTotalCountExact") == true)
    #expect(all.at("node.some.isTotalCountExact") == true)
    for limit in [Int32(8), 9, 10] {
      let server = try GraphServer(
        database: graph.server.database,
        settings: { $0.execution.plannerLimits.maximumCount = limit })
      defer { server.stop() }
      let counted = try server.data(query, ["id": graph.viewer.json], as: graph.viewer)
      #expect(counted.at("products.totalCount") == .number("\(min(9, limit))"))
      #expect(counted.at("products.isTotalCountExact") == .boolean(limit >= 9))
      #expect(counted.at("products.nodes")?.array?.count == 9)
      #expect(counted["none"] == ["totalCount": 0, "isTotalCountExact": true])
      // Followers are counted beforehand; those of a name, and posts, are not.
      #expect(counted.at("node.followers") == ["totalCount": 11, "isTotalCountExact": true])
      #expect(counted.at("node.some.isTotalCountExact") == .boolean(limit >= 9))
      #expect(counted.at("node.posts") == ["totalCount": 0, "isTotalCountExact": true])
    }
  }

  @Test func `rows that come and go between pages neither repeat nor hide others`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person("author")
    let times = ["2026-01-01 00:00:00+00", "2026-01-02 00:00:00+00"]
    var posts: [NodeKey] = []
    for number in 0..<12 { posts.append(try data.post(.text, by: author, at: times[number % 2])) }
    let query = """
      query($id: ID!, $after: String) { node(id: $id) { ... on User {
        posts(first: 3, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } }
      } } }
      """
    var seen: [String] = []
    var after: JSONValue = .null
    var gone: Set<String> = []
    for round in 0..<10 {
      let page = try server.data(query, ["id": author.json, "after": after])
      seen += page.strings("node.posts.nodes", "id")
      guard page.at("node.posts.pageInfo.hasNextPage") == true else { break }
      after = try #require(page.at("node.posts.pageInfo.endCursor"))
      // New ones in front, at the time of those being read, and the one the cursor stands on goes.
      _ = try data.post(.text, by: author)
      if let last = seen.last, round < 2 {
        gone.insert(last)
        try data.run(
          "SELECT delete_node($1)", [posts.first { $0.wire == last }])
      }
    }
    #expect(Set(seen).count == seen.count)
    #expect(Set(seen) == Set(posts.map(\.wire)))
    #expect(gone.count == 2)
  }

  @Test func `a cursor of one order is refused by another`() throws {
    let server = try CrowdedGraph.shared.get().server
    let first = try server.data(
      "{ products(orderBy: PRICE_ASC, first: 2) { pageInfo { endCursor } } }")
    let cursor = try #require(first.at("products.pageInfo.endCursor")?.string)
    func query(_ order: String) -> String {
      "{ products(orderBy: \(order), after: \"\(cursor)\") { nodes { id } } }"
    }
    #expect(try server.errorCodes(query("PRICE_ASC")) == [])
    #expect(try server.errorCodes(query("NAME")) == ["BAD_USER_INPUT"])
    for broken in ["", "x", "AAAA", String(cursor.dropLast()), cursor + "AAAA", "é"] {
      let text =
        "{ products(orderBy: PRICE_ASC, after: \(JSONValue.string(broken))) { nodes { id } } }"
      #expect(try server.errorCodes(text) == ["BAD_USER_INPUT"], "\(broken)")
    }
  }
}

/// One connection of the crowded graph in one order.
private struct Walk {
  let coordinate: String
  let arguments: [(name: String, value: RandomInput)]
  let isTwoWay: Bool
  private let field: String
  private let path: String
  private let edgeFields: [String]
  /// What tells its elements apart.
  private let identity: [RandomSelection]
  private let wrap: (RandomField) -> [RandomSelection]

  var name: String {
    coordinate + "(" + arguments.map { "\($0.name): \($0.value.text)" }.joined(separator: ", ")
      + ")"
  }

  /// Returns the viewer who walks it.
  func viewer(in graph: CrowdedGraph) -> Person {
    coordinate.hasPrefix("Moderation.") ? graph.staff : graph.viewer
  }

  static func all() throws -> [Walk] {
    let graph = try CrowdedGraph.shared.get()
    let schema = try GraphServer.mapping.get().schema
    var walks: [Walk] = []

    func add(
      _ type: String, _ path: String, _ given: [String: [(String, RandomInput)]] = [:],
      _ wrap: @escaping (RandomField) -> [RandomSelection]
    ) {
      for field in schema.type(named: type)?.fields ?? [] {
        let connection = schema[field.type.namedType]
        guard connection.name.hasSuffix("Connection"),
          let edge = connection.field(named: "edges").map({ schema[$0.type.namedType] })
        else { continue }
        // All values of the arguments that choose an order or a source.
        var choices: [[(name: String, value: RandomInput)]] = [[]]
        for argument in field.arguments {
          guard case .enum(let values) = schema[argument.type.namedType].kind,
            ["orderBy", "source"].contains(argument.name)
          else { continue }
          choices = choices.flatMap { choice in
            values.map { choice + [(argument.name, .enumeration($0.name))] }
          }
        }
        for choice in choices {
          walks.append(
            Walk(
              coordinate: "\(type).\(field.name)",
              arguments: (given[field.name] ?? []).map { (name: $0.0, value: $0.1) } + choice,
              isTwoWay: field.argument(named: "last") != nil, field: field.name, path: path,
              edgeFields: edge.fields.map(\.name).filter { $0 == "kind" },
              identity: identity(of: edge, in: schema), wrap: wrap))
        }
      }
    }
    func node(
      _ type: String, _ key: NodeKey, _ given: [String: [(String, RandomInput)]] = [:]
    ) {
      add(type, "node", given) { field in
        [
          .field(
            RandomField(
              alias: nil, name: "node", arguments: [("id", .constant(key.json))],
              selections: [.inline(condition: type, RandomDirectives(), [.field(field)])]))
        ]
      }
    }

    let window: [(String, RandomInput)] = [
      ("from", .constant("2020-01-01T00:00:00.000Z")),
      ("to", .constant("2040-01-01T00:00:00.000Z")),
    ]
    add(
      "Query", "",
      [
        "schedule": [("filter", .object(window.map { (name: $0.0, value: $0.1) }))],
        "search": [("query", .constant("common"))],
      ]
    ) { [.field($0)] }
    // There is no distance without a place to measure from.
    walks.removeAll { $0.isOrdered(by: "NEAREST") }
    add("Viewer", "viewer", ["agenda": window]) { field in
      [.field(RandomField(alias: nil, name: "viewer", selections: [.field(field)]))]
    }
    add("Moderation", "viewer.moderation") { field in
      let moderation = RandomField(alias: nil, name: "moderation", selections: [.field(field)])
      return [.field(RandomField(alias: nil, name: "viewer", selections: [.field(moderation)]))]
    }
    // The first person's posts and followers, the viewer's own.
    node("User", graph.people[0].key)
    node("User", graph.viewer.key)
    walks.removeAll { walk in
      // Only one of the two has these.
      walk.coordinate.hasPrefix("User.") && walk.isEmpty(graph)
    }
    node("Circle", graph.channel)
    node("Location", graph.location)
    node("Product", graph.product)
    node("Comment", graph.comment)
    node("Conversation", graph.conversation)
    node("Program", graph.program, ["classSessions": window])
    node("ClassSession", graph.roster)
    for (tag, key) in graph.posts { node(NaiveGraph.postTypes[tag.rawValue - 16], key) }
    add("TrainerProfile", "node.trainerProfile", ["classSessions": window]) { field in
      let profile = RandomField(
        alias: nil, name: "trainerProfile", selections: [.field(field)])
      return [
        .field(
          RandomField(
            alias: nil, name: "node", arguments: [("id", .constant(graph.trainer.json))],
            selections: [.inline(condition: "User", RandomDirectives(), [.field(profile)])]))
      ]
    }
    // By distance, all of them equal.
    add(
      "Query", "",
      [
        "locations": [
          (
            "filter",
            .object([
              (
                "near",
                .object([
                  (
                    "center",
                    .object([("latitude", .constant(10.5)), ("longitude", .constant(20))])
                  ), ("radiusMeters", .constant(400_000)),
                ])
              )
            ])
          )
        ],
        "schedule": [("filter", .object(window.map { (name: $0.0, value: $0.1) }))],
        "search": [("query", .constant("same"))],
      ]
    ) { [.field($0)] }
    return walks
  }

  /// Returns the ID of a node, or else what an element is about and by whom.
  private static func identity(of edge: TypeDefinition, in schema: Schema) -> [RandomSelection] {
    let id = RandomSelection.field(RandomField(alias: nil, name: "id"))
    let type = edge.field(named: "node").map { schema[$0.type.namedType] }
    guard let type, type.fields.contains(where: { $0.name == "subjectId" }),
      type.field(named: "id") == nil
    else { return [.inline(condition: "Node", RandomDirectives(), [id])] }
    let user = RandomSelection.field(RandomField(alias: nil, name: "user", selections: [id]))
    return [.field(RandomField(alias: nil, name: "subjectId"))]
      + (type.field(named: "user") == nil ? [] : [user])
  }

  func isOrdered(by order: String) -> Bool { arguments.contains { $0.value.text == order } }

  private func isEmpty(_ graph: CrowdedGraph) -> Bool { (try? whole().rows.count) ?? 0 < 3 }

  func operation(_ page: [(name: String, value: RandomInput)]) -> RandomOperation {
    func leaf(_ name: String) -> RandomSelection { .field(RandomField(alias: nil, name: name)) }
    let edges = RandomField(
      alias: nil, name: "edges",
      selections: [
        leaf("cursor"), .field(RandomField(alias: nil, name: "node", selections: identity)),
      ] + edgeFields.map(leaf))
    let info = RandomField(
      alias: nil, name: "pageInfo",
      selections: ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"].map(leaf))
    let connection = RandomField(
      alias: nil, name: field, arguments: arguments + page,
      selections: [.field(edges), .field(info), leaf("totalCount")])
    return RandomOperation(viewer: nil, selections: wrap(connection))
  }

  private struct Page {
    let rows: [String]
    let cursors: [String]
    let info: JSONValue
    let total: Int
  }

  private func page(_ page: [(name: String, value: RandomInput)]) throws -> Page {
    let graph = try CrowdedGraph.shared.get()
    let data = try graph.server.data(operation(page).text, as: viewer(in: graph))
    guard let connection = data.at(path.isEmpty ? field : path + "." + field),
      let edges = connection["edges"]?.array, let info = connection["pageInfo"]
    else { throw GraphTestFailure("\(name) is not there: \(data)") }
    return Page(
      rows: edges.map { edge in
        ["node.id", "node.subjectId", "node.user.id", "kind"].map { edge.at($0)?.string ?? "" }
          .joined(separator: " ")
      },
      cursors: edges.map { $0["cursor"]?.string ?? "" }, info: info,
      total: connection["totalCount"]?.int ?? -1)
  }

  func whole() throws -> (rows: [String], total: Int) {
    let page = try page([("first", .constant(100))])
    #expect(page.info["hasNextPage"] == .boolean(false), "\(name)")
    return (page.rows, page.total)
  }

  /// All rows in pages of a size; what each page says of itself is checked on the way.
  func rows(size: Int, backward: Bool) throws -> [String] {
    var rows: [String] = []
    var cursor: String?
    for _ in 0..<200 {
      var arguments: [(name: String, value: RandomInput)] = [
        (backward ? "last" : "first", .constant(.number("\(size)")))
      ]
      if let cursor {
        arguments.append((backward ? "before" : "after", .constant(.string(cursor))))
      }
      let page = try page(arguments)
      let (onward, back) = (
        page.info[backward ? "hasPreviousPage" : "hasNextPage"],
        page.info[backward ? "hasNextPage" : "hasPreviousPage"]
      )
      #expect(page.rows.count <= size, "\(name)")
      #expect(back == .boolean(cursor != nil), "\(name)")
      #expect(
        page.info["startCursor"] == page.cursors.first.map { .string($0) } ?? .null, "\(name)")
      #expect(page.info["endCursor"] == page.cursors.last.map { .string($0) } ?? .null, "\(name)")
      rows = backward ? page.rows + rows : rows + page.rows
      guard onward == .boolean(true) else { return rows }
      #expect(page.rows.count == size, "\(name)")
      cursor = backward ? page.cursors.first : page.cursors.last
    }
    throw GraphTestFailure("\(name) does not end")
  }
}
