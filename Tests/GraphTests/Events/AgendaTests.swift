import JSON
import TestSupport
import Testing

/// The agenda of events, day by day.
@Suite(.usesCluster) struct AgendaTests {
  /// The titles of the viewer's agenda, of a day in 2041 unless told.
  private func agenda(
    _ server: GraphServer, as person: Person, from: String = "2041-05-02T00:00:00.000Z",
    to: String = "2041-05-03T00:00:00.000Z", _ fields: String = ""
  ) throws -> JSONValue {
    try server.data(
      """
      query($from: DateTime!, $to: DateTime!) { viewer { agenda(from: $from, to: $to) {
        totalCount nodes { title startsAt \(fields) } } } }
      """, ["from": .string(from), "to": .string(to)], as: person
    ).at("viewer.agenda") ?? .null
  }

  private static func time(_ hour: Int, day: Int = 2) -> String {
    "2041-05-0\(day) \(hour < 10 ? "0" : "")\(hour):00Z"
  }

  @Test func `PK-HOME.a: the agenda holds events of departments subscribed, in time order`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, staff, blocked) = (try data.person(), try data.person(), try data.person())
    try data.block(viewer, blocked)
    let chemistry = try data.circle(
      "Chemistry", kind: "CHANNEL", owner: staff, members: [viewer, blocked])
    let physics = try data.circle("Physics", kind: "CHANNEL", owner: staff)
    for (title, circle, author, hour) in [
      ("late", chemistry, staff, 20), ("early", chemistry, staff, 8),
      ("noon", chemistry, staff, 12), ("unsubscribed", physics, staff, 9),
      ("blocked", chemistry, blocked, 10),
    ] {
      _ = try data.post(
        .event, by: author, circle: circle, title: title, startsAt: Self.time(hour))
    }
    let own = try agenda(server, as: viewer, "... on Event { circle { name } }")
    #expect(own.strings("nodes", "title") == ["early", "noon", "late"])
    #expect(own.at("totalCount") == 3)
    #expect(own.at("nodes.0.circle.name") == "Chemistry")
    #expect(try agenda(server, as: data.person()) == ["totalCount": 0, "nodes": []])
  }

  @Test func `PK-HOME.b: the agenda holds events one attends`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, host) = (try data.person(), try data.person())
    let circle = try data.circle("Club", kind: "CHANNEL", owner: host, members: [viewer])
    for (hour, answer) in ["GOING", "MAYBE", "NOT_GOING"].enumerated() {
      let event = try data.post(.event, by: host, title: answer, startsAt: Self.time(hour))
      try data.attend(viewer, event, answer)
    }
    _ = try data.post(.event, by: host, title: "unanswered", startsAt: Self.time(5))
    let refused = try data.post(
      .event, by: host, circle: circle, title: "refused", startsAt: Self.time(6))
    try data.attend(viewer, refused, "NOT_GOING")
    let own = try agenda(server, as: viewer, "... on Event { viewerAttendance }")
    #expect(own.strings("nodes", "title") == ["GOING", "MAYBE"])
    #expect(own.strings("nodes", "viewerAttendance") == ["GOING", "MAYBE"])
    #expect(try agenda(server, as: host).at("totalCount") == 5)
  }

  @Test func `PK-HOME.c: the agenda holds events one is invited to, unless declined`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, host) = (try data.person(), try data.person(name: "Host"))
    for (hour, status) in ["PENDING", "ACCEPTED", "DECLINED"].enumerated() {
      let event = try data.post(
        .event, by: host, visibility: "INVITED", title: status, startsAt: Self.time(hour))
      let invitation = try data.invite(host, viewer, to: event)
      try data.run("UPDATE invitation SET status = $1 WHERE id = \(invitation)", [status])
    }
    _ = try data.post(
      .event, by: host, visibility: "INVITED", title: "uninvited", startsAt: Self.time(5))
    let own = try agenda(
      server, as: viewer, "... on Event { viewerInvitation { status inviter { displayName } } }")
    #expect(own.strings("nodes", "title") == ["PENDING", "ACCEPTED"])
    #expect(own.strings("nodes", "viewerInvitation.status") == ["PENDING", "ACCEPTED"])
    #expect(own.at("nodes.0.viewerInvitation.inviter.displayName") == "Host")
  }

  @Test func `PK-HOME.e: a day is a half-open range from the client's own midnight`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    for time in [
      "2041-05-02 04:59:59.999999Z", "2041-05-02 05:00Z", "2041-05-03 04:59:59Z",
      "2041-05-03 05:00Z",
    ] {
      _ = try data.post(.event, by: viewer, title: time, startsAt: time)
    }
    let day = try agenda(
      server, as: viewer, from: "2041-05-02T00:00:00-05:00", to: "2041-05-03T00:00:00-05:00")
    #expect(
      day.strings("nodes", "startsAt") == ["2041-05-02T05:00:00.000Z", "2041-05-03T04:59:59.000Z"])
    let codes = try server.errorCodes(
      "{ viewer { agenda(from: \"2041-05-02\", to: \"tomorrow\") { totalCount } } }", as: viewer)
    #expect(codes.first == "GRAPHQL_VALIDATION_FAILED" || codes.first == "BAD_USER_INPUT")
  }

  @Test func `PK-HOME.f: two days back and four ahead come in one request`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let viewer = try data.person()
    for day in 1...9 {
      _ = try data.post(.event, by: viewer, title: "day \(day)", startsAt: Self.time(10, day: day))
    }
    let window = try agenda(
      server, as: viewer, from: "2041-05-02T00:00:00.000Z", to: "2041-05-09T00:00:00.000Z")
    #expect(window.strings("nodes", "title") == (2...8).map { "day \($0)" })
    #expect(window.at("totalCount") == 7)
  }

  @Test func `PK-HOME.g: a first launch shows events of default channels without an account`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person()
    let name = GraphData.unique("dining")
    let dining = try data.circle(name, kind: "CHANNEL", owner: staff, isDefault: true)
    let chess = try data.circle("\(name) chess", kind: "CHANNEL", owner: staff)
    let group = try data.circle("\(name) group", owner: staff)
    for (title, circle, visibility) in [
      ("lunch", dining, "PUBLIC"), ("private lunch", dining, "INVITED"), ("game", chess, "PUBLIC"),
      ("party", group, "CIRCLE"), ("fair", nil, "PUBLIC"),
    ] {
      _ = try data.post(
        .event, by: staff, circle: circle, visibility: visibility, title: title,
        startsAt: "2042-01-01 12:00Z")
    }
    let trainer = try data.trainer()
    _ = try data.classSession(
      data.program("Yoga", trainers: [trainer]), by: trainer, at: "2042-01-01 12:00Z")
    let home = try server.data(
      """
      query($name: String) {
        circles(isDefault: true, search: $name) { nodes { name } }
        schedule(filter: {
          from: "2042-01-01T00:00:00.000Z", to: "2042-01-02T00:00:00.000Z", isInDefaultChannel: true
        }) { totalCount nodes { title } }
      }
      """, ["name": .string(name)])
    #expect(
      home == [
        "circles": ["nodes": [["name": .string(name)]]],
        "schedule": ["totalCount": 1, "nodes": [["title": "lunch"]]],
      ])
  }

  @Test func `PK-DIN.b: each meal is an event of the category DINING`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, staff) = (try data.person(), try data.person())
    let dining = try data.circle("Dining", kind: "CHANNEL", owner: staff, members: [viewer])
    for (title, hour) in [("breakfast", 7), ("dinner", 18), ("talk", 9)] {
      let event = try data.post(
        .event, by: staff, circle: dining, title: title, startsAt: Self.time(hour))
      if title != "talk" {
        try data.run("UPDATE event SET category = 'DINING' WHERE post_id = \(event)")
      }
    }
    let own = try agenda(server, as: viewer, "... on Event { category }")
    #expect(own.strings("nodes", "title") == ["breakfast", "talk", "dinner"])
    #expect(own.strings("nodes", "category") == ["DINING", "GENERAL", "DINING"])
    let meals = try server.data(
      """
      query($circle: ID!) { schedule(filter: {category: DINING, circleIds: [$circle],
        from: "2041-05-02T00:00:00.000Z", to: "2041-05-03T00:00:00.000Z"}) { nodes { title } } }
      """, ["circle": dining.json])
    #expect(meals.strings("schedule.nodes", "title") == ["breakfast", "dinner"])
  }

  @Test func `PK-DIN.c: a meal lists the places that serve it, in order of opening`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let meal = try data.post(.event, by: data.person(), title: "lunch")
    for (name, opens, note) in [
      ("North", "2041-05-02 11:30Z", "vegan"), ("South", "2041-05-02 11:00Z", nil),
      ("Cart", nil, nil),
    ] as [(String, String?, String?)] {
      try data.add(
        "event_venue",
        [
          "event_id": meal, "location_id": data.location(name), "opens_at": opens,
          "closes_at": opens == nil ? nil : "2041-05-02 14:00Z", "note": note,
        ])
    }
    let found = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on Event {
        venues { location { name } opensAt closesAt note } } } }
      """, ["id": meal.json])
    #expect(
      found.at("node.venues") == [
        [
          "location": ["name": "South"], "opensAt": "2041-05-02T11:00:00.000Z",
          "closesAt": "2041-05-02T14:00:00.000Z", "note": nil,
        ],
        [
          "location": ["name": "North"], "opensAt": "2041-05-02T11:30:00.000Z",
          "closesAt": "2041-05-02T14:00:00.000Z", "note": "vegan",
        ],
        ["location": ["name": "Cart"], "opensAt": nil, "closesAt": nil, "note": nil],
      ])
  }
}
