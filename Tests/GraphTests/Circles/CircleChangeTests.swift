import JSON
import TestSupport
import Testing

/// Peck: making and keeping circles, subscriptions, and the account behind them.
@Suite(.usesCluster) struct PeckCircleChangeTests {
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
          Refusal("TOO_LONG", "input", "name"), Refusal("INVALID", "input", "isDefault"),
          Refusal("NOT_FOUND", "input", "memberIds", "1"),
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

  @Test func `PK-CIR.e: comments on a circle are its members' to read and to write`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member, stranger) = (try data.person(), try data.person(), try data.person())
    let circle = try data.circle("Rowers", owner: owner, members: [member])
    let add = "addComment(subjectId: $id, body: $body)"
    var ids: [NodeKey] = []
    for (person, body) in [(owner, "At six?"), (member, "At seven")] as [(Person, JSONValue)] {
      ids.append(
        try server.make(
          add, "comment", ["id: ID!": circle.json, "body: String!": body], as: person))
    }
    let query = """
      query($id: ID!) { circle(id: $id) { commentCount comments { nodes { body author { id } } } } }
      """
    for person in [owner, member] {
      #expect(
        try server.data(query, ["id": circle.json], as: person) == [
          "circle": [
            "commentCount": 2,
            "comments": [
              "nodes": [
                ["body": "At six?", "author": ["id": owner.json]],
                ["body": "At seven", "author": ["id": member.json]],
              ]
            ],
          ]
        ])
    }
    #expect(
      try server.data(
        "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", ["ids": .array(ids.map(\.json))],
        as: stranger) == ["nodes": [nil, nil]])
    #expect(
      try server.refusals(
        add, ["id: ID!": circle.json, "body: String!": "Me too"], as: stranger)
        == [Refusal("NOT_FOUND", "subjectId")])
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
    let update = "updateCircle(circleId: $id, name: \"Scullers\", description: null)"
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
        "updateCircle(circleId: $id, name: null)", ["id: ID!": made.json], as: owner)
        == [Refusal("REQUIRED", "name")])
    #expect(
      try server.refusals(
        "updateCircle(circleId: $id, isDefault: true)", ["id: ID!": made.json], as: owner)
        == [Refusal("FORBIDDEN", "isDefault")])
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

  @Test func `PK-PROF.a: a user changes name, words, page and home, for all to see`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let user = try data.person()
    let city = try data.location("Cork", level: "CITY")
    let update = "updateProfile(input: $input)"
    let payload = try server.mutate(
      update, "viewer { address missingProfileFields }",
      [
        "input: UpdateProfileInput!": [
          "displayName": " Åsa ", "bio": "Rows", "website": "https://rows.example",
          "homeLocationId": city.json, "address": "1 Quay St",
        ]
      ], as: user)
    #expect(
      payload["viewer"]
        == ["address": "1 Quay St", "missingProfileFields": ["AVATAR", "EMAIL"]])
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { displayName bio website home { name } } }",
        ["id": user.json]) == [
          "user": [
            "displayName": "Åsa", "bio": "Rows", "website": "https://rows.example",
            "home": ["name": "Cork"],
          ]
        ])
    let found = try server.data(
      "{ users(search: \"asa\") { nodes { id } } }")
    #expect(found.list("users.nodes", "id").contains(user.json))
    #expect(
      try server.refusals(
        update,
        [
          "input: UpdateProfileInput!": [
            "displayName": "", "homeLocationId": user.json, "website": "javascript:x",
          ]
        ], as: user
      ).map(\.path) == [
        ["input", "displayName"], ["input", "website"], ["input", "homeLocationId"],
      ])
    #expect(
      try server.mutationErrorCodes(
        update, ["input: UpdateProfileInput!": ["bio": "x"]], as: nil) == ["UNAUTHENTICATED"])
  }

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
      "updateCircle(circleId: $id, isDefault: false)", ["id: ID!": channel.json], as: staff)
    #expect(try !channels(server.signUp("late")).contains(channel.json))
    let service = try data.person("scraper", roles: ["MEMBER", "SERVICE"])
    #expect(
      try server.refusals(create, as: service) == [Refusal("FORBIDDEN", "input", "isDefault")])
  }

  @Test func `PK-SYNC.d: circles, comments, posts and the profile want an account`() throws {
    let server = try GraphServer.newcomers
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let channel = try data.circle("Physics", kind: "CHANNEL", owner: staff)
    let event = try data.post(.event, by: staff, circle: channel)
    let (circle, post): (KeyValuePairs<String, JSONValue>, KeyValuePairs<String, JSONValue>) = (
      ["id: ID!": channel.json], ["id: ID!": event.json]
    )
    for (field, variables) in [
      ("joinCircle(circleId: $id)", circle), ("addComment(subjectId: $id, body: \"x\")", post),
      ("createTextPost(input: {body: \"x\", circleId: $id})", circle),
      ("setAttendance(eventId: $id, status: GOING)", post),
      ("updateProfile(input: {bio: \"x\"})", [:]), ("createCircle(input: {name: \"x\"})", [:]),
      ("markNotificationsRead", [:]),
    ] as [(String, KeyValuePairs<String, JSONValue>)] {
      #expect(
        try server.mutationErrorCodes(field, variables, as: nil) == ["UNAUTHENTICATED"], "\(field)")
    }
    #expect(try server.data("{ viewer { user { id } } }") == ["viewer": nil])
    let student = try server.signUp("student")
    try server.mutate("joinCircle(circleId: $id)", ["id: ID!": channel.json], as: student)
    try server.mutate(
      "addComment(subjectId: $id, body: \"x\")", ["id: ID!": event.json], as: student)
  }

  @Test func `PK-SYNC.e: an account comes from Facebook or Twitter`() throws {
    let server = try GraphServer.newcomers
    for provider in ["FACEBOOK", "TWITTER"] {
      let name = GraphData.unique("student")
      let token = TestAccounts.credential(
        GraphData.unique("s"), #","preferred_username":"\#(name)""#)
      func signIn(_ allow: Bool) throws -> JSONValue {
        try server.payload(
          "signInWithProvider(provider: \(provider), credential: $it, allowSignUp: \(allow))",
          "isNewUser session { token viewer { user { id username } identities } }",
          ["it: String!": token], as: nil)
      }
      let unknown = try signIn(false)
      #expect(unknown["session"] == .null)
      #expect(unknown.at("userErrors.0.code") == "NOT_FOUND")
      let made = try signIn(true)
      #expect(made["isNewUser"] == true)
      #expect(made.at("session.viewer.user.username") == .string(name))
      #expect(made.at("session.viewer.identities") == [.string(provider)])
      let again = try signIn(false)
      #expect(again["isNewUser"] == false)
      #expect(again.at("session.viewer.user.id") == made.at("session.viewer.user.id"))
    }
  }
}
