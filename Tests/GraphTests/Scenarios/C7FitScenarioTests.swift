import JSON
import TestSupport
import Testing

/// C7Fit from its first day on: a club opens on an empty database, and a visitor becomes a member
/// who trains, books and asks.
@Suite(.usesCluster) struct C7FitScenarioTests {
  /// The day of the scenario, in the zone of the phone, five hours behind UTC.
  private static let today: JSONValue = [
    "from": "2045-06-10T00:00:00-05:00", "to": "2045-06-11T00:00:00-05:00",
  ]

  @Test func `a club opens, and a member trains there`() throws {
    let server = try GraphServer.new()
    defer { server.stop() }
    let club = try open(server)
    try lookAround(server, club)
    let member = try join(server)
    try bookTraining(server, club, as: member)
    try bookClass(server, club, as: member)
    try followChanges(server, club, as: member)
    try record(server, as: member)
    try ask(server, club, as: member)
  }

  /// The people and objects of the club.
  private struct Club {
    var staff: Person
    var tara: Person
    var tom: Person
    var boxing: NodeKey
    var yoga: NodeKey
  }

  /// Staff load what the club offers.
  private func open(_ server: GraphServer) throws -> Club {
    let staff = try server.signUp("owner")
    // The first of the staff is made by the operator.
    try server.data().run("UPDATE app_user SET roles = '{MEMBER,STAFF}' WHERE id = \(staff.key)")
    let (tara, tom) = (try server.signUp("tara"), try server.signUp("tom"))
    for (trainer, name, bio) in [(tara, "Tara", "Boxes."), (tom, "Tom", "Bends.")] {
      try server.mutate(
        "setUserRoles(userId: $id, roles: [TRAINER])", ["id: ID!": trainer.json], as: staff)
      try server.mutate(
        "updateProfile(input: {displayName: $name, bio: $bio})",
        ["name: String": .string(name), "bio: String": .string(bio)], as: trainer)
    }
    let gym = try server.make(
      "createLocation(input: $input)", "location",
      [
        "input: CreateLocationInput!": [
          "name": "C7 Gym", "placeType": "FITNESS",
          "coordinates": ["latitude": 41.9, "longitude": -87.6],
        ]
      ], as: staff)
    func program(_ title: JSONValue, _ training: JSONValue, _ trainers: [Person]) throws -> NodeKey
    {
      try server.make(
        "createProgram(input: $input)", "program",
        [
          "input: CreateProgramInput!": [
            "title": title, "training": training, "durationMinutes": 60, "locationId": gym.json,
            "trainerIds": .array(trainers.map(\.json)),
          ]
        ], as: staff)
    }
    let boxing = try program("Boxing", "PERSONAL", [tara, tom])
    let yoga = try program("Yoga", "GROUP", [tom])
    _ = try program("Sprint", "SPORTS", [tara])
    for (program, trainer, times, seats) in [
      (
        boxing, tara,
        ["2045-06-10T15:00:00.000Z", "2045-06-10T15:30:00.000Z", "2045-06-12T15:00:00.000Z"], 1
      ),
      (yoga, tom, ["2045-06-10T22:00:00.000Z", "2045-06-11T05:00:00.000Z"], 2),
    ] as [(NodeKey, Person, [JSONValue], JSONValue)] {
      try server.mutate(
        "scheduleClassSessions(input: $input)",
        [
          "input: ScheduleClassSessionsInput!": [
            "programId": program.json, "trainerId": trainer.json, "startsAt": .array(times),
            "capacity": seats,
          ]
        ], as: trainer)
    }
    try server.mutate(
      "setAppConfig(app: \"C7Fit\", input: {supportEmail: \"club@c7.example\"})", as: staff)
    try server.mutate(
      """
      setDailyContent(videoUrls: ["https://v.example/warm-up"], motivations: ["Go", "On"])
      """, as: staff)
    for (id, name) in [("1", "Hoodie"), ("2", "Bottle")] as [(JSONValue, JSONValue)] {
      try server.mutate(
        "upsertProduct(input: $input)",
        [
          "input: UpsertProductInput!": [
            "retailer": "eBay", "externalId": id, "name": name, "brand": "C7Fit",
            "price": ["amount": "20.00", "currency": "USD"], "buyUrl": "https://shop.example/c7",
          ]
        ], as: staff)
    }
    return Club(staff: staff, tara: tara, tom: tom, boxing: boxing, yoga: yoga)
  }

