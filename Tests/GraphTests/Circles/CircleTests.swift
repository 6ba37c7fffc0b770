import JSON
import TestSupport
import Testing

/// Circles and channels as their members and others read them.
@Suite(.usesCluster) struct CircleTests {
  @Test func `PK-CIR.a: a user sees the circles they made or joined`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    _ = try data.circle("Beta", owner: viewer)
    _ = try data.circle("alpha", owner: other, members: [viewer])
    _ = try data.circle("Gamma", kind: "CHANNEL", owner: other, members: [viewer])
    _ = try data.circle("Delta", kind: "CHANNEL", owner: other)
    let query = """
      { viewer { circles { totalCount nodes { name viewerRole } }
        groups: circles(kind: GROUP) { nodes { name } } } }
      """
    let found = try server.data(query, as: viewer)
    #expect(found.strings("viewer.circles.nodes", "name") == ["alpha", "Beta", "Gamma"])
    #expect(found.strings("viewer.circles.nodes", "viewerRole") == ["MEMBER", "OWNER", "MEMBER"])
    #expect(found.at("viewer.circles.totalCount") == 3)
    #expect(found.strings("viewer.groups.nodes", "name") == ["alpha", "Beta"])
  }

  @Test func `PK-CIR.b: members see the members of a group, anyone those of a channel`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member, blocked, stranger) = (
      try data.person(name: "Olga"), try data.person(name: "Anna"),
      try data.person(name: "Blocked"),
      try data.person()
    )
    try data.block(member, blocked)
    let group = try data.circle("Group", owner: owner, members: [member, blocked])
    let channel = try data.circle(
      "Channel", kind: "CHANNEL", owner: owner, members: [member, blocked])
    func members(_ circle: NodeKey, _ person: Person?) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!) { circle(id: $id) {
          members { totalCount edges { role node { displayName } } } } }
        """, ["id": circle.json], as: person
      )["circle"]
    }
    func shown(_ names: [String]) -> JSONValue {
      let edges = names.map {
        ["role": $0 == "Olga" ? "OWNER" : "MEMBER", "node": ["displayName": .string($0)]]
          as JSONValue
      }
      return [
        "members": ["totalCount": .number("\(names.count)"), "edges": .array(edges)]
      ]
    }
    for circle in [group, channel] {
      #expect(try members(circle, owner) == shown(["Anna", "Blocked", "Olga"]))
      #expect(try members(circle, member) == shown(["Anna", "Olga"]))
    }
    for person in [nil, stranger] {
      #expect(try members(group, person) == .null)
      #expect(try members(channel, person) == shown(["Anna", "Blocked", "Olga"]))
    }
  }
}
