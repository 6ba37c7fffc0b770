import JSON
import TestSupport
import Testing

/// The refetching of nodes by their IDs.
@Suite(.usesCluster) struct NodeTests {
  @Test func `the high byte of every id stays free`() throws {
    let rows = try GraphServer.shared.data().run(
      "SELECT (seqmax << 8 | 255) >> 56 FROM pg_sequence WHERE seqrelid = 'node_seq'::regclass")
    #expect(rows == [["0"]])
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
}
