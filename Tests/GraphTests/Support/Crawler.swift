import GraphQLSchema
import JSON

/// Reads whatever a client can reach: every root field, every node by its id, everything around it,
/// and hands over the bytes of each answer.
struct Crawler {
  let server: GraphServer
  let schema: Schema
  private let roots: [(name: String, text: String)]

  /// - Parameter words: what is searched for.
  init(_ server: GraphServer, words: [String]) throws {
    self.server = server
    let schema = try GraphServer.mapping.get().schema
    self.schema = schema
    var roots: [(name: String, text: String)] = []
    let window = "from: \"2000-01-01T00:00:00.000Z\", to: \"2100-01-01T00:00:00.000Z\""
    let writer = SelectionWriter(schema: schema, window: window)
    func add(_ field: String, _ arguments: String, depth: Int = 1) {
      guard let definition = schema.type(named: "Query")?.field(named: field) else { return }
      let inner = writer.selections(of: schema[definition.type.namedType].name, depth: depth)
      roots.append((field, "{ \(field)\(arguments) \(inner) }"))
    }
    for part in writer.parts(of: "Viewer", depth: 2) {
      roots.append(("viewer", "{ viewer { \(part) } }"))
    }
    roots.append(("dataExport", "{ viewer { dataExport } }"))
    add("users", "(first: 100)")
    for order in ["NEWEST", "TOP"] { add("posts", "(first: 100, orderBy: \(order))") }
    add("locations", "(first: 100)")
    add("circles", "(first: 100)")
    add("products", "(first: 100)")
    add("programs", "")
    add("schedule", "(filter: {\(window)}, first: 100)")
    add("explore", "(first: 100)")
    add("appConfig", "(app: \"gtio\")")
    add("dailyContent", "(date: \"2026-01-01\")")
    for word in words {
      let searches = [
        ("search", "(query: \"\(word)\", first: 100)"), ("users", "(search: \"\(word)\")"),
        ("circles", "(search: \"\(word)\")"), ("posts", "(filter: {search: \"\(word)\"})"),
        ("products", "(search: \"\(word)\")"), ("locations", "(filter: {search: \"\(word)\"})"),
      ].map { field, arguments in
        let type = schema.type(named: "Query")?.field(named: field)?.type.namedType
        return field + arguments + " "
          + (type.map { writer.selections(of: schema[$0].name, depth: 0) } ?? "")
      }
      roots.append(("search \(word)", "{ \(searches.joined(separator: " ")) }"))
    }
    for filter in ["visitedBy: FOLLOWING", "toppedBy: FRIENDS_OF_FRIENDS", "isRecommended: true"] {
      add("locations", "(filter: {\(filter)})", depth: 0)
    }
    for filter in ["by: FOLLOWING", "by: FRIENDS_OF_FRIENDS", "isOpen: true"] {
      add("posts", "(filter: {\(filter)})", depth: 0)
    }
    self.roots = roots
  }

  /// Calls `take` with what was asked for and the answer.
  ///
  /// - Parameter nodes: all to be looked at by their ids.
  func crawl(
    _ nodes: [NodeKey], token: String?, _ take: (String, HTTPClients.Response) throws -> Void
  ) throws {
    func ask(_ name: String, _ text: String, _ variables: JSONValue? = Optional.none) throws {
      let response = try server.send(text, variables, token: token)
      // Texts of people have escaped quotes.
      if response.contains(#""errors":"#) {
        throw GraphTestFailure("\(name): \(response.text.prefix(2000))\n\(text)")
      }
      try take(name, response)
    }
    for (name, text) in roots { try ask(name, text) }
    let first = try server.data().firstToken(of: token)
    try ask(
      "changes",
      "{ changes(since: \"\(first)\") { hasMore changes { operation node { __typename } } } }")
    let window = "from: \"2000-01-01T00:00:00.000Z\", to: \"2100-01-01T00:00:00.000Z\""
    let writer = SelectionWriter(schema: schema, window: window)
    var known: [String: [String]] = [:]
    for key in nodes {
      guard let type = Self.type(of: key) else { continue }
      // Where people are only named, a step further.
      let names = ["Circle", "ClassSession", "Conversation", "Program", "Booking", "FollowUp"]
      let parts = known[type] ?? writer.parts(of: type, depth: names.contains(type) ? 2 : 1)
      known[type] = parts
      for part in parts {
        try ask(
          "node \(type) \(key)",
          "query($id: ID!) { node(id: $id) { id ... on \(type) { \(part) } } }", ["id": key.json])
      }
    }
    for chunk in stride(from: 0, to: nodes.count, by: 50) {
      let ids = nodes[chunk..<min(chunk + 50, nodes.count)].map(\.json)
      try ask(
        "nodes", "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
        ["ids": .array(ids)])
    }
    let drafts = ["TWITTER", "EMAIL"].map {
      "\($0): shareDraft(channel: \($0), subjectId: $id) { to subject body url }"
    }
    for key in nodes {
      try ask(
        "shareDraft \(key)", "query($id: ID) { \(drafts.joined(separator: " ")) }",
        ["id": key.json])
    }
  }

