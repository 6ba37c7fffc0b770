import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// Sixty-four clients that want the same thing at once. The final state decides.
@Suite(.serialized, .usesCluster(isFirst: true)) struct LastOneTests {
  private static let server = Result { try GraphServer.alone() }
  private static let crowdSize = 64

  /// Makes everyone run one mutation at the same time, and returns the codes of their user errors
  /// in the order of the people. Other errors fail the test.
  private func all(
    _ people: [Person], _ field: String, _ variables: KeyValuePairs<String, JSONValue>
  ) throws -> [[Refusal]] {
    let server = try Self.server.get()
    return try crowd(of: people.count) { index in
      try server.refusals(field, variables, as: people[index])
    }
  }

  private func people(_ data: GraphData, _ stem: String = "p") throws -> [Person] {
    try (0..<Self.crowdSize).map { try data.person("\(stem)\($0)", ["address": "Road \($0)"]) }
  }

  /// Checks the database with its own checks.
  private func expectWhole(_ data: GraphData) throws {
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
    #expect(try data.run("SELECT * FROM verify_subjects()") == [])
  }

  @Test(arguments: [1, 5]) func `a class has as many bookings as seats`(seats: Int) throws {
    let data = try Self.server.get().data()
    let trainer = try data.trainer()
    let program = try data.program("Course", trainers: [trainer])
    let session = try data.classSession(
      program, by: trainer, at: "2041-01-01 10:00Z", capacity: seats)
    let answers = try all(
      try people(data), "bookClassSession(classSessionId: $id)", ["id: ID!": session.json])
    #expect(answers.count { $0 == [] } == seats)
    #expect(answers.filter { $0 != [] }.allSatisfy { $0 == [Refusal("FULL", "classSessionId")] })
    #expect(
      try data.run("SELECT booked_count FROM class_session WHERE id = $1", [session])
        == [["\(seats)"]])
    #expect(
      try data.run("SELECT FROM booking WHERE session_id = $1", [session]).count == seats)
    try expectWhole(data)
  }

  @Test func `a trainer holds one of the times that overlap`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let trainer = try data.trainer()
    let program = try data.program("Course", trainers: [trainer])
    let sessions = try (0..<4).map {
      try data.classSession(
        program, by: trainer, at: "2041-01-01 10:\($0)0Z", capacity: Self.crowdSize)
    }
    let everyone = try people(data)
    let answers = try crowd(of: everyone.count) { index in
      try server.refusals(
        "bookClassSession(classSessionId: $id)", ["id: ID!": sessions[index % 4].json],
        as: everyone[index])
    }
    let held = try data.run(
      "SELECT id FROM class_session WHERE trainer_id = \(trainer) AND booked_count > 0")
    #expect(held.count == 1)
    for (index, answer) in answers.enumerated() {
      let isHeld = held.first?.first == sessions[index % 4].description
      #expect(answer == (isHeld ? [] : [Refusal("OVERLAP", "classSessionId")]))
    }
    try expectWhole(data)
  }

  @Test func `seats given back are taken, and none twice`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let trainer = try data.trainer()
    let program = try data.program("Course", trainers: [trainer])
    let session = try data.classSession(
      program, by: trainer, at: "2041-03-01 10:00Z", capacity: Self.crowdSize / 2)
    let everyone = try people(data)
    let holders = everyone.prefix(Self.crowdSize / 2)
    var bookings: [JSONValue] = []
    for person in holders { bookings.append(try data.book(person, session).json) }
    let seats = bookings
    _ = try crowd(of: everyone.count) { index in
      if index < seats.count {
        try server.mutate(
          "cancelBooking(bookingId: $id)", "booking { id }", ["id: ID!": seats[index]],
          as: everyone[index])
      } else {
        var isFull = true
        // Somebody gives a seat back, sooner or later.
        for _ in 0..<60_000 where isFull {
          isFull =
            try server.refusals(
              "bookClassSession(classSessionId: $id)", ["id: ID!": session.json],
              as: everyone[index])
            == [Refusal("FULL", "classSessionId")]
          if isFull { usleep(10_000) }
        }
        #expect(!isFull)
      }
    }
    #expect(
      try data.run("SELECT booked_count FROM class_session WHERE id = $1", [session])
        == [["\(Self.crowdSize / 2)"]])
    try expectWhole(data)
  }

  @Test(arguments: [1, 7]) func `an offer is answered as often as it says`(limit: Int) throws {
    let server = try Self.server.get()
    let data = try server.data()
    let author = try data.person("author")
    let offer = try data.offer(by: author, limit: limit)
    let answers = try all(
      try people(data), "respondToOffer(cardOfferId: $id)", ["id: ID!": offer.json])
    #expect(answers.count { $0 == [] } == limit)
    #expect(answers.filter { $0 != [] }.allSatisfy { $0 == [Refusal("CLOSED", "cardOfferId")] })
    #expect(
      try data.run("SELECT response_count, is_open FROM card_post WHERE post_id = $1", [offer])
        == [["\(limit)", "f"]])
    #expect(try data.run("SELECT FROM follow_up WHERE post_id = $1", [offer]).count == limit)
    // The author is told of those who got through, and of nobody else.
    #expect(
      try data.run("SELECT FROM notification WHERE recipient_id = $1", [author.key]).count == limit)
    try expectWhole(data)
  }

  @Test func `who votes on many devices has one vote, the first`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let (author, voter) = (try data.person("author"), try data.person("voter"))
    let outfit = try data.post(.outfit, by: author)
    let choices = ["WEAR_IT", "CHANGE_IT"]
    let answers = try crowd(of: Self.crowdSize) { index in
      try server.refusals(
        "castVote(postId: $id, choice: \(choices[index % 2]))", ["id: ID!": outfit.json], as: voter)
    }
    let vote = try data.run("SELECT choice FROM vote WHERE post_id = $1", [outfit])
    #expect(vote.count == 1)
    for (index, answer) in answers.enumerated() {
      let isCast = vote.first?.first == choices[index % 2]
      #expect(answer == (isCast ? [] : [Refusal("ALREADY_DONE", "choice")]))
    }
    try expectWhole(data)
  }

  @Test func `everybody's vote counts, and the author is told of all in one line`() throws {
    let data = try Self.server.get().data()
    let author = try data.person("author")
    let outfit = try data.post(.outfit, by: author)
    let answers = try all(
      try people(data), "castVote(postId: $id, choice: WEAR_IT)", ["id: ID!": outfit.json])
    #expect(answers.allSatisfy { $0 == [] })
    #expect(
      try data.run("SELECT wear_it_count FROM exact_votable_post() WHERE post_id = $1", [outfit])
        == [["\(Self.crowdSize)"]])
    #expect(
      try data.run(
        """
        SELECT notification_text('en', phrase, args, number) FROM notification WHERE recipient_id = $1
        """, [author.key]) == [["\(Self.crowdSize) votes on your outfit."]])
    try expectWhole(data)
  }

  @Test func `reactions come and go on many devices, and the count is right`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let author = try data.person("author")
    let place = try data.location("Here")
    let post = try data.post(.text, by: author, location: place)
    let everyone = try Array(people(data).prefix(8))
    _ = try crowd(of: Self.crowdSize) { index in
      for round in 0..<6 {
        let field = (index + round) % 3 == 0 ? "unreact" : "react"
        let kind = ["HEART", "LIKE", "TOP"][(index / 8 + round) % 3]
        try server.mutate(
          "\(field)(subjectId: $id, kind: \(kind))", "subject { id }", ["id: ID!": post.json],
          as: everyone[index % 8])
      }
    }
    let kinds = try data.run(
      """
      SELECT count(*) FILTER (WHERE kind = 'HEART'), count(*) FILTER (WHERE kind = 'LIKE'),
        count(*) FILTER (WHERE kind = 'TOP') FROM reaction WHERE subject_id = $1
      """, [post])
    let read = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on TextPost { hearts: reactionCount(kind: HEART) \
      likes: reactionCount(kind: LIKE) tops: reactionCount(kind: TOP) } } }
      """, ["id": post.json])
    #expect(
      kinds.first?.map { Int($0 ?? "") }
        == ["hearts", "likes", "tops"].map { read.at("node.\($0)")?.int })
    try expectWhole(data)
  }

  @Test func `one of all who want a name has it`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let name = GraphData.unique("wanted")
    let answers = try all(
      try people(data), "updateProfile(input: {username: $name})",
      ["name: String!": .string(name)])
    #expect(answers.count { $0 == [] } == 1)
    #expect(
      answers.filter { $0 != [] }.allSatisfy { $0 == [Refusal("TAKEN", "input", "username")] })
    #expect(try data.run("SELECT FROM app_user WHERE username = $1", [name]).count == 1)
  }

  @Test func `content of the day that many set at once is that of one of them`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let answers = try crowd(of: Self.crowdSize) { index in
      try server.refusals(
        "setDailyContent(motivations: [\"\(index)\", \"\(index)\"])", as: staff)
    }
    #expect(answers.allSatisfy { $0 == [] })
    let left = try data.run(
      "SELECT count(*), count(DISTINCT value) FROM daily_item WHERE list = 'MOTIVATION'")
    #expect(left == [["2", "1"]])
  }

  @Test func `two who write to each other for the first time share one conversation`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let pair = [try data.person("a"), try data.person("b")]
    let talks = try crowd(of: Self.crowdSize) { index in
      try server.mutate(
        "sendMessage(to: {userIds: [$to]}, body: \"\(index)\")",
        "message { conversation { id } }", ["to: ID!": pair[1 - index % 2].json],
        as: pair[index % 2]
      ).at("message.conversation.id")?.string ?? ""
    }
    #expect(Set(talks).count == 1)
    #expect(
      try data.run("SELECT FROM message WHERE author_id IN ($1, $2)", [pair[0], pair[1]]).count
        == Self.crowdSize)
    // Each has at most one unread line about it: whoever writes has read what came before.
    for person in pair {
      #expect(
        try data.run(
          "SELECT FROM notification WHERE recipient_id = $1 AND read_at IS NULL", [person]
        ).count <= 1)
    }
  }

  @Test func `one place with a known id of a map is made, and all get it`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let map = GraphData.unique("map")
    let everyone = try people(data)
    let places = try crowd(of: everyone.count) { index in
      try server.mutate(
        """
        createLocation(input: {name: "Here", gmapsId: "\(map)", coordinates: {latitude: 1, longitude: 2}})
        """, "location { id }", as: everyone[index]
      ).at("location.id")?.string ?? ""
    }
    #expect(Set(places).count == 1)
    #expect(try data.run("SELECT FROM location WHERE gmaps_id = $1", [map]).count == 1)
  }

  @Test func `nothing is said to what is being deleted`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let author = try data.person("author")
    let everyone = try people(data)
    for _ in 0..<4 {
      let post = try data.post(.text, by: author, location: try data.location("Here"))
      _ = try crowd(of: everyone.count) { index in
        let field =
          switch index % 4 {
          case 0: "react(subjectId: $id, kind: HEART)"
          case 1: "addComment(subjectId: $id, body: \"so\")"
          case 2: "flag(subjectId: $id)"
          default: index == 3 ? "deletePost(postId: $id)" : "react(subjectId: $id, kind: TOP)"
          }
        let refusals = try server.refusals(
          field, ["id: ID!": post.json], as: index == 3 ? author : everyone[index])
        #expect(refusals == [] || refusals.first?.code == "NOT_FOUND")
      }
      #expect(try data.run("SELECT FROM post WHERE id = $1", [post]) == [])
    }
    try expectWhole(data)
  }

  @Test func `of following and blocking at once no follow is left`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    for _ in 0..<12 {
      let (anna, ben) = (try data.person("anna"), try data.person("ben"))
      _ = try crowd(of: 8) { index in
        let (me, other) = index % 2 == 0 ? (anna, ben) : (ben, anna)
        let field = index < 2 ? "blockUser(userId: $id)" : "followUsers(userIds: [$id])"
        let refusals = try server.refusals(field, ["id: ID!": other.json], as: me)
        #expect(
          refusals.allSatisfy { ["BLOCKED", "NOT_FOUND"].contains($0.code) }, "\(refusals)")
      }
      #expect(
        try data.run(
          "SELECT FROM follow WHERE follower_id IN (\(anna), \(ben))") == [])
      #expect(
        try !data.run("SELECT FROM block WHERE blocker_id IN (\(anna), \(ben))").isEmpty)
    }
    try expectWhole(data)
  }

  @Test func `what is done in opposite orders goes through`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let author = try data.person("author")
    let place = try data.location("Here")
    let posts = try (0..<2).map { _ in try data.post(.text, by: author, location: place) }
    let everyone = try people(data)
    let ids = everyone.prefix(8).map(\.json)
    // Two fields of one document are two transactions; the people of one list are one.
    _ = try crowd(of: everyone.count) { index in
      let order = index % 2 == 0 ? posts : posts.reversed()
      let (document, variables) = GraphServer.mutation(
        order.map { "react(subjectId: \"\($0.wire)\", kind: HEART)" }, "subject { id }", [:])
      let answer = try server.execute(document, variables, token: everyone[index].token)
      #expect(answer["errors"] == nil, "\(answer)")
      guard index < ids.count else { return }
      let others = ids.enumerated().filter { $0.offset != index }.map(\.element)
      try server.mutate(
        "followUsers(userIds: $ids)", "users { id }",
        ["ids: [ID!]!": .array(index % 2 == 0 ? others : others.reversed())],
        as: everyone[index])
    }
    let keys = everyone.prefix(ids.count).map(\.description).joined(separator: ", ")
    #expect(
      try data.run("SELECT FROM follow WHERE follower_id IN (\(keys))").count
        == ids.count * (ids.count - 1))
    for post in posts {
      #expect(
        try data.run("SELECT FROM reaction WHERE subject_id = $1", [post]).count == everyone.count)
    }
    try expectWhole(data)
  }

  @Test func `what is sent by many with one key is done once`() throws {
    let server = try Self.server.get()
    let data = try server.data()
    let anna = try data.person("anna")
    let (document, variables) = GraphServer.mutation(
      ["createTextPost(input: {body: \"once\"})"], "textPost { id }", [:])
    let answers = try crowd(of: Self.crowdSize) { _ in
      var answer = try server.sendMutation(document, variables, token: anna.token, key: "k")
      for _ in 0..<60_000 where answer.status == 409 {
        usleep(10_000)
        answer = try server.sendMutation(document, variables, token: anna.token, key: "k")
      }
      return answer
    }
    #expect(answers.allSatisfy { $0.status == 200 })
    #expect(Set(answers.map(\.text)).count == 1)
    #expect(answers.count { $0.header("Idempotency-Replayed") == nil } == 1)
    #expect(try data.run("SELECT FROM post WHERE author_id = $1", [anna]).count == 1)
  }

  /// The last test of this suite, which runs its tests in order: the server is stopped, so that
  /// every backend has reported its counts.
  @Test func `there was no deadlock in any of this`() throws {
    let server = try Self.server.get()
    server.stop()
    #expect(try Self.deadlocks(server.database) == 0)
  }

  /// Returns the number of deadlocks that PostgreSQL detected in a database whose server has
  /// stopped.
  static func deadlocks(_ database: String) throws -> Int {
    let name = try TestCluster.session(database).execute("SELECT current_database()")[0][0] ?? ""
    let session = try TestCluster.session(TestCluster.connectionString())
    for _ in 0..<60_000 {
      // A backend tells what it counted when it ends at the latest.
      let others = try session.execute(
        "SELECT FROM pg_stat_activity WHERE datname = '\(name)' AND application_name <> 'a test'")
      if others.isEmpty { break }
      usleep(10_000)
    }
    return Int(
      try session.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = '\(name)'")[0][0]
        ?? "") ?? -1
  }
}
