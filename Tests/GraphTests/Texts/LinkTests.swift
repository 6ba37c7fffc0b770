import JSON
import TestSupport
import Testing

/// Links: each application has its own.
@Suite(.usesCluster) struct LinkTests {
  private let server: GraphServer
  private let data: GraphData
  private let staff: Person

  init() throws {
    server = try GraphServer.shared
    data = try server.data()
    staff = try data.person(roles: ["MEMBER", "STAFF"])
  }

  private func set(_ app: String, _ input: String) throws -> [Refusal] {
    try server.refusals("setAppConfig(app: \"\(app)\", input: {\(input)})", as: staff)
  }

  @Test func `the same notification leads to each application, or to the server`() throws {
    let (one, other) = (GraphData.unique("one"), GraphData.unique("two"))
    #expect(try set(one, "linkTemplate: \"\(one)://{path}\"") == [])
    #expect(try set(other, "linkTemplate: \"https://\(other).example/go/{path}?app\"") == [])
    let (ann, ben) = (try data.person(), try data.person())
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    func destination(_ app: String?) throws -> JSONValue? {
      try server.data(
        "{ viewer { notifications { nodes { destination } } } }", as: ben,
        headers: app.map { [("Sociograph-App", $0)] } ?? []
      ).at("viewer.notifications.nodes.0.destination")
    }
    let path = "users/\(ann.wire)"
    #expect(try destination(one.uppercased()) == .string("\(one)://\(path)"))
    #expect(try destination(other) == .string("https://\(other).example/go/\(path)?app"))
    #expect(try destination(nil) == .string("http://localhost/\(path)"))
    #expect(try destination("unknown") == .string("http://localhost/\(path)"))
    // Without a header, the application that the person signed in with.
    try data.run("UPDATE session SET app = $1 WHERE user_id = $2", [other, ben.key])
    #expect(try destination(nil) == .string("https://\(other).example/go/\(path)?app"))
    #expect(try destination("unknown") == .string("https://\(other).example/go/\(path)?app"))
    #expect(try destination(one) == .string("\(one)://\(path)"))
  }

  @Test func `an application lists the reasons that it names, and counts them`() throws {
    let app = GraphData.unique("few")
    #expect(try set(app, "notificationReasons: [MESSAGED, VOTED]") == [])
    let (ann, ben) = (try data.person(), try data.person())
    try server.mutate("followUsers(userIds: [$id])", ["id: ID!": ben.json], as: ann)
    try server.mutate(
      "sendMessage(to: {userIds: [$id]}, body: \"Hi\")", ["id: ID!": ben.json], as: ann)
    let query = """
      { viewer { unreadNotificationCount notifications { totalCount nodes { reason } }
        followed: notifications(reasons: [FOLLOWED]) { totalCount } } }
      """
    func found(_ headers: [(String, String)]) throws -> [JSONValue?] {
      let viewer = try server.data(query, as: ben, headers: headers)["viewer"]
      return [
        viewer?["unreadNotificationCount"], viewer?.at("notifications.totalCount"),
        viewer?.at("followed.totalCount"),
      ]
    }
    #expect(try found([]) == [2, 2, 1])
    #expect(try found([("Sociograph-App", app)]) == [1, 1, 0])
    #expect(try set(app, "notificationReasons: []") == [])
    #expect(try found([("Sociograph-App", app)]) == [2, 2, 1])
  }

  @Test(arguments: [
    "javascript:alert('{path}')", "data:text/html,{path}", "https://a.example/", "{path}",
    "https://a.example/{path}/{path}", "https://a.example/{path}{x}", "no scheme {path}",
    "gtio:// {path}",
  ])
  func `a template has a scheme and the path once`(template: String) throws {
    #expect(
      try set("templates", "linkTemplate: \"\(template)\"")
        == [Refusal("INVALID", "input", "linkTemplate")])
  }

  @Test func `mails lead to https alone, and templates can be taken away`() throws {
    let app = GraphData.unique("mail")
    for template in ["gtio://{path}", "http://a.example/{path}", "https://a@b.example/{path}"] {
      #expect(
        try set(app, "webTemplate: \"\(template)\"") == [Refusal("INVALID", "input", "webTemplate")]
      )
    }
    #expect(
      try set(app, "webTemplate: \"https://a.example/{path}\", linkTemplate: \"a://{path}\"") == [])
    func config() throws -> JSONValue? {
      try server.data(
        "query($app: String!) { appConfig(app: $app) { linkTemplate webTemplate } }",
        ["app": .string(app)]
      )["appConfig"]
    }
    #expect(
      try config() == ["linkTemplate": "a://{path}", "webTemplate": "https://a.example/{path}"])
    #expect(try set(app, "linkTemplate: null, webTemplate: null") == [])
    #expect(
      try config()
        == ["linkTemplate": "http://localhost/{path}", "webTemplate": "http://localhost/{path}"])
    #expect(
      try data.run(
        "SELECT count(*) FROM audit_log WHERE act = 'SET_WEB_TEMPLATE' AND detail = $1", [app])
        == [["2"]])
    let member = try data.person()
    #expect(
      try server.refusals("setAppConfig(app: \"\(app)\", input: {linkTemplate: null})", as: member)
        == [Refusal("FORBIDDEN")])
  }

  @Test func `a mail leads to the host of the application that its reader signed in with`() throws {
    let app = GraphData.unique("host")
    #expect(try set(app, "webTemplate: \"https://\(app).example/{path}\"") == [])
    let ben = try data.person(
      "ben", ["email": "\(app)@example.org", "email_verified": "true"])
    try data.run("UPDATE session SET app = $1 WHERE user_id = $2", [app, ben.key])
    try server.mutate(
      "requestPasswordReset(email: \"\(app)@example.org\")", as: nil)
    try data.run("SELECT write_password_resets()")
    let body = try data.run("SELECT body FROM outbox WHERE user_id = $1", [ben.key])[0][0] ?? ""
    #expect(body.contains("open https://\(app).example/reset/"))
    try data.run("DELETE FROM outbox WHERE user_id = $1", [ben.key])
  }
}
