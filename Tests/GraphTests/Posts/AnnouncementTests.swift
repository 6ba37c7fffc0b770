import JSON
import TestSupport
import Testing

/// Announcements, and whom they notify.
@Suite(.usesCluster) struct AnnouncementTests {
  @Test func `PK-HOME.d: announcements of subscriptions, the newest first`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, staff) = (try data.person(), try data.person())
    let subscribed = try data.circle("Library", kind: "CHANNEL", owner: staff, members: [viewer])
    let other = try data.circle("Gym", kind: "CHANNEL", owner: staff)
    try data.follow(viewer, staff)
    for (body, circle, day) in [
      ("first", subscribed, 1), ("third", subscribed, 3), ("second", subscribed, 2),
      ("unsubscribed", other, 4), ("of nobody", nil, 5),
    ] {
      _ = try data.post(.announcement, by: staff, body, circle: circle, at: "2026-03-0\(day)")
    }
    _ = try data.post(.event, by: staff, "event", circle: subscribed)
    _ = try data.post(.text, by: staff, "text", circle: subscribed)
    let feed = try server.data(
      """
      { viewer { feed(source: CIRCLES, kinds: [ANNOUNCEMENT]) {
        totalCount nodes { __typename body circle { name } } } } }
      """, as: viewer)
    #expect(feed.strings("viewer.feed.nodes", "body") == ["third", "second", "first"])
    #expect(feed.at("viewer.feed.totalCount") == 3)
    #expect(
      feed.at("viewer.feed.nodes.0")
        == ["__typename": "Announcement", "body": "third", "circle": ["name": "Library"]])
  }

  @Test func `PK-POST.f: an announcement notifies people and circles of one's own, and all see it`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (author, member, named, reader) = (
      try data.person(), try data.person(), try data.person(), try data.person()
    )
    let own = try data.circle("Own", owner: member, members: [author])
    let foreign = try data.circle("Foreign", owner: reader)
    let create = "createAnnouncement(input: $input)"
    let made = try server.make(
      create, "announcement",
      [
        "input: CreateAnnouncementInput!": [
          "body": "Harbour closed", "notifyUserIds": [named.json, member.json],
          "notifyCircleIds": [own.json],
        ]
      ], as: author)
    for (person, number) in [(member, 1), (named, 1), (reader, 0), (author, 0)] {
      let told = try server.data(
        "{ viewer { notifications { nodes { reason about { id } } } } }", as: person)
      let expected: [JSONValue] = Array(
        repeating: ["reason": "ANNOUNCED", "about": ["id": made.json]], count: number)
      #expect(told.at("viewer.notifications.nodes") == .array(expected))
      #expect(try server.finds(made, as: person))
    }
    #expect(try server.finds(made, as: nil))
    #expect(
      try server.refusals(
        create,
        [
          "input: CreateAnnouncementInput!": ["body": "x", "notifyCircleIds": [foreign.json]]
        ], as: author) == [Refusal("NOT_FOUND", "input", "notifyCircleIds", "0")])
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: reader, members: [author])
    #expect(
      try server.refusals(
        create,
        ["input: CreateAnnouncementInput!": ["body": "x", "circleId": channel.json]], as: author)
        == [Refusal("FORBIDDEN", "input", "circleId")])
    #expect(
      try server.refusals(
        create, ["input: CreateAnnouncementInput!": ["body": ""]], as: author)
        == [Refusal("REQUIRED", "input", "body")])
  }

  /// The fields that name circles whose members are notified, with their names in refusals.
  private static let fieldsOfCircles = [
    (
      "createAnnouncement(input: {body: \"x\", notifyCircleIds: $circles})",
      ["input", "notifyCircleIds"]
    ),
    (
      "createEvent(input: {title: \"x\", startsAt: \"2041-01-01T00:00:00.000Z\", inviteCircleIds: $circles})",
      ["input", "inviteCircleIds"]
    ),
    ("inviteToEvent(eventId: $event, circleIds: $circles)", ["circleIds"]),
  ]

  @Test func `a channel's subscribers are told by its owner, staff and services alone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, subscriber, stranger) = (try data.person(), try data.person(), try data.person())
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let service = try data.person(roles: ["MEMBER", "SERVICE"])
    let channel = try data.circle("News", kind: "CHANNEL", owner: owner, members: [subscriber])
    let group = try data.circle("Group", owner: subscriber, members: [])
    for (field, path) in Self.fieldsOfCircles {
      for person in [subscriber, stranger, owner, staff, service] {
        let event = try data.post(.event, by: person)
        let all: KeyValuePairs<String, JSONValue> = [
          "circles: [ID!]": [channel.json], "event: ID!": event.json,
        ]
        let variables: KeyValuePairs<String, JSONValue> =
          path.count == 1 ? all : ["circles: [ID!]": [channel.json]]
        let refusals = try server.refusals(field, variables, as: person)
        guard person.key == subscriber.key || person.key == stranger.key else {
          #expect(refusals == [], "\(field)")
          continue
        }
        #expect(refusals.map(\.code) == ["FORBIDDEN"], "\(field)")
        #expect(refusals.first?.path == path + ["0"])
      }
    }
    // Three fields by three people each, and none by those who may not.
    #expect(try server.told(subscriber).count == 9)
    #expect(
      try server.refusals(
        Self.fieldsOfCircles[0].0, ["circles: [ID!]": [group.json, channel.json]], as: subscriber)
        == [Refusal("FORBIDDEN", "input", "notifyCircleIds", "1")])
  }

  @Test func `a field tells at most 500 members of groups`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, member) = (try data.person(), try data.person())
    let staff = try data.person(roles: ["MEMBER", "STAFF"])
    let groups = try (0..<2).map { _ in
      try data.circle("Group", owner: owner, members: [member, staff])
    }
    // With the owner and staff they have exactly 500 others; who is in both counts once.
    let stem = GraphData.unique("crowd")
    try data.run(
      """
      WITH people AS (
        INSERT INTO app_user (username, display_name, name_key)
        SELECT $1 || n, 'Crowd', 'crowd' FROM generate_series(1, 498) n RETURNING id)
      INSERT INTO circle_member (circle_id, user_id)
      SELECT c.id, p.id FROM people p, unnest($2::bigint[]) c(id)
      WHERE p.id % 512 >= 256 OR c.id = ($2::bigint[])[1]
      """, [stem, "{\(groups[0].number),\(groups[1].number)}"])
    let circles: KeyValuePairs<String, JSONValue> = ["circles: [ID!]": .array(groups.map(\.json))]
    for (field, _) in Self.fieldsOfCircles.prefix(2) {
      #expect(try server.refusals(field, circles, as: member) == [])
    }
    try data.join(groups[1], data.person())
    for (field, path) in Self.fieldsOfCircles.prefix(2) {
      let refusals = try server.refusals(field, circles, as: member)
      #expect(refusals.map(\.code) == ["TOO_MANY"], "\(field)")
      #expect(refusals.first?.path == path)
      #expect(try server.refusals(field, circles, as: staff) == [])
    }
  }
}