  static func type(of key: NodeKey) -> String? {
    let names: [Int64: String] = [
      1: "User", 2: "Photo", 3: "Location", 4: "Product", 5: "Circle", 32: "Comment",
      33: "Invitation", 34: "InfoRequest", 35: "FollowUp", 40: "Program", 41: "ClassSession",
      42: "Booking", 43: "ActivityTrack", 44: "TestResult", 48: "Conversation", 49: "Message",
      50: "Notification", 51: "ExternalContact", 60: "Session",
    ]
    let tag = key.number & 255
    if tag & 240 == 16 { return NaiveGraph.postTypes[Int(tag) - 16] }
    return names[tag]
  }
}

/// Writes selections of everything a type has.
private struct SelectionWriter {
  let schema: Schema
  let window: String

  /// The fields of a type, each with all that is below it to a depth: the leaves together, and one
  /// text for every other, so that each fits the server's limits.
  func parts(of type: String, depth: Int) -> [String] {
    guard let fields = schema.type(named: type)?.fields else { return [] }
    let leaves = fields.filter { schema[$0.type.namedType].isLeaf && $0.name != "dataExport" }
    let others = fields.filter { !schema[$0.type.namedType].isLeaf }
    return [leaves.map { self.field($0) }.joined(separator: " ")]
      + others.map {
        field($0) + " " + selections(of: schema[$0.type.namedType].name, depth: depth - 1)
      }
  }

  func selections(of name: String, depth: Int) -> String {
    guard let type = schema.type(named: name) else { return "" }
    if name.hasSuffix("Connection") { return connection(type, depth: depth) }
    if type.isAbstract {
      // One of many types: what they have below is reached through each by itself.
      let parts = schema.possibleTypes[Int(type.id.index)].map {
        "... on \(schema[$0].name) \(selections(of: schema[$0].name, depth: min(depth, 0)))"
      }
      return "{ __typename \(parts.joined(separator: " ")) }"
    }
    var parts: [String] = []
    for field in type.fields {
      let target = schema[field.type.namedType]
      if target.isLeaf {
        parts.append(self.field(field))
      } else if target.name.hasSuffix("Connection") {
        parts.append(
          self.field(field) + " "
            + (depth > 0 ? selections(of: target.name, depth: depth - 1) : "{ totalCount }"))
      } else if depth > 0 || !isNode(target) {
        parts.append(self.field(field) + " " + selections(of: target.name, depth: depth - 1))
      }
    }
    return "{ " + parts.joined(separator: " ") + " }"
  }

  private func isNode(_ type: TypeDefinition) -> Bool {
    type.isAbstract
      || type.interfaces.contains { schema[$0].name == "Node" } || type.name == "Viewer"
  }

  private func connection(_ type: TypeDefinition, depth: Int) -> String {
    guard let edges = type.field(named: "edges") else { return "" }
    let edge = schema[edges.type.namedType]
    var parts = type.fields.filter { schema[$0.type.namedType].isLeaf }.map(\.name)
    parts.append("pageInfo { hasNextPage hasPreviousPage }")
    let extra = edge.fields.filter { schema[$0.type.namedType].isLeaf && $0.name != "cursor" }
      .map(\.name).joined(separator: " ")
    if let node = edge.field(named: "node") {
      parts.append(
        "edges { \(extra) node \(selections(of: schema[node.type.namedType].name, depth: depth)) }")
    }
    return "{ " + parts.joined(separator: " ") + " }"
  }

  private func field(_ field: FieldDefinition) -> String {
    var arguments: [String] = []
    if field.arguments.contains(where: { $0.name == "from" && $0.isRequired }) {
      arguments.append(window)
    }
    // All states, not only those that wait.
    for argument in field.arguments where ["status", "state"].contains(argument.name) {
      arguments.append("\(argument.name): null")
    }
    return arguments.isEmpty ? field.name : "\(field.name)(\(arguments.joined(separator: ", ")))"
  }
}
