import JSON
import TestSupport
import Testing

/// Signing in and registering, and what a visitor may not do.
@Suite(.usesCluster) struct SignInTests {
  @Test func `C7-CORE.10a: a user signs in with username and password`() throws {
    let server = try GraphServer.newcomers
    let user = try server.signUp("Runner")
    let payload = try server.mutate(
      "signIn(username: $name, password: \"correct horse\")",
      "isNewUser token viewer { user { id } }",
      ["name: String!": .string(user.username.lowercased())], as: nil)
    #expect(payload["isNewUser"] == false)
    let again = try GraphServer.person(payload, username: user.username)
    #expect(
      try server.data("{ viewer { user { id username } } }", as: again)
        == ["viewer": ["user": ["id": user.json, "username": .string(user.username)]]])
  }

  @Test func `C7-CORE.10e: a failed sign-in says so, and makes no session`() throws {
    let server = try GraphServer.newcomers
    let user = try server.signUp("runner")
    for (name, password) in [
      (user.username, "correct horsf"), (GraphData.unique("nobody"), "correct horse"),
      (user.username, ""),
    ] {
      let payload = try server.payload(
        "signIn(username: $name, password: $password)", "isNewUser token",
        ["name: String!": .string(name), "password: String!": .string(password)], as: nil)
      #expect(
        payload == [
          "isNewUser": nil, "token": nil,
          "userErrors": [
            [
              "code": "WRONG_CREDENTIALS",
              "message": "The username or the password is wrong.", "field": nil,
            ]
          ],
        ])
    }
    #expect(
      try server.data("{ viewer { sessions { id } } }", as: user).at("viewer.sessions")?.array?
        .count == 1)
  }

  @Test func `C7-CORE.10g: a visitor registers`() throws {
    let server = try GraphServer.newcomers
    let name = GraphData.unique("runner")
    let payload = try server.mutate(
      "signUp(input: {username: $name, password: \"correct horse\", email: \"r@example.org\"})",
      "isNewUser session { expiresAt } viewer { email isEmailVerified user { displayName roles } }",
      ["name: String!": .string(name)], as: nil)
    #expect(payload["isNewUser"] == true)
    #expect(
      payload.at("viewer") == [
        "email": "r@example.org", "isEmailVerified": false,
        "user": ["displayName": .string(name), "roles": ["MEMBER"]],
      ])
    #expect(
      try server.refusals(
        "signUp(input: {username: \"no spaces\", password: \"short\", email: \"r@\"})", as: nil)
        == [
          Refusal("INVALID", "input", "username"), Refusal("TOO_SHORT", "input", "password"),
          Refusal("INVALID", "input", "email"),
        ])
  }

  @Test func `GTIO-1.9a, read: one whose session ended is told so, and still gets the intro`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (person, app) = (try data.person(), GraphData.unique("gtio"))
    try data.add(
      "app_config",
      ["app": app, "support_email": "a@b.example", "intro_images": ["https://i.example/1"]])
    try data.run("UPDATE session SET expires_at = now() WHERE user_id = $1", [person])
    #expect(
      try server.errorCodes("{ viewer { user { id } } }", as: person) == ["UNAUTHENTICATED"])
    let visitor = try server.data(
      "query($app: String!) { viewer { user { id } } appConfig(app: $app) { introImages } }",
      ["app": .string(app)])
    #expect(visitor == ["viewer": nil, "appConfig": ["introImages": ["https://i.example/1"]]])
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
}
