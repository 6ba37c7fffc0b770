import JSON
import TestSupport
import Testing

/// What any client of a graph server needs, whatever the application.
@Suite(.usesCluster) struct PlatformTests {
  @Test func `PLAT-1: tools read the whole schema by introspection`() throws {
    let server = try GraphServer.shared
    let schema = try GraphServer.mapping.get().schema
    let found = try server.data(
      """
      { __schema {
        queryType { name } mutationType { name } subscriptionType { name }
        types { kind name description ...Fields inputFields { ...Input }
          interfaces { name } possibleTypes { name } enumValues(includeDeprecated: true) { name } }
        directives { name locations args { ...Input } }
      } }
      fragment Fields on __Type { fields(includeDeprecated: true) {
        name description args { ...Input } type { ...Type } } }
      fragment Input on __InputValue { name defaultValue type { ...Type } }
      fragment Type on __Type {
        kind name ofType { kind name ofType { kind name ofType { kind name } } } }
      """)
    #expect(found.at("__schema.queryType.name") == "Query")
    #expect(found.at("__schema.mutationType.name") == "Mutation")
    #expect(found.at("__schema.subscriptionType.name") == "Subscription")
    #expect(Set(found.strings("__schema.types", "name")) == Set(schema.types.map(\.name)))
    for type in found.at("__schema.types")?.array ?? [] {
      let name = type["name"]?.string ?? ""
      let definition = try #require(schema.type(named: name))
      guard let fields = type["fields"]?.array else { continue }
      #expect(fields.map { $0["name"]?.string } == definition.fields.map { $0.name }, "\(name)")
      if !name.hasPrefix("__") {
        #expect(type["description"]?.string?.isEmpty == false, "\(name)")
        #expect(fields.allSatisfy { $0["description"]?.string?.isEmpty == false }, "\(name)")
      }
    }
    // How things are stored is nobody's business.
    #expect(
      Set(found.strings("__schema.directives", "name"))
        == ["defer", "live", "stream", "skip", "include", "deprecated", "specifiedBy", "oneOf"])
    let type = try server.data(
      """
      { __type(name: "UserRef") { kind isOneOf inputFields { name type { name } } }
        missing: __type(name: "Usr") { name } }
      """)
    #expect(
      type == [
        "__type": [
          "kind": "INPUT_OBJECT", "isOneOf": true,
          "inputFields": [
            ["name": "id", "type": ["name": "ID"]],
            ["name": "username", "type": ["name": "String"]],
          ],
        ],
        "missing": nil,
      ])
  }

  @Test func `PLAT-2: any node is found again by its id, if it is there and may be seen`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, stranger, trainer) = (
      try data.person(), try data.person(), try data.trainer()
    )
    let place = try data.location("Place")
    let group = try data.circle("Group", owner: viewer)
    let program = try data.program("Yoga", trainers: [trainer])
    let session = try data.classSession(program, by: trainer, at: "2047-01-01 12:00Z")
    let event = try data.post(.event, by: stranger, visibility: "INVITED")
    let open: [(NodeKey, JSONValue)] = [
      (viewer.key, "User"), (place, "Location"), (try data.product("Product"), "Product"),
      (try data.circle("Channel", kind: "CHANNEL", owner: stranger), "Circle"),
      (try data.photoPost(by: stranger, at: place), "PhotoPost"),
      (try data.post(.text, by: viewer), "TextPost"), (program, "Program"),
      (try data.comment(place, by: stranger, "Nice."), "Comment"), (session, "ClassSession"),
    ]
    let own: [(NodeKey, JSONValue)] = [
      (group, "Circle"), (event, "Event"),
      (try data.post(.text, by: viewer, circle: group, visibility: "CIRCLE"), "TextPost"),
      (try data.comment(group, by: viewer, "Hello."), "Comment"),
      (try data.photo(of: viewer, moderation: "PENDING"), "Photo"),
      (try data.invite(stranger, viewer, to: event), "Invitation"),
      (try data.book(viewer, session), "Booking"),
    ]
    let gone = try data.post(.text, by: viewer)
    try data.run("SELECT delete_node(\(gone))")
    let unknown = NodeKey(Int64(1) << 45 | 24)

    func nodes(_ keys: [NodeKey], _ person: Person?) throws -> JSONValue? {
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
        ["ids": .array(keys.map(\.json))], as: person
      )["nodes"]
    }
    func found(_ nodes: [(NodeKey, JSONValue)]) -> [JSONValue] {
      nodes.map { ["__typename": $0.1, "id": $0.0.json] }
    }
    let all = (open + own).reversed().map(\.0) + [gone, unknown]
    #expect(
      try nodes(all, viewer) == .array(found((open + own).reversed()) + [.null, .null]))
    let others: [JSONValue] = Array(repeating: .null, count: own.count)
    let anonymous = try nodes(all, nil)
    #expect(anonymous == .array(others + found(open.reversed()) + [.null, .null]))
    for (key, type) in open + own {
      let node = try server.data(
        "query($id: ID!) { node(id: $id) { __typename id } }", ["id": key.json], as: viewer)
      #expect(node == ["node": ["__typename": type, "id": key.json]])
    }
    // Nothing tells the unknown, the deleted, and the invisible apart.
    for key in [gone, unknown, group] {
      let response = try server.send(
        "query($id: ID!) { node(id: $id) { __typename } }", ["id": key.json], token: stranger.token)
      #expect(response.status == 200)
      #expect(response.text == "{\"data\":{\"node\":null}}")
    }
  }

  @Test func `PLAT-3: every error has a stable code`() throws {
    let server = try GraphServer.shared
    for (query, variables, code) in [
      ("{ viewer ", nil, "GRAPHQL_PARSE_FAILED"),
      ("{ vewer { email } }", nil, "GRAPHQL_VALIDATION_FAILED"),
      ("{ users(first: 101) { totalCount } }", nil, "BAD_USER_INPUT"),
      ("query($n: Int!) { users(first: $n) { totalCount } }", ["n": "x"], "BAD_USER_INPUT"),
      ("{ users(after: \"x\") { nodes { id } } }", nil, "BAD_USER_INPUT"),
      ("query A { __typename } query B { __typename }", nil, "OPERATION_RESOLUTION_FAILURE"),
    ] as [(String, JSONValue?, String)] {
      let response = try server.execute(query, variables)
      let errors = response["errors"]?.array ?? []
      #expect(errors.count == 1, "\(query)")
      #expect(errors.first?.at("extensions.code") == .string(code), "\(query)")
      #expect(errors.first?["message"]?.string?.isEmpty == false, "\(query)")
      #expect(response["data"] == nil, "\(query)")
    }
    let refused = try server.execute("{ viewer { email } }", token: "nobody's")
    #expect(refused.at("errors.0.extensions.code") == "UNAUTHENTICATED")
    // What a user causes has a code from a list and the path of the argument at fault.
    let types = try server.data(
      """
      { error: __type(name: "UserError") { fields { name type { kind ofType { kind name } } } }
        payload: __type(name: "Payload") { possibleTypes { fields { name } } }
        mutation: __type(name: "Mutation") { fields { type { name } } } }
      """)
    let fields = types.at("error.fields")?.array ?? []
    #expect(fields.map { $0["name"] } == ["code", "message", "field"])
    #expect(fields.first?.at("type.ofType") == ["kind": "ENUM", "name": "UserErrorCode"])
    #expect(fields.last?.at("type.kind") == "LIST")
    let payloads = types.at("payload.possibleTypes")?.array ?? []
    #expect(!payloads.isEmpty)
    #expect(
      payloads.allSatisfy { $0.strings("fields", "name").contains("userErrors") })
    let results = types.strings("mutation.fields", "type.name")
    #expect(results.allSatisfy { $0.hasSuffix("Payload") }, "\(results)")
  }

  @Test func `PLAT-5: one search finds people, posts, places, products and circles`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let word = GraphData.unique("quokka")
    let (viewer, other, blocked) = (
      try data.person(), try data.person(), try data.person(name: "\(word) blocked")
    )
    try data.block(viewer, blocked)
    let hidden = try data.circle("\(word) hidden", owner: other)
    _ = try data.post(.text, by: other, "a \(word)", circle: hidden, visibility: "CIRCLE")
    _ = try data.post(.text, by: blocked, "a \(word)")
    _ = try data.post(.event, by: other, visibility: "INVITED", title: "A \(word)")
    let found = [
      try data.person(name: "Mr \(word)").key,
      try data.location("\(word) Island"),
      try data.product("Toy", description: "Looks like a \(word)."),
      try data.circle("Friends of the \(word)", owner: viewer),
      try data.post(.text, by: other, "I saw a \(word)!"),
      try data.post(.event, by: other, title: "The \(word) walk"),
    ]
    func search(_ words: String, _ types: JSONValue = nil, as person: Person?) throws -> [JSONValue]
    {
      let result = try server.data(
        """
        query($words: String!, $types: [SearchType!]) {
          search(query: $words, types: $types) {
            totalCount nodes { __typename ... on Node { id } } } }
        """, ["words": .string(words), "types": types], as: person)
      let nodes = result.list("search.nodes", "id")
      #expect(result.at("search.totalCount")?.int == nodes.count)
      return nodes
    }
    let all = found.reversed().map(\.json)
    #expect(try search(word, as: viewer) == all)
    #expect(try search(word.uppercased(), as: viewer) == all)
    #expect(try search(word, ["USER", "PRODUCT"], as: viewer) == [found[2].json, found[0].json])
    #expect(try search(word, ["POST"], as: viewer) == [found[5].json, found[4].json])
    #expect(try search("\(word) walk", as: viewer) == [found[5].json])
    #expect(try search("\(word) hidden", as: viewer) == [])
    // The owner of the hidden circle finds it, what is in it, and their private event.
    #expect(try search(word, ["CIRCLE"], as: other) == [hidden.json])
    #expect(try search(word, ["POST"], as: other).count == 5)
    #expect(try search(word, ["CIRCLE"], as: nil) == [])
    #expect(try search(word, ["POST", "USER"], as: nil).count == 5)
  }

  @Test(arguments: [
    ("levels", "DEPTH_LIMIT_EXCEEDED", "12"), ("aliases", "ALIAS_LIMIT_EXCEEDED", "30"),
    ("root fields", "ROOT_FIELD_LIMIT_EXCEEDED", "20"),
    ("selections", "SELECTION_LIMIT_EXCEEDED", "5000"),
    ("introspection", "INTROSPECTION_DEPTH_LIMIT_EXCEEDED", "2"),
    ("elements", "COST_LIMIT_EXCEEDED", "200000"), ("page size", "BAD_USER_INPUT", "100"),
    ("ids", "BAD_USER_INPUT", "100"),
    ("nesting", "NESTING_LIMIT_EXCEEDED", "64"),
  ])
  func `PLAT-8: deep or huge queries are refused, and the error names the limit`(
    what: String, code: String, limit: String
  ) throws {
    let server = try GraphServer.shared
    let person = try server.data().person()
    /// As much as is allowed, and a little more.
    func query(_ excess: Int) -> String {
      func times(_ count: Int, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined(separator: " ")
      }
      switch what {
      case "levels":
        // viewer { user { home { parent ... { name
        return "{ viewer { user { home " + times(8 + excess) { _ in "{ parent" } + " { name"
          + times(11 + excess) { _ in "}" } + " }"
      case "aliases": return "{ viewer { " + times(30 + excess) { "a\($0): email" } + " } }"
      case "root fields":
        return "{ " + times(20 + excess) { "a\($0): viewer { email }" } + " }"
      case "selections":
        // 49 * 102 + 2
        return "{ viewer { user { " + times(49 + excess) { _ in "...F" } + " } } } "
          + "fragment F on User { home { " + times(101) { _ in "name" } + " } }"
      case "introspection":
        return "{ __type(name: \"User\") " + times(2 + excess) { _ in "{ fields { type" }
          + " { name" + times(2 * (2 + excess) + 1) { _ in "}" } + " }"
      case "elements":
        // 100 + 100 * 100 + 100 * 100 * 18 + 100 * 99 people
        return "{ users(first: 100) { nodes { following(first: 99) { nodes { id } } "
          + "followers(first: 100) { nodes { followers(first: \(18 + excess)) { nodes { id } } } "
          + "} } } }"
      case "page size": return "{ viewer { feed(first: \(100 + excess)) { totalCount } } }"
      case "ids":
        return "{ nodes(ids: [" + times(100 + excess) { _ in "\"\(person.wire)\"" } + "]) { id } }"
      default: return times(64 + excess) { _ in "{ viewer" } + times(64 + excess) { _ in "}" }
      }
    }
    if what != "nesting" {
      #expect(try server.errorCodes(query(0), as: person) == [])
    }
    let response = try server.execute(query(1), as: person)
    #expect(response["data"] == nil)
    #expect(response.at("errors.0.extensions.code") == .string(code))
    let message = response.at("errors.0.message")?.string ?? ""
    #expect(message.contains(limit), "\(message)")
  }
}
