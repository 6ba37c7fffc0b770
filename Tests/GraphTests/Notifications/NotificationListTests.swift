import JSON
import TestSupport
import Testing

/// Views 1.x and 2.x: launch, introduction, sign-in, notifications.
@Suite(.usesCluster) struct GTIOLaunchTests {
  @Test func `GTIO-1.1a: an application loads its own configuration, signed in or not`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (app, other) = (GraphData.unique("gtio"), GraphData.unique("peck"))
    for (name, votes) in [(app, true), (other, false)] {
      try data.add(
        "app_config",
        [
          "app": name, "support_email": "help@\(name).example", "voting_enabled_by_default": votes,
        ])
    }
    let query = """
      query($app: String!) {
        appConfig(app: $app) { app introImages votingEnabledByDefault supportEmail } }
      """
    let expected: JSONValue = [
      "appConfig": [
        "app": .string(app), "introImages": [], "votingEnabledByDefault": true,
        "supportEmail": .string("help@\(app).example"),
      ]
    ]
    #expect(try server.data(query, ["app": .string(app)]) == expected)
    #expect(try server.data(query, ["app": .string(app)], as: data.person()) == expected)
    let unknown = GraphData.unique("none")
    #expect(try server.data(query, ["app": .string(unknown)]) == ["appConfig": nil])
  }

  @Test func `GTIO-1.1b: the viewer is null unless a token is sent`() throws {
    let server = try GraphServer.shared
    let person = try server.data().person()
    let query = "{ viewer { user { id } } }"
    #expect(try server.data(query) == ["viewer": nil])
    #expect(try server.data(query, as: person) == ["viewer": ["user": ["id": person.json]]])
  }

  @Test func `GTIO-1.2a: intro images, at most five, in order`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let app = GraphData.unique("gtio")
    let images = [3, 1, 5, 2, 4].map { "https://images.example/\($0).png" }
    try data.add(
      "app_config", ["app": app, "support_email": "a@b.example", "intro_images": images])
    let shown = try server.data(
      "query($app: String!) { appConfig(app: $app) { introImages } }", ["app": .string(app)])
    #expect(shown.at("appConfig.introImages") == .array(images.map { .string($0) }))
    #expect(throws: (any Error).self) {
      try data.run(
        "UPDATE app_config SET intro_images = $1 WHERE app = $2", [images + ["sixth"], app])
    }
  }

  @Test func `GTIO-1.3b: a visitor browses what is public, and nothing else`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, word) = (try data.person("author"), GraphData.unique("word"))
    let circle = try data.circle("Group", owner: author)
    let shown = try data.post(.outfit, by: author, "\(word) shown")
    let hidden = try data.post(
      .outfit, by: author, "\(word) hidden", circle: circle, visibility: "CIRCLE")
    let party = try data.post(.event, by: author, "\(word) party", visibility: "INVITED")
    let product = try data.product("Scarf")
    let seen = try server.data(
      """
      query($word: String!, $shown: ID!, $hidden: ID!, $party: ID!, $product: ID!, $author: ID!) {
        posts(filter: {search: $word}) { totalCount nodes { id } }
        shown: post(id: $shown) { body }
        hidden: post(id: $hidden) { body }
        party: post(id: $party) { body }
        product(id: $product) { name }
        user(by: {id: $author}) { username posts { totalCount } }
      }
      """,
      [
        "word": .string(word), "shown": shown.json, "hidden": hidden.json, "party": party.json,
        "product": product.json, "author": author.json,
      ])
    #expect(
      seen == [
        "posts": ["totalCount": 1, "nodes": [["id": shown.json]]],
        "shown": ["body": .string("\(word) shown")], "hidden": nil, "party": nil,
        "product": ["name": "Scarf"],
        "user": ["username": .string(author.username), "posts": ["totalCount": 1]],
      ])
  }

  @Test func `GTIO-1.7a: a profile says what it misses, until nothing`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let person = try data.person()
    func missing() throws -> JSONValue? {
      try server.data("{ viewer { missingProfileFields } }", as: person)
        .at("viewer.missingProfileFields")
    }
    #expect(
      try missing() == ["DISPLAY_NAME", "AVATAR", "BIO", "WEBSITE", "HOME", "ADDRESS", "EMAIL"])
    try data.run(
      "UPDATE app_user SET display_name = 'Ann', website = 'https://a.example' WHERE id = $1",
      [person])
    #expect(try missing() == ["AVATAR", "BIO", "HOME", "ADDRESS", "EMAIL"])
    let (photo, home) = (try data.photo(of: person), try data.location("Home", level: "CITY"))
    try data.run(
      """
      UPDATE app_user SET avatar_id = $1, home_id = $2, bio = 'Hi', address = 'Street 1', email = $3
      WHERE id = $4
      """, [photo, home, "\(person.username)@mail.example", person])
    #expect(try missing() == [])
  }

  @Test func `GTIO-1.8a, read: people staff suggest, in their order, without those followed`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, people) = (try data.person(), try (0..<4).map { _ in try data.person() })
    let chosen = [people[2], people[0], viewer, people[3], people[1]]
    try data.run(
      "INSERT INTO app_config (app, support_email, quick_add_user_ids) VALUES ($1, 'a@b', $2)",
      [GraphData.unique("gtio"), chosen.map(\.key)])
    try data.follow(viewer, people[3])
    try data.block(people[1], viewer)
    let names = try server.data("{ viewer { quickAddUsers { username } } }", as: viewer)
      .strings("viewer.quickAddUsers", "username")
    let own = Set(chosen.map(\.username))
    #expect(names.filter(own.contains) == [people[2].username, people[0].username])
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

  @Test func `GTIO-2.1a, read: new notifications are counted for their recipient alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other, blocked) = (try data.person(), try data.person(), try data.person())
    let query = "{ viewer { unreadNotificationCount } }"
    #expect(try server.data(query, as: viewer) == ["viewer": ["unreadNotificationCount": 0]])
    for _ in 0..<2 { _ = try data.tell(viewer, "new") }
    _ = try data.tell(viewer, "read", isRead: true)
    _ = try data.tell(viewer, "by somebody blocked", by: blocked)
    _ = try data.tell(other, "another's")
    try data.block(viewer, blocked)
    #expect(try server.data(query, as: viewer) == ["viewer": ["unreadNotificationCount": 2]])
  }

  @Test func `GTIO-2.1b: all notifications are counted, read ones too`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let query = "{ viewer { notifications(first: 0) { totalCount } } }"
    func count() throws -> JSONValue? {
      try server.data(query, as: viewer).at("viewer.notifications.totalCount")
    }
    _ = try data.tell(other, "another's")
    #expect(try count() == 0)
    _ = try data.tell(viewer, "read", isRead: true)
    #expect(try count() == 1)
    _ = try data.tell(viewer, "new")
    #expect(try count() == 2)
  }

  @Test func `GTIO-2.2a: notifications, newest first, names in bold, for nobody else`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other) = (try data.person(), try data.person())
    let texts = [
      "<b>Ann</b> follows you", "<b>Ben</b> hearts your outfit",
      "<b>Cat</b> says: &lt;b&gt;x &amp; y&lt;/b&gt;",
    ]
    let keys = try texts.map { try data.tell(viewer, $0) }
    _ = try data.tell(other, "another's")
    let list = try server.data("{ viewer { notifications { nodes { text } } } }", as: viewer)
    #expect(list.strings("viewer.notifications.nodes", "text") == texts.reversed())
    let node = "query($id: ID!) { node(id: $id) { ... on Notification { text } } }"
    #expect(
      try server.data(node, ["id": keys[0].json], as: viewer)
        == ["node": ["text": .string(texts[0])]])
    #expect(try server.data(node, ["id": keys[0].json], as: other) == ["node": nil])
    #expect(try server.data(node, ["id": keys[0].json]) == ["node": nil])
  }

  @Test func `GTIO-2.2b: a notification leads into the application or to the web`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let places = ["gtio://posts/7", "https://gtio.example/news"]
    for place in places { _ = try data.tell(viewer, "go", destination: place) }
    let list = try server.data("{ viewer { notifications { nodes { destination } } } }", as: viewer)
    #expect(list.strings("viewer.notifications.nodes", "destination") == places.reversed())
    let field = try server.data(
      """
      { __type(name: "Notification") { fields { name type { kind ofType { name } } } } }
      """
    ).at("__type.fields")?.array?.first { $0["name"] == "destination" }
    #expect(field?["type"] == ["kind": "NON_NULL", "ofType": ["name": "URL"]])
  }

  @Test func `GTIO-2.2c: a button has label and address, and most have no button`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    _ = try data.tell(viewer, "without")
    let with = try data.tell(viewer, "with")
    try data.run(
      """
      UPDATE notification SET action_kind = 'OPEN_URL', action_label = 'Shop',
        action_url = 'https://shop.example/1' WHERE id = $1
      """, [with])
    let list = try server.data(
      "{ viewer { notifications { nodes { action { kind label url performedAt } } } } }", as: viewer
    )
    #expect(
      list.list("viewer.notifications.nodes", "action") == [
        ["kind": "OPEN_URL", "label": "Shop", "url": "https://shop.example/1", "performedAt": nil],
        nil,
      ])
  }

  @Test func `GTIO-2.2d, read: a button pressed stays on, with the time`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    let key = try data.tell(viewer, "follow back?")
    try data.run(
      """
      UPDATE notification SET action_kind = 'FOLLOW_BACK', action_label = 'Follow',
        action_performed_at = '2026-03-01 12:30Z' WHERE id = $1
      """, [key])
    let list = try server.data(
      "{ viewer { notifications { nodes { action { label performedAt } } } } }", as: viewer)
    #expect(
      list.list("viewer.notifications.nodes", "action")
        == [["label": "Follow", "performedAt": "2026-03-01T12:30:00Z"]])
  }

  @Test func `GTIO-2.2e, read: what was seen has a time, and is not among the unread`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    _ = try data.tell(viewer, "seen", isRead: true)
    _ = try data.tell(viewer, "new")
    let lists = try server.data(
      """
      { viewer {
        notifications { nodes { text readAt } }
        unread: notifications(unreadOnly: true) { totalCount nodes { text } }
      } }
      """, as: viewer)
    #expect(
      lists.at("viewer.notifications.nodes") == [
        ["text": "new", "readAt": nil], ["text": "seen", "readAt": "2026-03-01T12:00:00Z"],
      ])
    #expect(lists.at("viewer.unread") == ["totalCount": 1, "nodes": [["text": "new"]]])
  }
}
