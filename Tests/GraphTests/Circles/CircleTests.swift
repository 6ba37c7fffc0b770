import JSON
import TestSupport
import Testing

/// Peck: circles, pecks, comments and keeping a copy up to date.
@Suite(.usesCluster) struct PeckCircleTests {
  @Test func `PK-PECK.a: pecks are everything that concerns the user, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, friend, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(viewer, blocked)
    let event = try data.post(.event, by: friend, title: "Party")
    for (text, recipient, actor, reason) in [
      ("one", viewer, friend, "FOLLOWED"), ("two", viewer, nil, "EVENT_CHANGED"),
      ("other's", friend, viewer, "FOLLOWED"), ("blocked", viewer, blocked, "FOLLOWED"),
      ("three", viewer, friend, "EVENT_INVITED"),
    ] {
      let isInvitation = reason == "EVENT_INVITED"
      try data.insert(
        "notification",
        [
          "recipient_id": recipient.key, "actor_id": actor?.key, "reason": reason, "text": text,
          "destination": "peck://home", "about_id": isInvitation ? event : nil,
          "action_kind": isInvitation ? "ATTEND" : nil,
          "action_label": isInvitation ? "Attend" : nil, "read_at": text == "one" ? "now" : nil,
        ])
    }
    let query = """
      { viewer { unreadNotificationCount
        notifications { totalCount nodes {
          text reason actor { id } about { id } action { kind label performedAt } } }
        unread: notifications(unreadOnly: true) { nodes { text } } } }
      """
    let found = try server.data(query, as: viewer)
    #expect(found.strings("viewer.notifications.nodes", "text") == ["three", "two", "one"])
    #expect(found.at("viewer.notifications.totalCount") == 3)
    #expect(
      found.at("viewer.notifications.nodes.0") == [
        "text": "three", "reason": "EVENT_INVITED", "actor": ["id": friend.json],
        "about": ["id": event.json],
        "action": ["kind": "ATTEND", "label": "Attend", "performedAt": nil],
      ])
    #expect(found.at("viewer.notifications.nodes.1.actor") == .null)
    #expect(found.strings("viewer.unread.nodes", "text") == ["three", "two"])
    #expect(found.at("viewer.unreadNotificationCount") == 2)
    #expect(try server.data(query) == ["viewer": nil])
  }

  @Test func `PK-POST.h: names of people and circles complete while typing`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let stem = GraphData.unique("zy")
    let (viewer, blocked) = (try data.person(), try data.person(name: "\(stem)blocked"))
    try data.block(blocked, viewer)
    for name in ["\(stem)anna Smith", "Ben \(stem)anders", "\(stem)cleo"] {
      _ = try data.person(name: name)
      _ = try data.circle("\(name)'s circle", owner: viewer)
      _ = try data.circle("\(name)'s other circle", owner: blocked)
    }
    func complete(_ text: String) throws -> JSONValue {
      try server.data(
        """
        query($text: String!) { users(search: $text) { nodes { displayName } }
          viewer { circles(search: $text) { nodes { name } } } }
        """, ["text": .string(text)], as: viewer)
    }
    let some = try complete("\(stem)an")
    #expect(
      some.strings("users.nodes", "displayName") == ["Ben \(stem)anders", "\(stem)anna Smith"])
    #expect(
      some.strings("viewer.circles.nodes", "name")
        == ["Ben \(stem)anders's circle", "\(stem)anna Smith's circle"])
    #expect(try complete(stem).at("users.nodes")?.array?.count == 3)
    #expect(try complete("\(stem)anna smi").at("users.nodes")?.array?.count == 1)
    #expect(try complete("\(stem)x").at("users.nodes") == [])
  }

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

  @Test func `PK-COM.d: a comment belongs to one item, and to no other comment`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let subjects = [
      try data.post(.event, by: author), try data.post(.announcement, by: author),
      try data.circle("Circle", owner: author), try data.location("Place"),
    ]
    for subject in subjects {
      let comment = try data.comment(subject, by: author, "of \(subject)")
      let found = try server.data(
        """
        query($id: ID!) { node(id: $id) { ... on Comment {
          body subject { id commentCount comments(first: 5) { nodes { id } } } } } }
        """, ["id": comment.json], as: author)
      #expect(
        found.at("node") == [
          "body": .string("of \(subject)"),
          "subject": [
            "id": subject.json, "commentCount": 1, "comments": ["nodes": [["id": comment.json]]],
          ],
        ])
    }
    let types = try server.data("{ __type(name: \"Commentable\") { possibleTypes { name } } }")
      .strings("__type.possibleTypes", "name")
    #expect(types.contains("Event"))
    #expect(!types.contains("Comment"))
  }

  // MARK: Keeping a copy

  private static let changes = """
    query($since: String) { changes(since: $since) {
      token hasMore changes { id operation node { ... on Post { body } } } } }
    """

  private func operation(_ id: NodeKey, _ found: JSONValue) -> JSONValue? {
    found.at("changes.changes")?.array?.first { $0["id"] == id.json }?["operation"]
  }

  @Test func `PK-SYNC.a: a client gets what changed since last time, and only that`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let (viewer, staff) = (try data.person(), try data.person())
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: staff, members: [viewer])
    let other = try data.circle("Other", kind: "CHANNEL", owner: staff)
    let gone = try data.post(.text, by: viewer, "gone")
    try data.session.waitForChanges()
    let start =
      try server.data(Self.changes, as: viewer).at("changes.token") ?? .null
    try data.run("SELECT delete_node(\(gone))")
    let strange = try data.post(.announcement, by: staff, "strange", circle: other)
    let own = try data.post(.text, by: viewer, "own")
    let subscribed = try data.post(.announcement, by: staff, "subscribed", circle: channel)

    try data.session.waitForChanges()
    let found = try server.data(Self.changes, ["since": start], as: viewer)
    #expect(operation(gone, found) == "DELETE")
    #expect(operation(own, found) == "UPSERT")
    #expect(operation(subscribed, found) == "UPSERT")
    #expect(operation(strange, found) == nil)
    let bodies = (found.at("changes.changes")?.array ?? []).compactMap { $0.at("node.body") }
    #expect(bodies == ["own", "subscribed"])
    #expect(found.at("changes.hasMore") == false)

    // A transaction that began before a token was given out and commits after it.
    let late = try server.data()
    try late.run("BEGIN")
    let delayed = try late.post(.text, by: viewer, "late")
    let early = try data.post(.text, by: viewer, "early")
    let between = try server.data(
      Self.changes, ["since": found.at("changes.token") ?? .null], as: viewer)
    #expect(operation(delayed, between) == nil)
    try late.run("COMMIT")
    try data.session.waitForChanges()
    let rest = try server.data(
      Self.changes, ["since": between.at("changes.token") ?? .null], as: viewer)
    #expect(operation(delayed, rest) == "UPSERT")
    #expect([between, rest].filter { operation(early, $0) == "UPSERT" }.count == 1)

    try data.run("UPDATE change SET logged_at = now() - interval '31 days'")
    #expect(try data.run("SELECT forget_changes() > 0") == [["t"]])
    #expect(
      try server.errorCodes(Self.changes, ["since": start], as: viewer) == ["TOKEN_EXPIRED"])
  }

  @Test func `PK-SYNC.b: today and explore are two requests, and photos are urls`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, host) = (try data.person(), try data.person())
    var photos: [JSONValue] = []
    for (title, author) in [("today", viewer), ("explore", host)] {
      let event = try data.post(
        .event, by: author, "text", title: title, startsAt: "2041-06-01 12:00Z")
      let photo = try data.photo(of: author)
      try data.add("post_photo", ["post_id": event, "position": 0, "photo_id": photo])
      let url = try data.run("SELECT url FROM photo WHERE id = \(photo)")[0][0]
      photos.append([["url": .string(url ?? "")]])
    }
    let today = try server.data(
      """
      { viewer { agenda(from: "2041-06-01T00:00:00Z", to: "2041-06-02T00:00:00Z") {
        nodes { title ... on Event { body photos { url } } } } } }
      """, as: viewer)
    #expect(
      today.at("viewer.agenda.nodes") == [
        ["title": "today", "body": "text", "photos": photos[0]]
      ])
    let explore = try server.data(
      "{ explore(kinds: [EVENT], first: 100) { nodes { ... on Event { title photos { url } } } } }",
      as: viewer)
    let nodes = explore.at("explore.nodes")?.array ?? []
    #expect(nodes.contains(["title": "explore", "photos": photos[1]]))
    #expect(!nodes.contains { $0["title"] == "today" && $0["photos"] == photos[0] })
  }

  @Test func `PK-SYNC.c: a first launch gets its configuration and a token`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let app = GraphData.unique("peck")
    try data.add(
      "app_config",
      [
        "app": app, "intro_images": ["https://peck.example/1.jpg"],
        "voting_enabled_by_default": false, "support_email": "help@peck.example",
      ])
    let found = try server.data(
      """
      query($app: String!, $none: String!) {
        appConfig(app: $app) { introImages votingEnabledByDefault supportEmail }
        none: appConfig(app: $none) { app }
        changes { token hasMore changes { id } }
      }
      """, ["app": .string(app), "none": .string(app + "x")])
    #expect(
      found.at("appConfig") == [
        "introImages": ["https://peck.example/1.jpg"], "votingEnabledByDefault": false,
        "supportEmail": "help@peck.example",
      ])
    #expect(found.at("none") == .null)
    #expect(found.at("changes.changes") == [])
    let token = try #require(found.at("changes.token"))
    #expect(try server.errorCodes(Self.changes, ["since": token]) == [])
  }
}
