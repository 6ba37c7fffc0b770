import JSON
import TestSupport
import Testing

/// Bookings of classes: seats, confirmations, and cancellations.
@Suite(.usesCluster) struct BookingTests {
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
    let book = "bookClassSession(classSessionId: $id)"
    var bookings: Set<String> = []
    for _ in 0..<2 {
      let payload = try server.mutate(
        book,
        """
        booking { id cancelledAt user { id }
          classSession { title startsAt endsAt seatsLeft trainer { displayName } } }
        """, ["id: ID!": chosen.json], as: client)
      bookings.insert(payload.at("booking.id")?.string ?? "")
      #expect(payload.at("booking.user.id") == client.json)
      #expect(
        payload.at("booking.classSession") == [
          "title": "Boxing", "startsAt": "2045-01-01T12:00:00.000Z",
          "endsAt": "2045-01-01T13:00:00.000Z", "seatsLeft": 0, "trainer": ["displayName": "Tara"],
        ])
    }
    #expect(bookings.count == 1)
    #expect(
      try server.data("{ viewer { bookings { nodes { classSession { title } } } } }", as: client)
        == ["viewer": ["bookings": ["nodes": [["classSession": ["title": "Boxing"]]]]]])
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
          == [Refusal(code, "classSessionId")])
      #expect(try seen(server, target, by: other)?["viewerBooking"] == .null)
    }
    #expect(
      try server.refusals(book, ["id: ID!": boxing.json], as: other)
        == [Refusal("NOT_FOUND", "classSessionId")])
    #expect(
      try server.refusals(book, ["id: ID!": past.json], as: trainer)
        == [Refusal("PAST", "classSessionId")])
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
        "bookClassSession(classSessionId: $id)", ["id: ID!": session.json], as: people[index])
    }
    #expect(answers.filter { $0.isEmpty }.count == 3)
    #expect(answers.filter { $0 == [Refusal("FULL", "classSessionId")] }.count == 5)
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
      "bookClassSession(classSessionId: $id)", "booking", ["id: ID!": session.json], as: client)
    let cancel = "cancelBooking(bookingId: $id)"
    #expect(
      try server.refusals(cancel, ["id: ID!": booking.json], as: other)
        == [Refusal("NOT_FOUND", "bookingId")])
    for _ in 0..<2 {
      let payload = try server.mutate(
        cancel, "booking { id classSession { seatsLeft viewerBooking { id } } }",
        ["id: ID!": booking.json], as: client)
      #expect(
        payload["booking"]
          == ["id": booking.json, "classSession": ["seatsLeft": 1, "viewerBooking": nil]])
    }
    let own =
      "{ viewer { bookings { totalCount } all: bookings(includeCancelled: true) { totalCount } } }"
    #expect(
      try server.data(own, as: client)
        == ["viewer": ["bookings": ["totalCount": 0], "all": ["totalCount": 1]]])
    try server.mutate("bookClassSession(classSessionId: $id)", ["id: ID!": session.json], as: other)
    #expect(
      try server.refusals(
        "bookClassSession(classSessionId: $id)", ["id: ID!": session.json], as: client)
        == [Refusal("FULL", "classSessionId")])
    let over = try data.book(client, data.classSession(yoga, by: trainer, at: "2020-01-01 12:00Z"))
    #expect(
      try server.refusals(cancel, ["id: ID!": over.json], as: client)
        == [Refusal("PAST", "bookingId")])
  }
}
