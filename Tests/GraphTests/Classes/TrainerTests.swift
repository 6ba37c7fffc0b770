import JSON
import TestSupport
import Testing

/// Trainers: their pages, their own classes, and questions to them.
@Suite(.usesCluster) struct TrainerTests {
  @Test func `C7-MORE.3: a question to a trainer is a draft to the club, or a message`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (client, trainer, stranger) = (
      try data.person(), try data.trainer(name: "Tara"), try data.person()
    )
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    try server.mutate(
      "setAppConfig(app: \"C7Fit\", input: {supportEmail: \"club@c7.example\"})", as: staff)
    let draft = try server.data(
      "query($id: ID!) { shareDraft(channel: EMAIL, subjectId: $id) { to subject body } }",
      ["id": trainer.json], as: client, headers: [("Sociograph-App", "c7fit")])
    #expect(draft.at("shareDraft.to") == ["club@c7.example"])
    #expect(draft.at("shareDraft.subject") == "Tara: Question")
    #expect(draft.at("shareDraft.body")?.string?.contains("Tara") == true)
    let send = "sendMessage(to: {userIds: [$to]}, body: \"How heavy?\")"
    try server.mutate(send, ["to: ID!": trainer.json], as: client)
    let conversations =
      "{ viewer { conversations { nodes { unreadCount messages { nodes { body } } } } } }"
    #expect(
      try server.data(conversations, as: trainer).at("viewer.conversations.nodes")
        == [["unreadCount": 1, "messages": ["nodes": [["body": "How heavy?"]]]]])
    #expect(try server.data(conversations, as: stranger).at("viewer.conversations.nodes") == [])
    try data.block(trainer, stranger)
    #expect(
      try server.refusals(send, ["to: ID!": trainer.json], as: stranger)
        == [Refusal("NOT_FOUND", "to", "userIds", "0")])
  }

  @Test func `C7-I.a: staff make users trainers, and nobody else does`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let (user, other) = (try data.person(), try data.person())
    let set = "setUserRoles(userId: $id, roles: [TRAINER])"
    #expect(try server.refusals(set, ["id: ID!": user.json], as: other) == [Refusal("FORBIDDEN")])
    #expect(try server.refusals(set, ["id: ID!": user.json], as: user) == [Refusal("FORBIDDEN")])
    let payload = try server.mutate(
      set, "user { id roles trainerProfile { programs { id } } }", ["id: ID!": user.json],
      as: staff)
    let roles: JSONValue = ["MEMBER", "TRAINER"]
    #expect(
      payload["user"]
        == ["id": user.json, "roles": roles, "trainerProfile": ["programs": []]])
    let found = try server.data(
      "query($id: ID!, $name: String) { user(by: {id: $id}) { roles } users(role: TRAINER, search: $name) { nodes { id } } }",
      ["id": user.json, "name": .string(user.username)])
    #expect(found == ["user": ["roles": roles], "users": ["nodes": [["id": user.json]]]])
    try server.mutate("setUserRoles(userId: $id, roles: [])", ["id: ID!": user.json], as: staff)
    #expect(
      try server.data(
        "query($id: ID!) { user(by: {id: $id}) { roles trainerProfile { programs { id } } } }",
        ["id": user.json]) == ["user": ["roles": ["MEMBER"], "trainerProfile": nil]])
  }

  @Test func `C7-HOME.4: trainers with picture, name and bio, alphabetically`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("coach")
    let picture = "https://photos.example/\(stem).jpg"
    for name in ["Zoe", "anna", "Ben"] {
      let trainer = try data.trainer(name: "\(name) \(stem)")
      if name == "Ben" {
        let photo = try data.photo(of: trainer, url: picture)
        try data.run(
          "UPDATE app_user SET avatar_id = \(photo), bio = 'Runs.' WHERE id = \(trainer.key)")
      }
    }
    _ = try data.person(name: "Member \(stem)")
    let found = try server.data(
      """
      query($stem: String) { users(role: TRAINER, search: $stem, orderBy: NAME) { totalCount
        nodes { displayName bio avatar { url } trainerProfile { programs { title } } } } }
      """, ["stem": .string(stem)])
    #expect(
      found.strings("users.nodes", "displayName") == ["anna", "Ben", "Zoe"].map { "\($0) \(stem)" })
    #expect(found.at("users.totalCount") == 3)
    #expect(
      found.at("users.nodes.1") == [
        "displayName": .string("Ben \(stem)"), "bio": "Runs.", "avatar": ["url": .string(picture)],
        "trainerProfile": ["programs": []],
      ])
  }

  @Test func `C7-PT.15: a trainer's page shows picture, name, bio and what they teach`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (trainer, member) = (try data.trainer(name: "Zoe"), try data.person())
    let photo = try data.photo(of: trainer, url: "https://photos.example/zoe.jpg")
    try data.run(
      "UPDATE app_user SET avatar_id = \(photo), bio = 'Boxes.' WHERE id = \(trainer.key)")
    for title in ["Running", "Boxing"] { _ = try data.program(title, trainers: [trainer]) }
    func page(_ person: Person) throws -> JSONValue? {
      try server.data(
        """
        query($name: String!) { user(by: {username: $name}) {
          displayName bio avatar { url } trainerProfile { programs { title } } } }
        """, ["name": .string(person.username)]
      )["user"]
    }
    #expect(
      try page(trainer) == [
        "displayName": "Zoe", "bio": "Boxes.",
        "avatar": ["url": "https://photos.example/zoe.jpg"],
        "trainerProfile": ["programs": [["title": "Boxing"], ["title": "Running"]]],
      ])
    #expect(try page(member)?["trainerProfile"] == .null)
  }
}
