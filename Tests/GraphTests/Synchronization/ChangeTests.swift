import JSON
import TestSupport
import Testing

/// The changes since a token that a client synchronizes by.
@Suite(.usesCluster) struct ChangeTests {
  private static let changes = """
    query($since: String) { changes(since: $since) {
      token hasMore changes { nodeId operation node { ... on Post { body } } } } }
    """

  private func operation(_ id: NodeKey, _ found: JSONValue) -> JSONValue? {
    found.at("changes.changes")?.array?.first { $0["nodeId"] == id.json }?["operation"]
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
      { viewer { agenda(from: "2041-06-01T00:00:00.000Z", to: "2041-06-02T00:00:00.000Z") {
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
        appConfig(app: $app) { introImages isVotingEnabledByDefault supportEmail }
        none: appConfig(app: $none) { app }
        changes { token hasMore changes { nodeId } }
      }
      """, ["app": .string(app), "none": .string(app + "x")])
    #expect(
      found.at("appConfig") == [
        "introImages": ["https://peck.example/1.jpg"], "isVotingEnabledByDefault": false,
        "supportEmail": "help@peck.example",
      ])
    #expect(found.at("none") == .null)
    #expect(found.at("changes.changes") == [])
    let token = try #require(found.at("changes.token"))
    #expect(try server.errorCodes(Self.changes, ["since": token]) == [])
  }

  @Test func `PK-POST.g: what was posted is in the payload, and among the changes after it`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (host, guest, stranger) = (try data.person(), try data.person(), try data.person())
    let query = """
      query($since: String) { changes(since: $since) { token changes { operation
        node { __typename id ... on Event { title } } } } }
      """
    func token(_ person: Person) throws -> JSONValue {
      try server.data(query, as: person).at("changes.token") ?? .null
    }
    let tokens = [try token(host), try token(guest), try token(stranger)]
    let made = try server.event(by: host, ["visibility": "INVITED", "inviteUserIds": [guest.json]])
    try data.session.waitForChanges()
    let told: JSONValue = [
      "operation": "UPSERT",
      "node": ["__typename": "Event", "id": made.json, "title": "Regatta"],
    ]
    for (person, since, sees) in [
      (host, tokens[0], 1), (guest, tokens[1], 1), (stranger, tokens[2], 0),
    ] {
      let changes = try server.data(query, ["since": since], as: person)
      #expect(
        changes.at("changes.changes")?.array?.filter { $0.at("node.id") == made.json }
          == Array(repeating: told, count: sees))
    }
  }

  @Test func `PK-PECK.f: a signal leads to what changed, the peck among it`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member) = (try data.person(), try data.person())
    let circle = try data.circle("Oars", owner: owner, members: [member])
    let query = """
      query($since: String) { changes(since: $since) { token changes {
        operation node { __typename ... on Notification { reason } ... on Comment { body } } } } }
      """
    let start = try server.data(query, as: member).at("changes.token") ?? .null
    try server.mutate(
      "addComment(subjectId: $id, body: \"Ahoy\")", ["id: ID!": circle.json], as: owner)
    try data.session.waitForChanges()
    let changes = try server.data(query, ["since": start], as: member)
    let nodes = changes.list("changes.changes", "node")
    #expect(nodes.contains(["__typename": "Notification", "reason": "COMMENTED"]))
    #expect(nodes.contains(["__typename": "Comment", "body": "Ahoy"]))
    #expect(
      try server.data(query, ["since": changes.at("changes.token") ?? .null], as: member)
        .at("changes.changes") == [])
  }
}
