import JSON
import TestSupport
import Testing

/// Classes and trainings, and the times when they take place.
@Suite(.usesCluster) struct ClassTests {
  @Test func `C7-I.b: staff publish trainings, trainers their own open times`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let (tara, tom, client) = (
      try data.trainer(name: "Tara"), try data.trainer(name: "Tom"), try data.person()
    )
    let gym = try data.location("Gym")
    let upsert = "upsertProgram(input: $input)"
    func program(_ more: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
      let given: KeyValuePairs<String, JSONValue> = [
        "title": "Boxing", "training": "SPORTS", "durationMinutes": 45,
        "trainerIds": [tara.json, tom.json], "locationId": gym.json,
      ]
      return .object(
        given.filter { item in !more.contains { $0.key == item.key } }.map {
          JSONValue.Member(name: $0.key, value: $0.value)
        } + more.map { JSONValue.Member(name: $0.key, value: $0.value) })
    }
    for person in [tara, client] {
      #expect(
        try server.refusals(upsert, ["input: UpsertProgramInput!": program()], as: person)
          == [Refusal("FORBIDDEN")])
    }
    let made = try server.make(
      upsert, "program", ["input: UpsertProgramInput!": program()], as: staff)
    #expect(
      try server.refusals(
        upsert,
        [
          "input: UpsertProgramInput!": program([
            "title": "", "trainerIds": [client.json, gym.json], "durationMinutes": 0,
            "locationId": client.json,
          ])
        ], as: staff) == [
          Refusal("REQUIRED", "input", "title"), Refusal("INVALID", "input", "trainerIds", "0"),
          Refusal("NOT_FOUND", "input", "trainerIds", "1"),
          Refusal("INVALID", "input", "durationMinutes"),
          Refusal("NOT_FOUND", "input", "locationId"),
        ])
    let schedule = "scheduleClassSessions(input: $input)"
    func times(_ trainer: Person, _ times: JSONValue...) -> JSONValue {
      [
        "programId": made.json, "trainerId": trainer.json, "startsAt": .array(times),
        "capacity": 2,
      ]
    }
    for _ in 0..<2 {
      let payload = try server.mutate(
        schedule,
        "classSessions { title startsAt endsAt capacity seatsLeft trainer { displayName } }",
        [
          "input: ScheduleClassSessionsInput!": times(
            tara, "2045-05-02T10:00:00.000Z", "2045-05-01T10:00:00.000Z")
        ], as: tara)
      #expect(
        payload.strings("classSessions", "startsAt") == [
          "2045-05-01T10:00:00.000Z", "2045-05-02T10:00:00.000Z",
        ])
      #expect(
        payload.at("classSessions.0") == [
          "title": "Boxing", "startsAt": "2045-05-01T10:00:00.000Z",
          "endsAt": "2045-05-01T10:45:00.000Z", "capacity": 2, "seatsLeft": 2,
          "trainer": ["displayName": "Tara"],
        ])
    }
    #expect(
      try server.refusals(
        schedule, ["input: ScheduleClassSessionsInput!": times(tom, "2045-05-01T10:00:00.000Z")],
        as: tara)
        == [Refusal("FORBIDDEN", "input", "trainerId")])
    try server.mutate(
      schedule, ["input: ScheduleClassSessionsInput!": times(tom, "2045-05-01T11:00:00.000Z")],
      as: staff)
    #expect(
      try server.refusals(
        schedule,
        [
          "input: ScheduleClassSessionsInput!": times(
            tom, "2045-05-01T10:00:00.000Z", "2020-05-01T10:00:00.000Z")
        ], as: staff) == [Refusal("PAST", "input", "startsAt", "1")])
    let found = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on Program { title training durationMinutes
        location { name } trainers { displayName }
        classSessions(from: "2045-05-01T00:00:00.000Z", to: "2045-05-02T00:00:00.000Z", isBookable: true) {
          nodes { startsAt trainer { displayName } } } } } }
      """, ["id": made.json], as: client)
    #expect(
      found["node"] == [
        "title": "Boxing", "training": "SPORTS", "durationMinutes": 45,
        "location": ["name": "Gym"], "trainers": [["displayName": "Tara"], ["displayName": "Tom"]],
        "classSessions": [
          "nodes": [
            ["startsAt": "2045-05-01T10:00:00.000Z", "trainer": ["displayName": "Tara"]],
            ["startsAt": "2045-05-01T11:00:00.000Z", "trainer": ["displayName": "Tom"]],
          ]
        ],
      ])
    // Who has times to come is not taken off.
    #expect(
      try server.refusals(
        upsert,
        [
          "input: UpsertProgramInput!": program(["programId": made.json, "trainerIds": [tara.json]])
        ],
        as: staff) == [Refusal("IN_USE", "input", "trainerIds")])
    #expect(
      try server.make(
        upsert, "program",
        ["input: UpsertProgramInput!": program(["programId": made.json, "title": "Kickboxing"])],
        as: staff) == made)
  }

  @Test func `C7-HOME.1c: a user sees the classes booked today, in the client's zone`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, other, trainer) = (try data.person(), try data.person(), try data.trainer())
    let program = try data.program("Yoga", trainers: [trainer])
    // The day lasts from 07:00 to 07:00 in UTC.
    for (time, person, isCancelled) in [
      ("2044-01-02 18:00Z", viewer, false), ("2044-01-02 07:00Z", viewer, false),
      ("2044-01-03 06:00Z", viewer, false), ("2044-01-02 06:00Z", viewer, false),
      ("2044-01-03 07:00Z", viewer, false), ("2044-01-02 10:00Z", viewer, true),
      ("2044-01-02 12:00Z", other, false),
    ] {
      try data.book(
        person, data.classSession(program, by: trainer, at: time), isCancelled: isCancelled)
    }
    let query = """
      { viewer {
        agenda(from: "2044-01-02T00:00:00-07:00", to: "2044-01-03T00:00:00-07:00") {
          nodes { title startsAt ... on ClassSession { viewerBooking { cancelledAt } } } }
        bookings(from: "2044-01-02T00:00:00-07:00") { nodes { classSession { startsAt } user { id } } }
        all: bookings(includeCancelled: true) { totalCount }
      } }
      """
    let found = try server.data(query, as: viewer)
    let day = ["2044-01-02T07:00:00.000Z", "2044-01-02T18:00:00.000Z", "2044-01-03T06:00:00.000Z"]
    #expect(found.strings("viewer.agenda.nodes", "startsAt") == day)
    #expect(found.at("viewer.agenda.nodes.0.viewerBooking") == ["cancelledAt": nil])
    #expect(
      found.strings("viewer.bookings.nodes", "classSession.startsAt") == day + [
        "2044-01-03T07:00:00.000Z"
      ])
    #expect(found.list("viewer.bookings.nodes", "user.id").allSatisfy { $0 == viewer.json })
    #expect(found.at("viewer.all.totalCount") == 6)
    #expect(
      try server.data(query, as: other).strings("viewer.agenda.nodes", "startsAt")
        == ["2044-01-02T12:00:00.000Z"])
    #expect(try server.data(query) == ["viewer": nil])
  }

  @Test func `C7-HOME.1d: a day without classes counts zero`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, trainer) = (try data.person(), try data.trainer())
    let program = try data.program("Yoga", trainers: [trainer])
    try data.book(viewer, data.classSession(program, by: trainer, at: "2044-02-02 00:00Z"))
    let found = try server.data(
      """
      { viewer {
        empty: agenda(from: "2044-02-01T00:00:00.000Z", to: "2044-02-02T00:00:00.000Z") { ...A }
        full: agenda(from: "2044-02-02T00:00:00.000Z", to: "2044-02-03T00:00:00.000Z") { ...A }
      } }
      fragment A on ScheduledConnection { totalCount nodes { title } }
      """, as: viewer)
    #expect(
      found == [
        "viewer": [
          "empty": ["totalCount": 0, "nodes": []],
          "full": ["totalCount": 1, "nodes": [["title": "Yoga"]]],
        ]
      ])
  }

  @Test func `C7-HOME.1e: a visitor sees all classes of today`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let trainer = try data.trainer()
    for (title, hour) in [("Spin", 18), ("Yoga", 9)] {
      let program = try data.program(title, "GROUP", trainers: [trainer])
      _ = try data.classSession(program, by: trainer, at: "2044-03-01 \(hour):00Z")
    }
    _ = try data.post(.event, by: trainer, title: "Party", startsAt: "2044-03-01 12:00Z")
    let found = try server.data(
      """
      { schedule(filter: {
        kinds: [CLASS], from: "2044-03-01T00:00:00.000Z", to: "2044-03-02T00:00:00.000Z"
      }) { totalCount nodes { __typename title ... on ClassSession { viewerBooking { id } } } } }
      """)
    func session(_ title: JSONValue) -> JSONValue {
      ["__typename": "ClassSession", "title": title, "viewerBooking": nil]
    }
    #expect(
      found == ["schedule": ["totalCount": 2, "nodes": [session("Yoga"), session("Spin")]]])
  }

  /// The titles of this sort of training which hold the word.
  private func programs(_ server: GraphServer, _ training: String, _ word: String) throws
    -> [String]
  {
    try server.data("{ programs(training: \(training)) { nodes { title training } } }")
      .at("programs.nodes")?.array?.filter { $0["title"]?.string?.contains(word) == true }
      .map {
        #expect($0["training"] == .string(training))
        return $0["title"]?.string ?? ""
      } ?? []
  }

  @Test func `C7-PT.3: the personal training classes`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let word = GraphData.unique("lift")
    for (title, training) in [("B", "PERSONAL"), ("C", "SPORTS"), ("A", "PERSONAL")] {
      _ = try data.program("\(title) \(word)", training, trainers: [])
    }
    #expect(try programs(server, "PERSONAL", word) == ["A \(word)", "B \(word)"])
  }

  @Test func `C7-PT.5: the sports training classes`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let word = GraphData.unique("ball")
    for (title, training) in [("B", "SPORTS"), ("C", "GROUP"), ("A", "SPORTS")] {
      _ = try data.program("\(title) \(word)", training, trainers: [])
    }
    #expect(try programs(server, "SPORTS", word) == ["A \(word)", "B \(word)"])
    #expect(try programs(server, "GROUP", word) == ["C \(word)"])
  }

  @Test func `C7-PT.11: a training shows its place and title`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let gym = try data.location("Gym")
    func node(_ key: NodeKey) throws -> JSONValue? {
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Program { title location { name } } } }",
        ["id": key.json]
      )["node"]
    }
    #expect(
      try node(data.program("Boxing", trainers: [], location: gym))
        == ["title": "Boxing", "location": ["name": "Gym"]])
    #expect(
      try node(data.program("Running", trainers: [])) == ["title": "Running", "location": nil])
  }

  @Test func `C7-PT.12: a training names its own trainers only`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (zoe, anna, ben) = (
      try data.trainer(name: "Zoe"), try data.trainer(name: "Anna"), try data.trainer(name: "Ben")
    )
    let boxing = try data.program("Boxing", trainers: [zoe, anna])
    _ = try data.program("Running", trainers: [ben, anna])
    let viewer = try data.person()
    func trainers(_ person: Person?) throws -> [String] {
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on Program { trainers { displayName } } } }",
        ["id": boxing.json], as: person
      ).strings("node.trainers", "displayName")
    }
    #expect(try trainers(nil) == ["Anna", "Zoe"])
    try data.block(zoe, viewer)
    #expect(try trainers(viewer) == ["Anna"])
  }

  @Test func `C7-PT.18: free times have seats left, are to come and overlap no booked one`() throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (trainer, other, member) = (try data.trainer(), try data.trainer(), try data.person())
    let boxing = try data.program("Boxing", trainers: [trainer, other])
    let running = try data.program("Running", trainers: [trainer])
    func session(
      _ program: NodeKey, _ person: Person, _ time: String, seats: Int = 1, booked: Int = 0
    ) throws {
      let key = try data.classSession(program, by: person, at: time, capacity: seats)
      for _ in 0..<booked { try data.book(booked > 1 ? data.person() : member, key) }
    }
    try session(boxing, trainer, "2045-01-01 08:00Z")
    try session(boxing, trainer, "2045-01-01 10:00Z", seats: 3, booked: 2)
    try session(running, trainer, "2045-01-01 10:30Z")  // the trainer boxes then
    try session(boxing, other, "2045-01-01 10:30Z")
    try session(running, trainer, "2045-01-01 11:00Z")  // after the boxing
    try session(boxing, trainer, "2045-01-01 14:00Z", booked: 1)  // full
    try session(boxing, trainer, "2020-01-01 08:00Z")  // past
    let found = try server.data(
      """
      query($program: ID!, $trainer: ID!, $from: DateTime!, $to: DateTime!) {
        node(id: $program) { ... on Program {
          classSessions(from: $from, to: $to, isBookable: true) { nodes { startsAt seatsLeft } }
          his: classSessions(from: $from, to: $to, trainerId: $trainer, isBookable: true) {
            nodes { startsAt } }
          all: classSessions(from: $from, to: $to) { totalCount } } }
        user(by: {id: $trainer}) { trainerProfile {
          classSessions(from: $from, to: $to, isBookable: true) { nodes { title startsAt } } } }
      }
      """,
      [
        "program": boxing.json, "trainer": trainer.json, "from": "2019-01-01T00:00:00.000Z",
        "to": "2046-01-01T00:00:00.000Z",
      ])
    #expect(
      found.at("node.classSessions.nodes") == [
        ["startsAt": "2045-01-01T08:00:00.000Z", "seatsLeft": 1],
        ["startsAt": "2045-01-01T10:00:00.000Z", "seatsLeft": 1],
        ["startsAt": "2045-01-01T10:30:00.000Z", "seatsLeft": 1],
      ])
    #expect(
      found.strings("node.his.nodes", "startsAt")
        == ["2045-01-01T08:00:00.000Z", "2045-01-01T10:00:00.000Z"])
    #expect(found.at("node.all.totalCount") == 5)
    #expect(
      found.strings("user.trainerProfile.classSessions.nodes", "title")
        == ["Boxing", "Boxing", "Running"])
    #expect(
      found.at("user.trainerProfile.classSessions.nodes.2.startsAt") == "2045-01-01T11:00:00.000Z")
  }

  @Test func `C7-PT.24: a booking shows training, trainer, date and time`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (viewer, trainer) = (try data.person(), try data.trainer(name: "Zoe"))
    let gym = try data.location("Gym")
    let program = try data.program("Boxing", trainers: [trainer], location: gym)
    let booking = try data.book(
      viewer, data.classSession(program, by: trainer, at: "2044-04-01 08:30Z"))
    func shown(_ person: Person?) throws -> JSONValue? {
      try server.data(
        """
        query($id: ID!) { node(id: $id) { ... on Booking { classSession {
          title trainer { displayName } startsAt endsAt location { name } } } } }
        """, ["id": booking.json], as: person
      )["node"]
    }
    let content: JSONValue = [
      "classSession": [
        "title": "Boxing", "trainer": ["displayName": "Zoe"],
        "startsAt": "2044-04-01T08:30:00.000Z",
        "endsAt": "2044-04-01T09:30:00.000Z", "location": ["name": "Gym"],
      ]
    ]
    #expect(try shown(viewer) == content)
    #expect(try shown(trainer) == content)
    #expect(try shown(data.person(roles: ["STAFF"])) == content)
    for person in [nil, try data.person()] { #expect(try shown(person) == .null) }
  }

  @Test func `C7-CL.3: the classes of a day, in time order, with the seats left`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let trainer = try data.trainer()
    let spin = try data.program("Spin", "GROUP", trainers: [trainer])
    let yoga = try data.program("Yoga", "GROUP", trainers: [trainer])
    _ = try data.classSession(spin, by: trainer, at: "2044-05-01 18:00Z", capacity: 8)
    let early = try data.classSession(yoga, by: trainer, at: "2044-05-01 00:00Z", capacity: 5)
    for person in try data.people(2) { try data.book(person, early) }
    try data.book(data.person(), early, isCancelled: true)
    _ = try data.classSession(spin, by: trainer, at: "2044-05-02 00:00Z")
    let found = try server.data(
      """
      { schedule(filter: {
        kinds: [CLASS], from: "2044-05-01T00:00:00.000Z", to: "2044-05-02T00:00:00.000Z"
      }) { nodes { title startsAt ... on ClassSession { seatsLeft capacity } } } }
      """)
    #expect(
      found.at("schedule.nodes") == [
        ["title": "Yoga", "startsAt": "2044-05-01T00:00:00.000Z", "seatsLeft": 3, "capacity": 5],
        ["title": "Spin", "startsAt": "2044-05-01T18:00:00.000Z", "seatsLeft": 8, "capacity": 8],
      ])
  }
}
