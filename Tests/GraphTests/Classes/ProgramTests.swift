import JSON
import TestSupport
import Testing

/// Programs as staff keep them, and who has a seat in their classes.
@Suite(.usesCluster) struct ProgramTests {
  private var server: GraphServer { get throws { try .shared } }

  @Test func `a program is added, changed field by field, and archived`() throws {
    let server = try server
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let (tom, tim) = (try data.trainer(), try data.trainer())
    let hall = try data.location("Hall", latitude: 1, longitude: 1)
    let title = GraphData.unique("Yoga ")
    let fields =
      "program { id title description training location { id } durationMinutes trainers { id } isArchived }"
    let made = try server.mutate(
      """
      createProgram(input: {title: $title, training: GROUP, durationMinutes: 45, \
      trainerIds: [$tom]})
      """, fields, ["title: String!": .string(title), "tom: ID!": tom.json], as: staff)
    let id = try #require(made.at("program.id"))
    #expect(made.at("program.description") == "")
    #expect(made.at("program.isArchived") == false)
    func change(_ input: JSONValue) throws -> JSONValue {
      try server.mutate(
        "updateProgram(programId: $id, input: $input)", fields,
        ["id: ID!": id, "input: UpdateProgramInput!": input], as: staff)["program"] ?? .null
    }
    #expect(try change(["description": "Slow."])["description"] == "Slow.")
    #expect(try change(["locationId": hall.json]).at("location.id") == hall.json)
    #expect(try change(["training": "SPORTS"])["training"] == "SPORTS")
    #expect(try change(["durationMinutes": 60])["durationMinutes"] == 60)
    #expect(try change(["trainerIds": [tim.json]])["trainers"] == [["id": tim.json]])
    #expect(
      try change(["description": nil, "locationId": nil, "title": .string(title + "2")]) == [
        "id": id, "title": .string(title + "2"), "description": "", "training": "SPORTS",
        "location": nil, "durationMinutes": 60, "trainers": [["id": tim.json]], "isArchived": false,
      ])
    func refusals(_ input: JSONValue, as person: Person? = nil) throws -> [Refusal] {
      try server.refusals(
        "updateProgram(programId: $id, input: $input)",
        ["id: ID!": id, "input: UpdateProgramInput!": input], as: person ?? staff)
    }
    #expect(
      try refusals([
        "title": nil, "training": nil, "durationMinutes": nil, "trainerIds": nil,
      ]) == [
        Refusal("REQUIRED", "input", "title"), Refusal("REQUIRED", "input", "training"),
        Refusal("REQUIRED", "input", "durationMinutes"), Refusal("REQUIRED", "input", "trainerIds"),
      ])
    #expect(
      try refusals(["locationId": tom.json, "durationMinutes": 0, "trainerIds": [staff.json, id]])
        == [
          Refusal("NOT_FOUND", "input", "locationId"),
          Refusal("INVALID", "input", "durationMinutes"),
          Refusal("INVALID", "input", "trainerIds", "0"),
          Refusal("NOT_FOUND", "input", "trainerIds", "1"),
        ])
    #expect(try refusals([:], as: tom) == [Refusal("FORBIDDEN")])
    #expect(
      try server.refusals(
        "updateProgram(programId: $id, input: {})", ["id: ID!": tom.json], as: staff)
        == [Refusal("NOT_FOUND", "programId")])

    // Who has classes to come cannot be left out, and classes that are booked keep the program.
    let key = try NodeKey(wire: id.string ?? "")
    let session = try data.classSession(key, by: tim, at: "2100-01-01 10:00Z")
    #expect(
      try refusals(["trainerIds": [tom.json]]) == [Refusal("IN_USE", "input", "trainerIds")])
    let booking = try data.book(data.person(), session)
    #expect(try refusals(["isArchived": true]) == [Refusal("IN_USE", "input", "isArchived")])
    try data.run(
      "UPDATE booking SET cancelled_at = now() WHERE id = $1", [booking])
    try data.run("UPDATE class_session SET booked_count = 0 WHERE id = $1", [session])
    func isListed() throws -> Bool {
      let taught = try server.data(
        """
        query($id: ID!) { node(id: $id) { ... on User { trainerProfile { programs { id } } } } }
        """, ["id": tim.json])
      return taught.at("node.trainerProfile.programs") == [["id": id]]
    }
    #expect(try isListed())
    #expect(try change(["isArchived": true])["isArchived"] == true)
    #expect(try !isListed())
    #expect(
      try server.data("query($id: ID!) { node(id: $id) { id } }", ["id": id]).at("node.id") == id)
    #expect(try change(["isArchived": false])["isArchived"] == false)
    #expect(try isListed())
  }

  @Test func `a trainer is not left out while a class is scheduled`() throws {
    let server = try server
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    for _ in 0..<6 {
      let (tom, tim) = (try data.trainer(), try data.trainer())
      let program = try data.program("Judo", trainers: [tom, tim])
      let answers = try crowd(of: 4) { number in
        number == 0
          ? try server.refusals(
            "updateProgram(programId: $id, input: {trainerIds: [$tim]})",
            ["id: ID!": program.json, "tim: ID!": tim.json], as: staff)
          : try server.refusals(
            """
            scheduleClassSessions(input: {programId: $id, trainerId: $tom, \
            startsAt: ["2100-01-0\(number)T10:00:00Z"]})
            """, ["id: ID!": program.json, "tom: ID!": tom.json], as: staff)
      }
      let sessions = try data.run("SELECT id FROM class_session WHERE program_id = $1", [program])
      #expect(sessions.count == answers.dropFirst().count { $0 == [] })
      #expect((answers[0] == []) == (sessions.isEmpty))
    }
  }

  @Test func `the trainer sees who has a seat, members their own`() throws {
    let server = try server
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let (tom, tim) = (try data.trainer(), try data.trainer())
    let people = try (0..<3).map { _ in try data.person() }
    let session = try data.classSession(
      data.program("Yoga", trainers: [tom]), by: tom, at: "2100-01-01 10:00Z", capacity: 9)
    for person in people { try data.book(person, session) }
    try data.book(people[0], session, isCancelled: true)
    func seats(_ more: String = "", as person: Person?) throws -> [String] {
      let read = try server.data(
        """
        query($id: ID!) { node(id: $id) { ... on ClassSession { bookings\(more) {
          totalCount nodes { user { id } } } } } }
        """, ["id": session.json], as: person)
      let list = read.at("node.bookings.nodes")?.array ?? []
      #expect(read.at("node.bookings.totalCount") == .number("\(list.count)"))
      return list.map { $0.at("user.id")?.string ?? "" }
    }
    for person in [tom, staff] { #expect(try seats(as: person) == people.map(\.wire)) }
    #expect(try seats("(includeCancelled: true)", as: tom).count == 4)
    #expect(try seats(as: people[1]) == [people[1].wire])
    #expect(
      try seats("(includeCancelled: true)", as: people[0]) == [people[0].wire, people[0].wire])
    for person in [tim, nil] { #expect(try seats(as: person) == []) }
  }

  @Test func `today's classes, without events and meals`() throws {
    let server = try server
    let data = try server.data()
    let (member, tom) = (try data.person(), try data.trainer())
    let program = try data.program("Yoga", trainers: [tom])
    func classes(_ arguments: String) throws -> JSONValue? {
      try server.data(
        """
        { viewer { agenda(from: "2100-01-01T00:00:00Z", to: "2100-01-02T00:00:00Z"\(arguments)) {
          totalCount nodes { __typename } } } }
        """, as: member
      ).at("viewer.agenda")
    }
    for category in ["GENERAL", "DINING"] {
      let event = try data.post(.event, by: member, startsAt: "2100-01-01 09:00Z")
      try data.run("UPDATE event SET category = $1 WHERE post_id = $2", [category, event])
    }
    #expect(try classes(", kinds: [CLASS]") == ["totalCount": 0, "nodes": []])
    let session = try data.classSession(program, by: tom, at: "2100-01-01 10:00Z", capacity: 2)
    let later = try data.classSession(program, by: tom, at: "2100-01-02 00:00Z", capacity: 2)
    for session in [session, later] { try data.book(member, session) }
    #expect(
      try classes(", kinds: [CLASS]") == [
        "totalCount": 1, "nodes": [["__typename": "ClassSession"]],
      ])
    #expect(try classes(", kinds: [EVENT]")?["totalCount"] == 2)
    #expect(try classes(", kinds: []")?["totalCount"] == 0)
    #expect(try classes(", kinds: null")?["totalCount"] == 3)
    let bookings = try server.data(
      """
      { viewer { bookings(from: "2100-01-01T00:00:00Z", to: "2100-01-02T00:00:00Z") {
        nodes { classSession { id } } } } }
      """, as: member)
    #expect(bookings.at("viewer.bookings.nodes") == [["classSession": ["id": session.json]]])
  }
}
