import JSON
import TestSupport
import Testing

/// Subscriptions to channels.
@Suite(.usesCluster) struct ChannelTests {
  @Test func `PK-PROF.b: anyone subscribes to a department and leaves it again`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (staff, student) = (try data.person(), try data.person())
    let channel = try data.circle("Physics", kind: "CHANNEL", owner: staff)
    let group = try data.circle("Friends", owner: staff)
    func subscriptions() throws -> [JSONValue] {
      try server.data("{ viewer { circles(kind: CHANNEL) { nodes { id } } } }", as: student)
        .list("viewer.circles.nodes", "id")
    }
    for _ in 0..<2 {
      let payload = try server.mutate(
        "joinCircle(circleId: $id)", "circle { viewerRole members { totalCount } }",
        ["id: ID!": channel.json], as: student)
      #expect(payload["circle"] == ["viewerRole": "MEMBER", "members": ["totalCount": 2]])
    }
    #expect(try subscriptions() == [channel.json])
    for _ in 0..<2 {
      let payload = try server.mutate(
        "leaveCircle(circleId: $id)", "circle { viewerRole members { totalCount } }",
        ["id: ID!": channel.json], as: student)
      #expect(payload["circle"] == ["viewerRole": nil, "members": ["totalCount": 1]])
    }
    #expect(try subscriptions() == [])
    #expect(
      try server.refusals("joinCircle(circleId: $id)", ["id: ID!": group.json], as: student)
        == [Refusal("NOT_FOUND", "circleId")])
  }

  @Test func `PK-DIN.a: new accounts are in the default channels, and may leave them`() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let early = try server.signUp("early")
    let create = "createCircle(input: {name: \"Dining\", kind: CHANNEL, isDefault: true})"
    let channel = try server.make(create, "circle", as: staff)
    let plain = try server.make(
      "createCircle(input: {name: \"Chess\", kind: CHANNEL})", "circle", as: staff)
    func channels(_ person: Person) throws -> [JSONValue] {
      try server.data(
        "{ viewer { circles(kind: CHANNEL, first: 100) { nodes { id } } } }", as: person
      )
      .list("viewer.circles.nodes", "id")
    }
    let student = try server.signUp("student")
    #expect(try channels(student).contains(channel.json))
    #expect(try !channels(student).contains(plain.json))
    #expect(try !channels(early).contains(channel.json))
    #expect(
      try server.data(
        "{ circles(isDefault: true, first: 100) { nodes { id isDefault } } }"
      ).list("circles.nodes", "id").contains(channel.json))
    try server.mutate("leaveCircle(circleId: $id)", ["id: ID!": channel.json], as: student)
    #expect(try !channels(student).contains(channel.json))
    try server.mutate(
      "updateCircle(circleId: $id, input: {isDefault: false})", ["id: ID!": channel.json], as: staff
    )
    #expect(try !channels(server.signUp("late")).contains(channel.json))
    let service = try data.person("scraper", roles: ["MEMBER", "SERVICE"])
    #expect(
      try server.refusals(create, as: service) == [Refusal("FORBIDDEN", "input", "isDefault")])
  }
}
