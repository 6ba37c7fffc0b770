import JSON
import TestSupport
import Testing

/// Changes of circles: creation, members, owner, and deletion.
@Suite(.usesCluster) struct CircleChangeTests {
  private static let circle = """
    query($id: ID!) { circle(id: $id) {
      name description kind viewerRole owner { id } members { totalCount edges { role node { id } } } } }
    """

  private func seen(_ server: GraphServer, _ id: NodeKey, by person: Person?) throws -> JSONValue? {
    try server.data(Self.circle, ["id": id.json], as: person)["circle"]
  }

  @Test func `PK-CIR.c: who makes a circle owns it, and those added belong to it at once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, friend, stranger) = (
      try data.person(name: "A"), try data.person(name: "B"), try data.person()
    )
    let create = "createCircle(input: $input)"
    let made = try server.make(
      create, "circle",
      [
        "input: CreateCircleInput!": [
          "name": "Rowers", "description": "At six", "memberIds": [friend.json, owner.json],
        ]
      ], as: owner)
    for (person, role) in [(owner, "OWNER"), (friend, "MEMBER")] as [(Person, JSONValue)] {
      #expect(
        try seen(server, made, by: person) == [
          "name": "Rowers", "description": "At six", "kind": "GROUP", "viewerRole": role,
          "owner": ["id": owner.json],
          "members": [
            "totalCount": 2,
            "edges": [
              ["role": "OWNER", "node": ["id": owner.json]],
              ["role": "MEMBER", "node": ["id": friend.json]],
            ],
          ],
        ])
      #expect(
        try server.data("{ viewer { circles(kind: GROUP) { nodes { id } } } }", as: person)
          .list("viewer.circles.nodes", "id") == [made.json])
    }
    for person in [stranger, nil] { #expect(try seen(server, made, by: person) == .null) }
    try data.block(stranger, owner)
    #expect(
      try server.refusals(
        create,
        [
          "input: CreateCircleInput!": [
            "name": .string(String(repeating: "x", count: 81)),
            "memberIds": [friend.json, stranger.json], "isDefault": true,
          ]
        ], as: owner) == [
          Refusal("TOO_LONG", "input", "name"), Refusal("NOT_FOUND", "input", "memberIds", "1"),
          Refusal("INVALID", "input", "isDefault"),
        ])
    #expect(
      try server.refusals(
        create, ["input: CreateCircleInput!": ["name": "News", "kind": "CHANNEL"]], as: owner)
        == [Refusal("FORBIDDEN", "input", "kind")])
  }

  @Test func `PK-CIR.d: any member adds people, but nobody who blocks them`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try data.people(5)
    let (owner, member, new, blocker, stranger) = (
      people[0], people[1], people[2], people[3], people[4]
    )
    let circle = try data.circle("Rowers", owner: owner, members: [member])
    let add = "addCircleMembers(circleId: $id, userIds: $users)"
    for _ in 0..<2 {
      let payload = try server.mutate(
        add, "circle { members { totalCount } }",
        ["id: ID!": circle.json, "users: [ID!]!": [new.json, owner.json]], as: member)
      #expect(payload["circle"] == ["members": ["totalCount": 3]])
    }
    #expect(try seen(server, circle, by: new)?["viewerRole"] == "MEMBER")
    try data.block(blocker, member)
    #expect(
      try server.refusals(
        add, ["id: ID!": circle.json, "users: [ID!]!": [stranger.json, blocker.json]], as: member)
        == [Refusal("NOT_FOUND", "userIds", "1")])
    // All or nothing.
    #expect(try seen(server, circle, by: stranger) == .null)
    #expect(
      try server.refusals(
        add, ["id: ID!": circle.json, "users: [ID!]!": [stranger.json]], as: stranger)
        == [Refusal("NOT_FOUND", "circleId")])
    let channel = try data.circle("News", kind: "CHANNEL", owner: owner)
    #expect(
      try server.refusals(
        add, ["id: ID!": channel.json, "users: [ID!]!": [new.json]], as: owner)
        == [Refusal("INVALID", "circleId")])
  }

  @Test func `PK-CIR.f: the owner changes and deletes a circle, and takes people out of it`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member, stranger) = (try data.person(), try data.person(), try data.person())
    let made = try data.circle("Rowers", owner: owner, members: [member, stranger])
    let post = try server.make(
      "createTextPost(input: {body: \"At six\", circleId: $id})", "textPost",
      ["id: ID!": made.json], as: member)
    let update = "updateCircle(circleId: $id, input: {name: \"Scullers\", description: null})"
    let remove = "removeCircleMembers(circleId: $id, userIds: [$user])"
    for field in [update, "deleteCircle(circleId: $id)"] {
      #expect(
        try server.refusals(field, ["id: ID!": made.json], as: member)
          == [Refusal("FORBIDDEN", "circleId")])
    }
    #expect(
      try server.refusals(
        remove, ["id: ID!": made.json, "user: ID!": stranger.json], as: member)
        == [Refusal("FORBIDDEN", "circleId")])
    let payload = try server.mutate(
      update, "circle { name description }", ["id: ID!": made.json], as: owner)
    #expect(payload["circle"] == ["name": "Scullers", "description": ""])
    #expect(try seen(server, made, by: member)?["name"] == "Scullers")
    try server.mutate(remove, ["id: ID!": made.json, "user: ID!": stranger.json], as: owner)
    #expect(try seen(server, made, by: stranger) == .null)
    #expect(try seen(server, made, by: owner)?.at("members.totalCount") == 2)
    #expect(
      try server.refusals(remove, ["id: ID!": made.json, "user: ID!": owner.json], as: owner)
        == [Refusal("FORBIDDEN", "userIds", "0")])
    #expect(
      try server.refusals(update, ["id: ID!": made.json], as: stranger)
        == [Refusal("NOT_FOUND", "circleId")])
    #expect(
      try server.refusals(
        "updateCircle(circleId: $id, input: {name: null})", ["id: ID!": made.json], as: owner)
        == [Refusal("REQUIRED", "input", "name")])
    #expect(
      try server.refusals(
        "updateCircle(circleId: $id, input: {isDefault: true})", ["id: ID!": made.json], as: owner)
        == [Refusal("INVALID", "input", "isDefault")])
    let deleted = try server.mutate(
      "deleteCircle(circleId: $id)", "deletedId", ["id: ID!": made.json], as: owner)
    #expect(deleted["deletedId"] == made.json)
    for person in [owner, member] {
      #expect(
        try server.data(
          "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": [made.json, post.json]],
          as: person) == ["nodes": [nil, nil]])
    }
  }

  @Test func `PK-CIR.g: a member leaves a circle, its owner cannot`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member) = (try data.person(), try data.person())
    let made = try data.circle("Rowers", owner: owner, members: [member])
    let leave = "leaveCircle(circleId: $id)"
    #expect(
      try server.refusals(leave, ["id: ID!": made.json], as: owner)
        == [Refusal("FORBIDDEN", "circleId")])
    let payload = try server.mutate(leave, "circle { id }", ["id: ID!": made.json], as: member)
    #expect(payload["circle"] == .null)
    #expect(try seen(server, made, by: member) == .null)
    #expect(try seen(server, made, by: owner)?.at("members.totalCount") == 1)
    #expect(
      try server.refusals(leave, ["id: ID!": made.json], as: member)
        == [Refusal("NOT_FOUND", "circleId")])
  }

  @Test func `a circle is handed over to a member, and its owner so far stays`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, friend, stranger) = (
      try data.person(name: "A"), try data.person(name: "B"), try data.person()
    )
    let (staff, blocker) = (try data.person(roles: ["MEMBER", "STAFF"]), try data.person())
    let group = try data.circle("Rowers", owner: owner, members: [friend, staff, blocker])
    try data.block(blocker, owner)
    func transfer(_ circle: NodeKey, to person: NodeKey, as viewer: Person) throws -> [Refusal] {
      try server.refusals(
        "transferCircle(circleId: $id, userId: $user)",
        ["id: ID!": circle.json, "user: ID!": person.json], as: viewer)
    }
    for viewer in [friend, staff] {
      #expect(
        try transfer(group, to: friend.key, as: viewer) == [Refusal("FORBIDDEN", "circleId")])
    }
    #expect(try transfer(group, to: friend.key, as: stranger) == [Refusal("NOT_FOUND", "circleId")])
    #expect(try transfer(group, to: stranger.key, as: owner) == [Refusal("INVALID", "userId")])
    #expect(try transfer(group, to: blocker.key, as: owner) == [Refusal("NOT_FOUND", "userId")])
    #expect(try transfer(group, to: group, as: owner) == [Refusal("NOT_FOUND", "userId")])
    #expect(try transfer(group, to: owner.key, as: owner) == [])
    #expect(try transfer(group, to: friend.key, as: owner) == [])
    #expect(try server.told(friend) == ["CIRCLE_TRANSFERRED"])
    #expect(try server.told(owner) == [])
    for (person, role) in [(owner, "MEMBER"), (friend, "OWNER")] as [(Person, JSONValue)] {
      let seen = try seen(server, group, by: person)
      #expect(seen?["viewerRole"] == role)
      #expect(seen?.at("owner.id") == friend.json)
    }
    // It is no longer the former owner's to give, and theirs to leave.
    #expect(try transfer(group, to: owner.key, as: owner) == [Refusal("FORBIDDEN", "circleId")])
    try server.mutate("leaveCircle(circleId: $id)", ["id: ID!": group.json], as: owner)
    #expect(
      try server.refusals("leaveCircle(circleId: $id)", ["id: ID!": group.json], as: friend)
        == [Refusal("FORBIDDEN", "circleId")])
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: owner, members: [friend])
    #expect(try transfer(channel, to: friend.key, as: staff) == [])
    for circle in [group, channel] {
      #expect(try data.run("SELECT * FROM verify_circles() WHERE circle_id = \(circle)") == [])
    }
  }

  @Test func `a circle that is handed over while people leave it has an owner who is in it`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    for _ in 0..<4 {
      let (owner, friend) = (try data.person(), try data.person())
      let group = try data.circle("Rowers", owner: owner, members: [friend])
      let answers = try crowd(of: 2) { index in
        index == 0
          ? try server.refusals(
            "transferCircle(circleId: $id, userId: $user)",
            ["id: ID!": group.json, "user: ID!": friend.json], as: owner)
          : try server.refusals(
            "leaveCircle(circleId: $id)", ["id: ID!": group.json], as: friend)
      }
      #expect(
        answers == [[], [Refusal("FORBIDDEN", "circleId")]]
          || answers == [[Refusal("INVALID", "userId")], []])
      #expect(try data.run("SELECT * FROM verify_circles() WHERE circle_id = \(group)") == [])
    }
  }

  @Test func `what a circle is made with it can be changed to, under the same rules`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let owner = try data.person()
    let group = try data.circle("Rowers", owner: owner)
    func update(_ input: JSONValue) throws -> [Refusal] {
      try server.refusals(
        "updateCircle(circleId: $id, input: $input)",
        ["id: ID!": group.json, "input: UpdateCircleInput!": input], as: owner)
    }
    #expect(
      try update([
        "name": " ", "description": .string(String(repeating: "x", count: 2001)),
        "isDefault": true,
      ]) == [
        Refusal("REQUIRED", "input", "name"), Refusal("TOO_LONG", "input", "description"),
        Refusal("INVALID", "input", "isDefault"),
      ])
    #expect(
      try update(["name": nil, "isDefault": nil]) == [
        Refusal("REQUIRED", "input", "name"), Refusal("REQUIRED", "input", "isDefault"),
      ])
    #expect(try update(["isDefault": false]) == [Refusal("FORBIDDEN", "input", "isDefault")])
  }

  @Test func `staff hand over the group of a suspended owner, and no other`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let people = try data.people(2)
    let (owner, member) = (people[0], people[1])
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let group = try data.circle("Rowers", owner: owner, members: [member])
    let transfer = "transferCircle(circleId: $id, userId: $person)"
    let variables: KeyValuePairs<String, JSONValue> = [
      "id: ID!": group.json, "person: ID!": member.json,
    ]
    #expect(
      try server.refusals(transfer, variables, as: staff) == [Refusal("NOT_FOUND", "circleId")])
    try server.mutate("suspendUser(userId: $id)", ["id: ID!": owner.json], as: staff)
    #expect(try server.mutate(transfer, "circle { id }", variables, as: staff)["circle"] == .null)
    #expect(try seen(server, group, by: member)?["owner"] == ["id": member.json])
    #expect(
      try server.refusals(transfer, variables, as: staff) == [Refusal("NOT_FOUND", "circleId")])
  }
}
