import JSON
import TestSupport
import Testing

/// C7Fit: signing in, booking, recording, asking, and what staff load.
@Suite(.usesCluster) struct C7FitBookingTests {
  @Test func `C7-CORE.10a: a user signs in with username and password`() throws {
    let server = try GraphServer.newcomers
    let user = try server.signUp("Runner")
    let payload = try server.mutate(
      "signIn(username: $name, password: \"correct horse\")",
      "isNewUser session { token viewer { user { id } } }",
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
        "signIn(username: $name, password: $password)", "isNewUser session { token }",
        ["name: String!": .string(name), "password: String!": .string(password)], as: nil)
      #expect(
        payload == [
          "isNewUser": false, "session": nil,
          "userErrors": [
            [
              "code": "WRONG_CREDENTIALS",
              "message": "Name, password, token or credential is wrong.", "field": nil,
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
      "isNewUser session { expiresAt viewer { email emailVerified user { displayName roles } } }",
      ["name: String!": .string(name)], as: nil)
    #expect(payload["isNewUser"] == true)
    #expect(
      payload.at("session.viewer") == [
        "email": "r@example.org", "emailVerified": false,
        "user": ["displayName": .string(name), "roles": ["MEMBER"]],
      ])
    #expect(
      try server.refusals(
        "signUp(input: {username: \"no spaces\", password: \"short\", email: \"r@\"})", as: nil)
        == [
          Refusal("INVALID", "input", "username"), Refusal("INVALID", "input", "password"),
          Refusal("INVALID", "input", "email"),
        ])
  }

  // MARK: Booking

  private static let session = """
    query($id: ID!) { node(id: $id) { ... on ClassSession {
      seatsLeft viewerBooking { user { id } cancelledAt } } } }
    """

  private func seen(_ server: GraphServer, _ id: NodeKey, by person: Person?) throws -> JSONValue? {
    try server.data(Self.session, ["id": id.json], as: person)["node"]
  }