  /// Reads what an anonymous client sees at the first launch.
  private func lookAround(_ server: GraphServer, _ club: Club) throws {
    let home = try server.data(
      """
      query($from: DateTime!, $to: DateTime!) {
        viewer { user { displayName } }
        schedule(filter: {from: $from, to: $to, kinds: [CLASS]}) { nodes {
          title startsAt ... on ClassSession { seatsLeft trainer { displayName } } } }
        dailyContent(date: "1970-01-02") { videoUrl motivation }
        users(role: TRAINER) { nodes { displayName bio trainerProfile { programs { title } } } }
        products(search: "C7Fit", orderBy: NEWEST) { nodes { name buyUrl } }
        programs(training: PERSONAL) { nodes { title location { name } trainers { displayName } } }
        sports: programs(training: SPORTS) { nodes { title } }
        appConfig(app: "C7Fit") { supportEmail }
      }
      """, Self.today)
    #expect(home["viewer"] == .null)
    #expect(home.strings("schedule.nodes", "title") == ["Boxing", "Boxing", "Yoga"])
    #expect(
      home.at("schedule.nodes.2") == [
        "title": "Yoga", "startsAt": "2045-06-10T22:00:00.000Z", "seatsLeft": 2,
        "trainer": ["displayName": "Tom"],
      ])
    #expect(
      home["dailyContent"] == ["videoUrl": "https://v.example/warm-up", "motivation": "On"])
    #expect(
      home.at("users.nodes") == [
        [
          "displayName": "Tara", "bio": "Boxes.",
          "trainerProfile": ["programs": [["title": "Boxing"], ["title": "Sprint"]]],
        ],
        [
          "displayName": "Tom", "bio": "Bends.",
          "trainerProfile": ["programs": [["title": "Boxing"], ["title": "Yoga"]]],
        ],
      ])
    #expect(home.strings("products.nodes", "name") == ["Bottle", "Hoodie"])
    #expect(
      home.at("programs.nodes") == [
        [
          "title": "Boxing", "location": ["name": "C7 Gym"],
          "trainers": [["displayName": "Tara"], ["displayName": "Tom"]],
        ]
      ])
    #expect(home.at("sports.nodes") == [["title": "Sprint"]])
    #expect(home["appConfig"] == ["supportEmail": "club@c7.example"])
    #expect(
      try server.mutationErrorCodes(
        "bookClassSession(classSessionId: $id)", ["id: ID!": club.boxing.json], as: nil)
        == ["UNAUTHENTICATED"])
  }

  /// A visitor registers, and later signs in, at the second try.
  private func join(_ server: GraphServer) throws -> Person {
    let member = try server.signUp("mia", ", displayName: \"Mia\"")
    try server.mutate("signOut", as: member)
    let signIn = "signIn(username: $name, password: $password)"
    #expect(
      try server.refusals(
        signIn, ["name: String!": .string(member.username), "password: String!": "correct hors"],
        as: nil) == [Refusal("WRONG_CREDENTIALS")])
    let again = try GraphServer.person(
      server.mutate(
        signIn, "token viewer { user { id } }",
        ["name: String!": .string(member.username), "password: String!": "correct horse"], as: nil),
      username: member.username)
    let home = try server.data(Self.agenda, Self.today, as: again)
    #expect(home.at("viewer.user.displayName") == "Mia")
    #expect(home.at("viewer.agenda") == ["totalCount": 0, "nodes": []])
    return again
  }

  /// Today, signed in.
  private static let agenda = """
    query($from: DateTime!, $to: DateTime!) { viewer {
      user { displayName }
      agenda(from: $from, to: $to) { totalCount nodes { title startsAt } } } }
    """

  private static let free = """
    query($program: ID!, $trainer: ID!) { node(id: $program) { ... on Program {
      trainers { id displayName }
      classSessions(from: "2045-06-10T00:00:00.000Z", to: "2045-06-17T00:00:00.000Z",
        trainerId: $trainer, isBookable: true) { nodes { id startsAt } } } } }
    """

  /// A personal training: trainer, free time, confirmation.
  private func bookTraining(_ server: GraphServer, _ club: Club, as member: Person) throws {
    func free() throws -> JSONValue {
      try server.data(
        Self.free, ["program": club.boxing.json, "trainer": club.tara.json], as: member
      )["node"] ?? .null
    }
    let choice = try free()
    #expect(choice.strings("trainers", "displayName") == ["Tara", "Tom"])
    let times = choice.strings("classSessions.nodes", "startsAt")
    #expect(
      times == ["2045-06-10T15:00:00.000Z", "2045-06-10T15:30:00.000Z", "2045-06-12T15:00:00.000Z"])
    let ids = choice.list("classSessions.nodes", "id")
    try #require(ids.count == 3)
    let payload = try server.mutate(
      "bookClassSession(classSessionId: $id)",
      """
      booking { classSession { title startsAt endsAt location { name } trainer { displayName } } }
      """, ["id: ID!": ids[0]], as: member)
    #expect(
      payload.at("booking.classSession") == [
        "title": "Boxing", "startsAt": "2045-06-10T15:00:00.000Z",
        "endsAt": "2045-06-10T16:00:00.000Z",
        "location": ["name": "C7 Gym"], "trainer": ["displayName": "Tara"],
      ])
    // Half an hour later Tara is still boxing with Mia.
    #expect(try free().strings("classSessions.nodes", "startsAt") == ["2045-06-12T15:00:00.000Z"])
    let other = try server.signUp("olga")
    #expect(
      try server.refusals("bookClassSession(classSessionId: $id)", ["id: ID!": ids[1]], as: other)
        == [Refusal("OVERLAP", "classSessionId")])
    #expect(
      try server.refusals("bookClassSession(classSessionId: $id)", ["id: ID!": ids[0]], as: other)
        == [Refusal("FULL", "classSessionId")])
  }

  /// A class of a day, which fills up and empties again.
  private func bookClass(_ server: GraphServer, _ club: Club, as member: Person) throws {
    let classes = try server.data(
      """
      query($from: DateTime!, $to: DateTime!, $program: ID) {
        schedule(filter: {from: $from, to: $to, kinds: [CLASS], programId: $program}) {
          nodes { id title startsAt ... on ClassSession { seatsLeft } } } }
      """,
      [
        "from": "2045-06-10T00:00:00-05:00", "to": "2045-06-11T00:00:00-05:00",
        "program": club.yoga.json,
      ], as: member)
    #expect(classes.list("schedule.nodes", "seatsLeft") == [2])
    let session = classes.at("schedule.nodes.0.id") ?? .null
    let others = [try server.signUp("ola"), try server.signUp("oona")]
    let booking = try server.make(
      "bookClassSession(classSessionId: $id)", "booking", ["id: ID!": session], as: others[0])
    try server.mutate("bookClassSession(classSessionId: $id)", ["id: ID!": session], as: member)
    #expect(
      try server.refusals(
        "bookClassSession(classSessionId: $id)", ["id: ID!": session], as: others[1])
        == [Refusal("FULL", "classSessionId")])
    try server.mutate("cancelBooking(bookingId: $id)", ["id: ID!": booking.json], as: others[0])
    try server.mutate("bookClassSession(classSessionId: $id)", ["id: ID!": session], as: others[1])
    let today = try server.data(Self.agenda, Self.today, as: member)
    #expect(today.strings("viewer.agenda.nodes", "title") == ["Boxing", "Yoga"])
    #expect(
      try server.data(Self.agenda, Self.today, as: others[0]).at("viewer.agenda.totalCount") == 0)
  }

  /// The trainer moves one class and calls another off.
  private func followChanges(_ server: GraphServer, _ club: Club, as member: Person) throws {
    let bookings = try server.data(
      "{ viewer { bookings { nodes { id classSession { id title } } } } }", as: member)
    #expect(bookings.strings("viewer.bookings.nodes", "classSession.title") == ["Boxing", "Yoga"])
    let sessions = bookings.list("viewer.bookings.nodes", "classSession.id")
    try #require(sessions.count == 2)
    #expect(
      try server.refusals(
        "cancelClassSession(classSessionId: $id)", ["id: ID!": sessions[1]], as: club.tara)
        == [Refusal("FORBIDDEN", "classSessionId")])
    try server.mutate(
      "updateClassSession(classSessionId: $id, input: {startsAt: \"2045-06-10T20:00:00.000Z\"})",
      ["id: ID!": sessions[0]], as: club.tara)
    try server.mutate(
      "cancelClassSession(classSessionId: $id)", ["id: ID!": sessions[1]], as: club.staff)
    let told = try server.data(
      "{ viewer { notifications { nodes { reason text about { ... on Booking { cancelledAt classSession { title isCancelled } } } } } } }",
      as: member)
    let list = "viewer.notifications.nodes"
    #expect(told.strings(list, "reason") == ["BOOKING_CHANGED", "BOOKING_CHANGED"])
    #expect(told.strings(list, "about.classSession.title") == ["Yoga", "Boxing"])
    #expect(told.list(list, "about.classSession.isCancelled") == [true, false])
    #expect(told.at("\(list).1.text") == "<b>Tara</b> moved a class you booked.")
    let today = try server.data(Self.agenda, Self.today, as: member)
    #expect(
      today.at("viewer.agenda")
        == [
          "totalCount": 1, "nodes": [["title": "Boxing", "startsAt": "2045-06-10T20:00:00.000Z"]],
        ])
    #expect(
      try server.refusals(
        "bookClassSession(classSessionId: $id)", ["id: ID!": sessions[1]], as: member)
        == [Refusal("CLOSED", "classSessionId")])
  }

  /// A run, and how strong one is.
  private func record(_ server: GraphServer, as member: Person) throws {
    let track = try server.make(
      "createActivityTrack(input: $input)", "activityTrack",
      [
        "input: CreateActivityTrackInput!": [
          "startedAt": "2045-06-10T11:00:00.000Z", "endedAt": "2045-06-10T11:20:00.000Z",
          "path": [
            [
              "at": "2045-06-10T11:00:00.000Z",
              "coordinates": ["latitude": 41.9, "longitude": -87.6],
            ],
            [
              "at": "2045-06-10T11:20:00.000Z",
              "coordinates": ["latitude": 41.93, "longitude": -87.6],
            ],
          ],
        ]
      ], as: member)
    for (test, value) in [("MILE_TIME", 400), ("PUSH_UPS_PER_MINUTE", 25), ("MILE_TIME", 395)]
      as [(JSONValue, JSONValue)]
    {
      try server.mutate(
        "recordTestResult(test: $test, value: $value)",
        ["test: FitnessTest!": test, "value: Float!": value], as: member)
    }
    let own = try server.data(
      """
      { viewer { testResults { test value }
        activityTracks { nodes { id title durationSeconds distanceMeters path { coordinates { latitude } } } } } }
      """, as: member)
    #expect(
      own.at("viewer.testResults") == [
        ["test": "MILE_TIME", "value": 395], ["test": "PUSH_UPS_PER_MINUTE", "value": 25],
      ])
    let saved = try #require(own.at("viewer.activityTracks.nodes.0"))
    #expect(saved["id"] == track.json)
    #expect(saved["title"] == "2045-06-10 11:00")
    #expect(saved["durationSeconds"] == 1_200)
    #expect(abs((saved["distanceMeters"]?.double ?? 0) - 3_335.8) < 0.5)
    #expect(saved.list("path", "coordinates.latitude") == [41.9, 41.93])
  }

  /// A question to the club by mail, and one to the trainer, who answers.
  private func ask(_ server: GraphServer, _ club: Club, as member: Person) throws {
    let draft = try server.data(
      "query($id: ID!) { shareDraft(channel: EMAIL, subjectId: $id) { to subject } }",
      ["id": club.tara.json], as: member, headers: [("Sociograph-App", "c7fit")])
    #expect(draft["shareDraft"] == ["to": ["club@c7.example"], "subject": "Tara: Question"])
    let payload = try server.mutate(
      "sendMessage(to: {userIds: [$id]}, body: \"Which gloves?\")",
      "message { conversation { id } }", ["id: ID!": club.tara.json], as: member)
    let conversation = payload.at("message.conversation.id") ?? .null
    try server.mutate(
      "sendMessage(to: {conversationId: $id}, body: \"Any.\")", ["id: ID!": conversation],
      as: club.tara)
    let read = try server.data(
      "{ viewer { conversations { nodes { id unreadCount messages { nodes { body author { displayName } } } } } } }",
      as: member)
    #expect(
      read.at("viewer.conversations.nodes") == [
        [
          "id": conversation, "unreadCount": 1,
          "messages": [
            "nodes": [
              ["body": "Which gloves?", "author": ["displayName": "Mia"]],
              ["body": "Any.", "author": ["displayName": "Tara"]],
            ]
          ],
        ]
      ])
  }
}
