import JSON
import Server
import TestSupport
import Testing

/// Objects that a gateway names are seen by those who see them by `nodes(ids:)`, and by nobody else.
@Suite(.usesCluster) struct RepresentationTests {
  @Test func `a representation shows each person what an ID shows`() throws {
    let graph = try SecretGraph.shared.get()
    let server = try GraphServer(
      database: graph.server.database,
      mapping: SchemaFiles.load(TestCluster.packageFolder + "/Schema", isSubgraph: true))
    defer { server.stop() }
    let keys = try graph.server.data().run("SELECT id FROM every_node ORDER BY id")
      .map { NodeKey(Int64($0[0] ?? "") ?? 0) }
      .compactMap { key in Crawler.type(of: key).map { (key, $0) } }
    #expect(keys.count > 50)
    var hidden = 0
    for role in SecretGraph.Role.allCases {
      let person = graph.people[role]
      for start in stride(from: 0, to: keys.count, by: 100) {
        let chunk = keys[start..<min(start + 100, keys.count)]
        let nodes = try server.data(
          "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }",
          ["ids": .array(chunk.map(\.0.json))], as: person)["nodes"]
        func entities(_ type: (String) -> String) throws -> JSONValue? {
          let representations = chunk.map { key, name -> JSONValue in
            ["__typename": .string(type(name)), "id": key.json]
          }
          return try server.data(
            """
            query($r: [_Any!]!) { _entities(representations: $r) { ... on Node { __typename id } } }
            """, ["r": .array(representations)], as: person)["_entities"]
        }
        #expect(try entities { $0 } == nodes, "\(role)")
        hidden += nodes?.array?.count { $0 == .null } ?? 0
        // As another type there is none.
        let others = try entities { $0 == "User" ? "Photo" : "User" }
        #expect(others?.array?.allSatisfy { $0 == .null } == true, "\(role)")
      }
    }
    #expect(hidden > 20)
  }
}