  @Test func `C7-PT.28: a booking is there once confirmed, and takes the trainer's time`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (client, other) = (try data.person(), try data.person())
    let (trainer, stranger) = (try data.trainer(name: "Tara"), try data.person())
    let boxing = try data.program("Boxing", trainers: [trainer])
    let rowing = try data.program("Rowing", trainers: [trainer])
    let chosen = try data.classSession(boxing, by: trainer, at: "2045-01-01 12:00Z")
    let overlapping = try data.classSession(rowing, by: trainer, at: "2045-01-01 12:30Z")
    let book = "bookSession(sessionId: $id)"
    var bookings: Set<String> = []
    for _ in 0..<2 {
      let payload = try server.mutate(
        book,
        """
        booking { id cancelledAt user { id }
          session { title startsAt endsAt seatsLeft trainer { displayName } } }
        """, ["id: ID!": chosen.json], as: client)
      bookings.insert(payload.at("booking.id")?.string ?? "")
      #expect(payload.at("booking.user.id") == client.json)
      #expect(
        payload.at("booking.session") == [
          "title": "Boxing", "startsAt": "2045-01-01T12:00:00Z",
          "endsAt": "2045-01-01T13:00:00Z", "seatsLeft": 0, "trainer": ["displayName": "Tara"],
        ])
    }
    #expect(bookings.count == 1)
    #expect(
      try server.data("{ viewer { bookings { nodes { session { title } } } } }", as: client)
        == ["viewer": ["bookings": ["nodes": [["session": ["title": "Boxing"]]]]]])
    // Who booked is the trainer's to know, and nobody else's.
    let id = try #require(bookings.first)
    for (person, sees) in [(client, true), (trainer, true), (stranger, false), (nil, false)] {
      #expect(
        try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": .string(id)], as: person)
          == ["node": sees ? ["id": .string(id)] : nil])
    }
    let past = try data.classSession(boxing, by: trainer, at: "2020-01-01 12:00Z")
    for (target, code) in [(chosen, "FULL"), (overlapping, "OVERLAP"), (past, "PAST")] {
      #expect(
        try server.refusals(book, ["id: ID!": target.json], as: other)
          == [Refusal(code, "sessionId")])
      #expect(try seen(server, target, by: other)?["viewerBooking"] == .null)
    }
    #expect(
      try server.refusals(book, ["id: ID!": boxing.json], as: other)
        == [Refusal("NOT_FOUND", "sessionId")])
    #expect(
      try server.refusals(book, ["id: ID!": past.json], as: trainer)
        == [Refusal("PAST", "sessionId")])
    #expect(
      try server.mutationErrorCodes(book, ["id: ID!": chosen.json], as: nil) == ["UNAUTHENTICATED"])
  }

  @Test func `C7-CL.7: a class takes as many as it has seats, however many want one`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let trainer = try data.trainer()
    let people = try data.people(8)
    let yoga = try data.program("Yoga", "GROUP", trainers: [trainer])
    let session = try data.classSession(yoga, by: trainer, at: "2045-02-01 12:00Z", capacity: 3)
    let answers = try crowd(of: people.count) { index in
      try server.refusals(
        "bookSession(sessionId: $id)", ["id: ID!": session.json], as: people[index])
    }
    #expect(answers.filter { $0.isEmpty }.count == 3)
    #expect(answers.filter { $0 == [Refusal("FULL", "sessionId")] }.count == 5)
    for (person, answer) in zip(people, answers) {
      let seen = try seen(server, session, by: person)
      #expect(seen?["seatsLeft"] == 0)
      let own: JSONValue =
        answer.isEmpty ? ["user": ["id": person.json], "cancelledAt": nil] : .null
      #expect(seen?["viewerBooking"] == own)
    }
  }

  @Test func `C7-CL.x: a seat given back before the start is free again`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (trainer, client, other) = (try data.trainer(), try data.person(), try data.person())
    let yoga = try data.program("Yoga", "GROUP", trainers: [trainer])
    let session = try data.classSession(yoga, by: trainer, at: "2045-03-01 12:00Z")
    let booking = try server.make(
      "bookSession(sessionId: $id)", "booking", ["id: ID!": session.json], as: client)
    let cancel = "cancelBooking(bookingId: $id)"
    #expect(
      try server.refusals(cancel, ["id: ID!": booking.json], as: other)
        == [Refusal("NOT_FOUND", "bookingId")])
    for _ in 0..<2 {
      let payload = try server.mutate(
        cancel, "booking { id session { seatsLeft viewerBooking { id } } }",
        ["id: ID!": booking.json], as: client)
      #expect(
        payload["booking"]
          == ["id": booking.json, "session": ["seatsLeft": 1, "viewerBooking": nil]])
    }
    let own =
      "{ viewer { bookings { totalCount } all: bookings(includeCancelled: true) { totalCount } } }"
    #expect(
      try server.data(own, as: client)
        == ["viewer": ["bookings": ["totalCount": 0], "all": ["totalCount": 1]]])
    try server.mutate("bookSession(sessionId: $id)", ["id: ID!": session.json], as: other)
    #expect(
      try server.refusals("bookSession(sessionId: $id)", ["id: ID!": session.json], as: client)
        == [Refusal("FULL", "sessionId")])
    let over = try data.book(client, data.classSession(yoga, by: trainer, at: "2020-01-01 12:00Z"))
    #expect(
      try server.refusals(cancel, ["id: ID!": over.json], as: client)
        == [Refusal("PAST", "bookingId")])
  }

  // MARK: One's own records

  @Test func `C7-ACT.3h: a track is saved, titled by its time, and deleted`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (runner, other) = (try data.person(), try data.person())
    let save = "saveActivityTrack(input: $input)"
    func point(_ time: JSONValue, _ latitude: JSONValue, _ longitude: JSONValue = 7) -> JSONValue {
      ["at": time, "coordinates": ["latitude": latitude, "longitude": longitude]]
    }
    let payload = try server.mutate(
      save, "activityTrack { id title duration distance path { at coordinates { latitude } } }",
      [
        "input: SaveActivityTrackInput!": [
          "startedAt": "2045-04-01T06:00:00Z", "endedAt": "2045-04-01T06:30:00Z",
          "path": [
            point("2045-04-01T06:00:00Z", 50), point("2045-04-01T06:10:00Z", 50.01),
            point("2045-04-01T06:30:00Z", 50),
          ],
        ]
      ], as: runner)
    let track = try #require(payload["activityTrack"])
    #expect(track["title"] == "2045-04-01 06:00")
    #expect(track["duration"] == 1_800)
    // A degree of latitude is 111,195 metres.
    #expect(abs((track["distance"]?.double ?? 0) - 2_223.9) < 0.5)
    #expect(
      track["path"]?.array?.map { $0["at"] } == [
        "2045-04-01T06:00:00Z", "2045-04-01T06:10:00Z", "2045-04-01T06:30:00Z",
      ])
    let id = try #require(track["id"])
    let own = "{ viewer { activityTracks { nodes { id title } } } }"
    #expect(
      try server.data(own, as: runner).at("viewer.activityTracks.nodes")
        == [["id": id, "title": "2045-04-01 06:00"]])
    #expect(try server.data(own, as: other).at("viewer.activityTracks.nodes") == [])
    #expect(
      try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": id], as: other)
        == ["node": nil])
    #expect(
      try server.refusals(
        save,
        [
          "input: SaveActivityTrackInput!": [
            "startedAt": "2045-04-01T06:00:00Z", "endedAt": "2045-04-01T05:00:00Z", "path": [],
          ]
        ], as: runner) == [Refusal("INVALID", "input", "endedAt")])
    #expect(
      try server.refusals(
        save,
        [
          "input: SaveActivityTrackInput!": [
            "startedAt": "2045-04-01T06:00:00Z", "endedAt": "2045-04-01T07:00:00Z",
            "path": [
              point("2045-04-01T06:20:00Z", 50), point("2045-04-01T06:10:00Z", 50),
              point("2045-04-01T06:30:00Z", 91),
            ],
          ]
        ], as: runner) == [
          Refusal("INVALID", "input", "path", "1"), Refusal("INVALID", "input", "path", "2"),
        ])
    let delete = "deleteActivityTrack(activityTrackId: $id)"
    #expect(
      try server.refusals(delete, ["id: ID!": id], as: other)
        == [Refusal("NOT_FOUND", "activityTrackId")])
    #expect(
      try server.mutate(delete, "deletedId", ["id: ID!": id], as: runner)["deletedId"] == id)
    #expect(try server.data(own, as: runner).at("viewer.activityTracks.nodes") == [])
  }

  @Test func `C7-ACT.4c: each test result is kept, the latest of each test shown`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (runner, other) = (try data.person(), try data.person())
    let record = "recordTestResult(test: $test, value: $value)"
    let entered: [(JSONValue, JSONValue)] = [
      ("MILE_TIME", 400.5), ("PUSH_UPS_PER_MINUTE", 30), ("SIT_UPS_PER_MINUTE", 0),
      ("LEG_PRESS", 120), ("BENCH_PRESS", 62.5), ("LAT_PULL", 50), ("MILE_TIME", 390),
    ]
    for (test, value) in entered {
      let payload = try server.mutate(
        record, "testResults { test value }",
        ["test: FitnessTest!": test, "value: Float!": value], as: runner)
      #expect(payload["testResults"]?.array?.contains(["test": test, "value": value]) == true)
    }
    let own = "{ viewer { testResults { test value } } }"
    #expect(
      try server.data(own, as: runner).at("viewer.testResults") == [
        ["test": "MILE_TIME", "value": 390], ["test": "PUSH_UPS_PER_MINUTE", "value": 30],
        ["test": "SIT_UPS_PER_MINUTE", "value": 0], ["test": "LEG_PRESS", "value": 120],
        ["test": "BENCH_PRESS", "value": 62.5], ["test": "LAT_PULL", "value": 50],
      ])
    #expect(try server.data(own, as: other).at("viewer.testResults") == [])
    #expect(
      try server.refusals(
        record, ["test: FitnessTest!": "LEG_PRESS", "value: Float!": -1], as: runner)
        == [Refusal("INVALID", "value")])
    #expect(
      try server.mutationErrorCodes(
        record, ["test: FitnessTest!": "LEG_PRESS", "value: Float!": 1], as: nil)
        == ["UNAUTHENTICATED"])
  }

  @Test func `C7-MORE.3: a question to a trainer is a draft to the club, or a message`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let (client, trainer, stranger) = (
      try data.person(), try data.trainer(name: "Tara"), try data.person()
    )
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    try server.mutate(
      "setAppConfig(input: {app: \"C7Fit\", supportEmail: \"club@c7.example\"})", as: staff)
    let draft = try server.data(
      "query($id: ID!) { shareDraft(channel: EMAIL, subjectId: $id) { to subject body } }",
      ["id": trainer.json], as: client)
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

  // MARK: What staff load

  @Test func `C7-I.a: staff make users trainers, and nobody else does`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let (user, other) = (try data.person(), try data.person())
    let set = "setUserRoles(userId: $id, roles: [TRAINER])"
    #expect(try server.refusals(set, ["id: ID!": user.json], as: other) == [Refusal("FORBIDDEN")])
    #expect(try server.refusals(set, ["id: ID!": user.json], as: user) == [Refusal("FORBIDDEN")])
    let payload = try server.mutate(
      set, "users { id roles trainerProfile { programs { id } } }", ["id: ID!": user.json],
      as: staff)
    let roles: JSONValue = ["MEMBER", "TRAINER"]
    #expect(
      payload["users"]
        == [["id": user.json, "roles": roles, "trainerProfile": ["programs": []]]])
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
    let schedule = "scheduleSessions(input: $input)"
    func times(_ trainer: Person, _ times: JSONValue...) -> JSONValue {
      [
        "programId": made.json, "trainerId": trainer.json, "startsAt": .array(times),
        "capacity": 2,
      ]
    }
    for _ in 0..<2 {
      let payload = try server.mutate(
        schedule, "sessions { title startsAt endsAt capacity seatsLeft trainer { displayName } }",
        [
          "input: ScheduleSessionsInput!": times(
            tara, "2045-05-02T10:00:00Z", "2045-05-01T10:00:00Z")
        ], as: tara)
      #expect(
        payload.strings("sessions", "startsAt") == ["2045-05-01T10:00:00Z", "2045-05-02T10:00:00Z"])
      #expect(
        payload.at("sessions.0") == [
          "title": "Boxing", "startsAt": "2045-05-01T10:00:00Z",
          "endsAt": "2045-05-01T10:45:00Z", "capacity": 2, "seatsLeft": 2,
          "trainer": ["displayName": "Tara"],
        ])
    }
    #expect(
      try server.refusals(
        schedule, ["input: ScheduleSessionsInput!": times(tom, "2045-05-01T10:00:00Z")], as: tara)
        == [Refusal("FORBIDDEN", "input", "trainerId")])
    try server.mutate(
      schedule, ["input: ScheduleSessionsInput!": times(tom, "2045-05-01T11:00:00Z")], as: staff)
    #expect(
      try server.refusals(
        schedule,
        [
          "input: ScheduleSessionsInput!": times(
            tom, "2045-05-01T10:00:00Z", "2020-05-01T10:00:00Z")
        ], as: staff) == [Refusal("PAST", "input", "startsAt", "1")])
    let found = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on Program { title training durationMinutes
        location { name } trainers { displayName }
        sessions(from: "2045-05-01T00:00:00Z", to: "2045-05-02T00:00:00Z", onlyOpen: true) {
          nodes { startsAt trainer { displayName } } } } } }
      """, ["id": made.json], as: client)
    #expect(
      found["node"] == [
        "title": "Boxing", "training": "SPORTS", "durationMinutes": 45,
        "location": ["name": "Gym"], "trainers": [["displayName": "Tara"], ["displayName": "Tom"]],
        "sessions": [
          "nodes": [
            ["startsAt": "2045-05-01T10:00:00Z", "trainer": ["displayName": "Tara"]],
            ["startsAt": "2045-05-01T11:00:00Z", "trainer": ["displayName": "Tom"]],
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
        as: staff) == [Refusal("INVALID", "input", "trainerIds")])
    #expect(
      try server.make(
        upsert, "program",
        ["input: UpsertProgramInput!": program(["programId": made.json, "title": "Kickboxing"])],
        as: staff) == made)
  }

  @Test func `C7-HOME.2: staff keep the list of videos, of which each day shows the next`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let set = "setDailyContent(videoUrls: $videos, motivations: $words)"
    let query = """
      { a: dailyContent(date: "1970-01-01") { ...C } b: dailyContent(date: "1970-01-02") { ...C }
        c: dailyContent(date: "1970-01-03") { ...C } }
      fragment C on DailyContent { videoUrl motivation }
      """
    func shown(_ name: String) throws -> [JSONValue] {
      let found = try server.data(query)
      return ["a", "b", "c"].map { found.at("\($0).\(name)") ?? .null }
    }
    try server.mutate(
      set,
      [
        "videos: [URL!]": ["https://v.example/0", "https://v.example/1"],
        "words: [String!]": ["Go", "On", "Up"],
      ], as: staff)
    #expect(
      try shown("videoUrl")
        == ["https://v.example/0", "https://v.example/1", "https://v.example/0"])
    #expect(try shown("motivation") == ["Go", "On", "Up"])
    // What is left out stays.
    try server.mutate(
      "setDailyContent(videoUrls: $videos)", ["videos: [URL!]": ["https://v.example/2"]], as: staff)
    #expect(try shown("videoUrl") == Array(repeating: "https://v.example/2", count: 3))
    #expect(try shown("motivation") == ["Go", "On", "Up"])
    #expect(
      try server.refusals(
        set,
        [
          "videos: [URL!]": ["https://v.example/3", "javascript:alert(1)"],
          "words: [String!]": ["Go"],
        ], as: staff) == [Refusal("INVALID", "videoUrls", "1")])
    #expect(
      try server.refusals(
        set, ["videos: [URL!]": [], "words: [String!]": []], as: data.person())
        == [Refusal("FORBIDDEN")])
    #expect(try shown("motivation") == ["Go", "On", "Up"])
  }

  @Test func `C7-I.c: staff and services load products, each one once`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let service = try data.person("loader", roles: ["MEMBER", "SERVICE"])
    let upsert = "upsertProduct(input: $input)"
    let id = GraphData.unique("x")
    func product(_ name: JSONValue, _ price: JSONValue = nil) -> JSONValue {
      [
        "retailer": "eBay", "externalId": .string(id), "name": name, "brand": "C7Fit",
        "description": "Warm", "price": price, "buyUrl": "https://shop.example/1",
      ]
    }
    let made = try server.make(
      upsert, "product", ["input: UpsertProductInput!": product("Hoodie")], as: staff)
    let price: JSONValue = ["amount": "29.90", "currency": "EUR"]
    #expect(
      try server.make(
        upsert, "product", ["input: UpsertProductInput!": product("Warm hoodie", price)],
        as: service) == made)
    let found = try server.data(
      """
      query($id: ID!) { product(id: $id) {
        name brand description buyUrl price { amount currency } } }
      """, ["id": made.json])
    #expect(
      found["product"] == [
        "name": "Warm hoodie", "brand": "C7Fit", "description": "Warm",
        "buyUrl": "https://shop.example/1", "price": price,
      ])
    #expect(
      try server.data("{ products(search: \"C7Fit warm hoodie\") { nodes { id } } }")
        .list("products.nodes", "id").filter { $0 == made.json }.count == 1)
    #expect(
      try server.refusals(
        upsert, ["input: UpsertProductInput!": product("Hoodie")], as: data.person())
        == [Refusal("FORBIDDEN")])
    #expect(
      try server.refusals(
        upsert,
        [
          "input: UpsertProductInput!": [
            "retailer": "eBay", "externalId": "", "name": "x", "brand": "y",
            "price": ["amount": "-1", "currency": "euro"], "buyUrl": "ftp://shop.example",
          ]
        ], as: staff) == [
          Refusal("REQUIRED", "input", "externalId"), Refusal("INVALID", "input", "buyUrl"),
          Refusal("INVALID", "input", "price", "amount"),
          Refusal("INVALID", "input", "price", "currency"),
        ])
  }
}
