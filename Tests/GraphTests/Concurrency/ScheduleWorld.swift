import Foundation
import JSON
import OracleSupport
import Postgres
import Synchronization
import TestSupport

/// The state that many clients share.
struct ScheduleWorld: Sendable {
  typealias Post =
    @Sendable (
      _ document: String, _ variables: JSONValue, _ token: String?, _ key: String?
    ) throws -> HTTPClients.Response

  let clients: [Person]
  let staff: Person
  /// Objects of an inactive person, which stay.
  let outfits: [NodeKey]
  let texts: [NodeKey]
  let offers: [(key: NodeKey, limit: Int?)]
  let request: NodeKey
  let event: NodeKey
  let place: NodeKey
  let product: NodeKey
  let group: NodeKey
  let channel: NodeKey
  let sessions: [(key: NodeKey, seats: Int)]
  let program: NodeKey
  let trainer: Person
  /// An inactive person whose roles and photo staff change.
  let trainee: Person
  let photo: NodeKey
  /// The uploads of each client, to make a photo of.
  let uploads: [String]
  /// Posts that clients made and may delete.
  let passing = Passing()
  let post: Post
  /// Whether the server or its database may be away for a while.
  let hasOutages: Bool
  let progress = Progress()
  let history = ScheduleHistory()

  /// Which mutations were answered so far, how many, and how many of them had to be sent again.
  final class Progress: Sendable {
    private let state = Mutex<(fields: Set<String>, count: Int, repeats: Int)>(([], 0, 0))
    func add(_ field: String, isRepeated: Bool) {
      state.withLock {
        $0.fields.insert(field)
        $0.count += 1
        if isRepeated { $0.repeats += 1 }
      }
    }
    var fields: Set<String> { state.withLock { $0.fields } }
    var count: Int { state.withLock { $0.count } }
    var repeats: Int { state.withLock { $0.repeats } }

    /// Until so many more were answered.
    func wait(for more: Int) throws {
      let end = count + more
      for _ in 0..<12_000 {
        if count >= end { return }
        usleep(10_000)
      }
      throw GraphTestFailure("nobody was answered for two minutes")
    }
  }

  struct PassingPost {
    let id: String
    let author: Int
    /// The field that made it: `textPost`.
    let kind: String
  }

  final class Passing: Sendable {
    private let state = Mutex<[PassingPost]>([])
    func add(_ post: PassingPost) { state.withLock { $0.append(post) } }
    func any(_ random: inout SeededGenerator) -> PassingPost? {
      // The newest, as those are least likely gone.
      state.withLock { $0.suffix(24).randomElement(using: &random) }
    }
  }

  init(_ data: GraphData, clients count: Int, hasOutages: Bool = false, post: @escaping Post) throws
  {
    self.post = post
    self.hasOutages = hasOutages
    let host = try data.person("host")
    try data.run("INSERT INTO app_config (app) VALUES ('push')")
    trainer = try data.person("trainer", roles: ["MEMBER", "TRAINER"])
    trainee = try data.person("trainee")
    photo = try data.photo(of: trainee)
    staff = try data.person("staff", roles: ["MEMBER", "STAFF", "SERVICE"])
    clients = try (0..<count).map { number in
      let person = try data.person("c\(number)", ["address": "Road \(number)"])
      try data.run(
        """
        UPDATE app_user SET email = username || '@mail.example', email_verified = true
        WHERE id = \(person)
        """)
      try data.add(
        "identity",
        ["provider": "GOOGLE", "external_id": person.username, "user_id": person.key])
      return person
    }
    uploads = try clients.map { person in
      let digits = (0..<64).map { _ in String(Int.random(in: 0...15), radix: 16) }
      let path = "/photos/\(digits.joined()).png"
      try data.add(
        "upload",
        ["owner_id": person.key, "path": path, "width": 1, "height": 1, "moderation": "APPROVED"])
      return path
    }
    place = try data.location("Harbour", latitude: 1, longitude: 1)
    product = try data.product("Thing")
    outfits = try (0..<2).map { _ in try data.post(.outfit, by: host) }
    let here = place
    texts = try (0..<2).map { _ in try data.post(.text, by: host, location: here) }
    offers = [
      (try data.offer(by: host, limit: 5), 5), (try data.offer(by: host, limit: nil), nil),
    ]
    request = try data.cardRequest(by: host)
    event = try data.post(.event, by: host, location: here, startsAt: "2041-01-01 10:00Z")
    group = try data.circle("Group", owner: host, members: clients)
    channel = try data.circle("Channel", kind: "CHANNEL", owner: host)
    let (course, teacher) = (try data.program("Course", trainers: [trainer]), trainer)
    program = course
    sessions = try [3, 100].enumerated().map { index, seats in
      (
        try data.classSession(
          course, by: teacher, at: "2041-01-0\(index + 1) 10:00Z", capacity: seats), seats
      )
    }
  }
}

/// A client that runs one mutation after the other, and remembers the responses. State that only it
/// changes must be exactly as it remembers; responses about shared state must have been possible.
struct ScheduleClient {
  let number: Int
  let world: ScheduleWorld
  var random: SeededGenerator
  var unexpected: [String] = []
  var operations = 0

  // What the client knows to be so.
  var reactions: Set<String> = []
  var votes: [Int: String] = [:]
  var bookings: [Int: String] = [:]
  var responded: Set<Int> = []
  var asked = false
  /// The attendance; nil if unknown.
  var attendance: String? = ""
  var isSubscribed = false
  var isListed = false
  var follows: Set<Int> = []
  /// The people who blocked the client, or whom it blocked, at some time. Facts about them depend
  /// on both.
  var apart: Set<Int> = []
  var blocking: Set<Int> = []
  var posts: [String: String] = [:]
  var deletedPosts: Set<String> = []
  var comments: [String: String] = [:]
  var circles: Set<String> = []
  var deletedCircles: Set<String> = []
  var tracks: Set<String> = []
  var results = 0
  var invitations = 0
  var photo: String?
  var messages = 0
  var displayName: String?
  /// Responses under a key, to repeat the request later.
  var kept: [Kept] = []
  /// The user errors of the last mutation, and its time.
  var last = (codes: [String](), span: ScheduleHistory.Span(sent: 0, answered: 0))

  struct Kept {
    let document: String
    let token: String?
    let key: String
    let data: JSONValue?
    let isRepeated: Bool
  }

  init(_ number: Int, _ world: ScheduleWorld, seed: UInt64) {
    self.number = number
    self.world = world
    random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
  }

  var me: Person { world.clients[number] }

  // MARK: Asking

  private static let outages: Set<String> = [
    "OUTCOME_UNKNOWN", "DATABASE_UNAVAILABLE", "SERVICE_OVERLOADED", "IDEMPOTENCY_IN_PROGRESS",
    "SHUTTING_DOWN", "TIMEOUT",
  ]

  /// Sends one mutation until it is answered; what would answer otherwise when repeated has a key.
  ///
  /// - Returns: the payload, and the codes that it was refused with; nil when something was wrong.
  mutating func ask(
    _ field: String, _ selection: String = "__typename", as person: Person? = nil,
    isOnce: Bool = false
  ) throws -> (payload: JSONValue, codes: [String])? {
    operations += 1
    let (document, variables) = GraphServer.mutation([field], selection, [:])
    // Nobody is signed in without a token.
    let token = (person ?? me).token.isEmpty ? nil : (person ?? me).token
    let key = isOnce ? "k\(number)-\(operations)" : nil
    let sent = world.history.next()
    last.codes = ["?"]
    for tries in 0..<12_000 {
      guard
        let response = try? world.post(document, variables, token, key),
        let answer = try? JSONParser.parse(response.body)
      else {
        guard world.hasOutages else { break }
        usleep(10_000)
        continue
      }
      if let errors = answer["errors"]?.array {
        let codes = errors.map { $0.at("extensions.code")?.string ?? "" }
        if world.hasOutages, codes.allSatisfy({ Self.outages.contains($0) }) {
          usleep(10_000)
          continue
        }
        unexpected.append("\(number) \(field): \(answer)")
        return nil
      }
      world.progress.add(String(field.prefix { $0 != "(" }), isRepeated: tries > 0)
      let payload = answer.at("data.f0") ?? .null
      let codes = payload.strings("userErrors", "code")
      last = (codes, ScheduleHistory.Span(sent: sent, answered: world.history.next()))
      // What is refused leaves nothing behind, and is tried anew.
      if let key, codes.isEmpty, token == me.token || token == world.staff.token {
        kept.append(
          Kept(
            document: document, token: token, key: key, data: answer["data"], isRepeated: tries > 0)
        )
      }
      return (payload, codes)
    }
    unexpected.append("\(number) \(field): no answer")
    return nil
  }

  /// Sends again what was answered under a key: what was sent twice before, and the latest.
  mutating func repeatKept() {
    for (index, kept) in kept.enumerated() where kept.isRepeated || index >= self.kept.count - 10 {
      let answer = (try? world.post(kept.document, [:], kept.token, kept.key)).flatMap {
        try? JSONParser.parse($0.body)
      }
      if answer?["data"] == nil || answer?["data"] != kept.data {
        unexpected.append(
          "\(number) \(kept.document) again: \(answer ?? .null) instead of \(kept.data ?? .null)")
      }
    }
  }

  /// One that must be refused with just these codes.
  mutating func expect(
    _ codes: [String], _ field: String, as person: Person? = nil, isOnce: Bool = false
  ) throws {
    guard let answer = try ask(field, as: person, isOnce: isOnce), answer.codes != codes else {
      return
    }
    unexpected.append("\(number) \(field): \(answer.codes) instead of \(codes)")
  }

  /// One that may be refused with some codes, and gives what lies at a path when it was not.
  mutating func attempt(
    _ field: String, _ selection: String = "__typename", _ path: String = "__typename",
    allowing codes: Set<String> = [], isOnce: Bool = false
  ) throws -> String? {
    guard let answer = try ask(field, selection, isOnce: isOnce) else { return nil }
    if answer.codes.isEmpty { return answer.payload.at(path)?.string ?? "" }
    if !codes.isSuperset(of: answer.codes) {
      unexpected.append("\(number) \(field): \(answer.codes)")
    }
    return nil
  }

  /// Returns the IDs that a query finds.
  func ids(_ query: String, _ path: String, as person: Person? = nil) -> [String] {
    for _ in 0..<60_000 {
      if let response = try? world.post("{ \(query) }", [:], (person ?? me).token, nil),
        let answer = try? JSONParser.parse(response.body), answer["errors"] == nil
      {
        return answer.strings("data." + path, "id")
      }
      usleep(10_000)
    }
    return []
  }

  mutating func peer() -> Int {
    // Not oneself.
    let other = Int.random(in: 0..<world.clients.count - 1, using: &random)
    return other < number ? other : other + 1
  }

  mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  // MARK: Explaining

  /// Explains the last response by acts of others. If an object is not found or is closed to the
  /// client, one of the facts must be true, or the other person blocks them; all other responses
  /// require that none is.
  mutating func explain(_ answer: String, by facts: [String] = [], and other: Int? = nil) {
    let codes = last.codes
    guard codes != ["?"] else { return }
    // A client does one thing at a time, so whom it blocks is known.
    if let other,
      codes == ["NOT_FOUND"] ? false : (codes == ["BLOCKED"]) != blocking.contains(other),
      facts.isEmpty
    {
      unexpected.append("\(answer): \(codes), and it blocks \(blocking)")
    }
    let isHidden = codes == ["NOT_FOUND"] || facts.isEmpty && codes == ["CLOSED"]
    // Posts of whom one blocks are not found either.
    if let other, !facts.isEmpty, blocking.contains(other) {
      if !isHidden { unexpected.append("\(answer): \(codes), and it blocks \(other)") }
      return
    }
    world.history.explain(
      answer, by: facts + (other.map { ["block \($0) \(number)"] } ?? []), isSo: isHidden, last.span
    )
  }

  /// Records a deletion: the post is reported as gone, now or before.
  mutating func noteDeletion(of id: String) {
    deletedPosts.insert(id)
    if last.codes.isEmpty {
      world.history.change("gone \(id)", to: true, last.span)
    } else {
      explain("\(number) deletes", by: ["gone \(id)"])
    }
  }

  // MARK: Doing

  mutating func step() throws {
    let gone: Set<String> = ["NOT_FOUND"]
    switch Int.random(in: 0..<48, using: &random) {
    case 0...4:
      let subjects = world.outfits + world.texts + [world.event]
      let index = Int.random(in: 0..<subjects.count, using: &random)
      let kind = ["HEART", "LIKE", "TOP"].randomElement(using: &random) ?? "LIKE"
      let isOn = chance(60)
      try expect(
        [], "\(isOn ? "react" : "unreact")(subjectId: \"\(subjects[index].wire)\", kind: \(kind))")
      let reaction = "\(subjects[index]) \(kind)"
      if isOn { reactions.insert(reaction) } else { reactions.remove(reaction) }
    case 5:
      let index = Int.random(in: 0..<world.outfits.count, using: &random)
      let choice = chance(50) ? "WEAR_IT" : "CHANGE_IT"
      let isOther = votes[index].map { $0 != choice } ?? false
      try expect(
        isOther ? ["ALREADY_DONE"] : [],
        "castVote(postId: \"\(world.outfits[index].wire)\", choice: \(choice))")
      if !isOther { votes[index] = choice }
    case 6, 7:
      let subject =
        [world.texts[0], world.place, world.group, world.event]
        .randomElement(using: &random)?.wire ?? ""
      if let id = try attempt(
        "addComment(subjectId: \"\(subject)\", body: \"so\")", "comment { id }", "comment.id",
        isOnce: true)
      {
        comments[id] = subject
      }
    case 8:
      guard let (id, _) = comments.randomElement(using: &random) else { return }
      if chance(40) {
        return try expect(
          [], "updateComment(commentId: \"\(id)\", input: {body: \"so \(operations)\"})")
      }
      try expect([], "deleteComment(commentId: \"\(id)\")", isOnce: true)
      comments[id] = nil
      // It is gone now.
      try expect(["NOT_FOUND"], "deleteComment(commentId: \"\(id)\")", isOnce: true)
    case 9, 10:
      let circle = chance(50) ? ", circleId: \"\(world.group.wire)\"" : ""
      let location = ", location: {id: \"\(world.place.wire)\"}"
      let body = "body: \"n\(operations)\"\(circle)"
      let (field, input) =
        try [
          ("outfitPost", "photoIds: [\"\(ownPhoto())\"], " + body),
          ("photoPost", "photoIds: [\"\(ownPhoto())\"], " + body + location),
          ("textPost", body + location), ("cardOffer", body + ", responseLimit: 2"),
          ("cardRequest", body), ("productPost", "productId: \"\(world.product.wire)\", " + body),
          ("announcement", "body: \"n\""),
          ("thankYou", body + ", taggedUserIds: [\"\(world.staff.wire)\"]"),
          ("event", "title: \"n\", startsAt: \"2041-02-02T10:00:00.000Z\"" + circle + location),
        ].randomElement(using: &random) ?? ("textPost", body)
      let name = field.prefix(1).uppercased() + field.dropFirst()
      if let id = try attempt(
        "create\(name)(input: {\(input)})", "\(field) { id }", field + ".id", isOnce: true)
      {
        posts[id] = field
        world.passing.add(.init(id: id, author: number, kind: field))
      }
    case 11:
      guard let (id, _) = posts.randomElement(using: &random) else { return }
      // Staff may have been quicker.
      _ = try attempt("deletePost(postId: \"\(id)\")", allowing: gone, isOnce: true)
      noteDeletion(of: id)
      posts[id] = nil
    case 12:
      // Few are of the kinds that can be more than changed.
      let special = posts.filter { ["event", "cardOffer", "cardRequest"].contains($0.value) }
      guard let (id, kind) = (chance(60) ? special : posts).randomElement(using: &random)
      else { return }
      switch kind {
      case "event":
        _ =
          chance(50)
          ? try attempt(
            "updateEvent(eventId: \"\(id)\", input: {title: \"t\(operations)\"})",
            allowing: ["CLOSED", "NOT_FOUND"])
          : try attempt(
            "\(chance(50) ? "cancel" : "restore")Event(eventId: \"\(id)\")", allowing: gone)
      case "cardOffer" where chance(50):
        _ = try attempt(
          "updateCardOffer(cardOfferId: \"\(id)\", input: {responseLimit: 9})", allowing: gone)
      case "cardRequest" where chance(30): _ = try attempt(update(id, kind), allowing: gone)
      case "cardOffer", "cardRequest":
        _ = try attempt(
          "\(chance(50) ? "close" : "reopen")CardPost(postId: \"\(id)\")",
          allowing: ["NOT_FOUND", "FULL"])
      default: _ = try attempt(update(id, kind), allowing: gone)
      }
      explain("what \(number) does with its \(kind)", by: ["gone \(id)"])
    case 13...15:
      guard let post = world.passing.any(&random), post.author != number else { return }
      let id = post.id
      let (field, kind) =
        [
          ("react(subjectId: \"\(id)\", kind: HEART)", nil),
          ("addComment(subjectId: \"\(id)\", body: \"x\")", nil),
          ("flag(subjectId: \"\(id)\")", nil),
          ("unreact(subjectId: \"\(id)\", kind: HEART)", nil),
          ("respondToOffer(cardOfferId: \"\(id)\")", "cardOffer"),
          ("requestAddress(cardRequestId: \"\(id)\")", "cardRequest"),
          ("setAttendance(eventId: \"\(id)\", status: GOING)", "event"),
          ("clearAttendance(eventId: \"\(id)\")", "event"),
          ("withdrawOfferResponse(cardOfferId: \"\(id)\")", "cardOffer"),
          ("unflag(subjectId: \"\(id)\")", nil),
        ].filter { $0.1 == nil || $0.1 == post.kind || chance(20) }
        .randomElement(using: &random) ?? ("", nil)
      guard kind == nil || kind == post.kind else {
        return try expect(["NOT_FOUND"], field)
      }
      _ = try attempt(
        field, allowing: kind == nil ? gone : ["NOT_FOUND", "CLOSED"],
        isOnce: field.hasPrefix("addComment"))
      explain("\(number) \(field)", by: ["gone \(id)"], and: post.author)
    case 16, 17:
      let other = peer()
      let isOn = chance(70)
      let field = isOn ? "followUsers" : "unfollowUsers"
      let id = world.clients[other].wire
      let isDone =
        try attempt("\(field)(userIds: [\"\(id)\"])", allowing: ["NOT_FOUND", "BLOCKED"]) != nil
      explain("\(number) \(field) \(other)", and: other)
      guard isDone else { return }
      if isOn { follows.insert(other) } else { follows.remove(other) }
    case 18:
      let blocked = chance(60) ? blocking.randomElement(using: &random) : nil
      guard blocked != nil || chance(40) else { return }
      let other = blocked ?? peer()
      let id = world.clients[other].wire
      apart.insert(other)
      if blocking.contains(other) {
        try expect([], "unblockUser(userId: \"\(id)\")")
        blocking.remove(other)
        world.history.change("block \(number) \(other)", to: false, last.span)
      } else {
        let isDone = try attempt("blockUser(userId: \"\(id)\")", allowing: gone) != nil
        explain("\(number) blocks \(other)", and: other)
        guard isDone else { return }
        blocking.insert(other)
        follows.remove(other)
        world.history.change("block \(number) \(other)", to: true, last.span)
      }
    case 19, 20:
      let index = Int.random(in: 0..<world.sessions.count, using: &random)
      if let booking = bookings[index], chance(50) {
        try expect([], "cancelBooking(bookingId: \"\(booking)\")")
        bookings[index] = nil
        world.history.change("seat \(index) \(number)", to: false, last.span)
      } else if let booking = try attempt(
        "bookClassSession(classSessionId: \"\(world.sessions[index].key.wire)\")", "booking { id }",
        "booking.id", allowing: bookings[index] == nil ? ["FULL"] : [])
      {
        if let earlier = bookings[index], earlier != booking {
          unexpected.append("\(number): a booking became another")
        }
        bookings[index] = booking
        world.history.change("seat \(index) \(number)", to: true, last.span)
      } else {
        world.history.refuse("seat \(index) ", last.span)
      }
    case 21:
      let index = Int.random(in: 0..<world.offers.count, using: &random)
      if try attempt(
        "respondToOffer(cardOfferId: \"\(world.offers[index].key.wire)\")",
        allowing: responded.contains(index) ? [] : ["CLOSED"]) != nil
      {
        responded.insert(index)
        world.history.change("response \(index) \(number)", to: true, last.span)
      } else {
        world.history.refuse("response \(index) ", last.span)
      }
    case 22:
      let id = try attempt(
        "requestAddress(cardRequestId: \"\(world.request.wire)\")", "infoRequest { id }",
        "infoRequest.id")
      asked = true
      if let id, chance(30) { try expect([], "withdrawInfoRequest(infoRequestId: \"\(id)\")") }
    case 23:
      // Somebody asks for an address that the client may give.
      if let id = posts.first(where: { $0.value == "cardRequest" })?.key {
        _ = try ask("requestAddress(cardRequestId: \"\(id)\")", as: world.staff)
      }
      guard
        let id = ids(
          "viewer { infoRequests(status: PENDING, first: 5) { nodes { id } } }",
          "viewer.infoRequests.nodes"
        )
        .randomElement(using: &random)
      else { return }
      _ = try attempt(
        "answerInfoRequest(infoRequestId: \"\(id)\", approve: \(chance(70)))",
        allowing: ["NOT_FOUND", "ALREADY_DONE", "CLOSED", "FORBIDDEN"])
      // Whose it is does not matter to who may not take it back.
      _ = try attempt(
        "withdrawInfoRequest(infoRequestId: \"\(id)\")",
        allowing: ["NOT_FOUND", "ALREADY_DONE", "FORBIDDEN"])
    case 24:
      guard
        let id = ids(
          "viewer { followUps(role: SENDER, state: OPEN, first: 5) { nodes { id } } }",
          "viewer.followUps.nodes"
        ).randomElement(using: &random)
      else { return }
      _ = try attempt(
        "resolveFollowUp(followUpId: \"\(id)\", state: \(["COMPLETED", "UNABLE", "OPEN"].randomElement(using: &random) ?? "OPEN"))",
        allowing: ["NOT_FOUND", "ALREADY_DONE"])
    case 25:
      let status = ["GOING", "MAYBE", "NOT_GOING"].randomElement(using: &random) ?? "GOING"
      if chance(20) {
        try expect([], "clearAttendance(eventId: \"\(world.event.wire)\")")
        attendance = ""
      } else {
        try expect([], "setAttendance(eventId: \"\(world.event.wire)\", status: \(status))")
        attendance = status
      }
    case 26:
      if attendance == "GOING" {
        _ = try attempt(
          "inviteToEvent(eventId: \"\(world.event.wire)\", userIds: [\"\(world.clients[peer()].wire)\"])",
          allowing: ["NOT_FOUND", "BLOCKED"])
      }
      guard
        let id = ids(
          "viewer { invitations(first: 3) { nodes { id } } }", "viewer.invitations.nodes"
        ).randomElement(using: &random)
      else { return }
      // Somebody else sent it.
      _ = try attempt(
        "withdrawInvitation(invitationId: \"\(id)\")", allowing: ["NOT_FOUND", "FORBIDDEN"])
    case 27, 28:
      let other = peer()
      if try attempt(
        "sendMessage(to: {userIds: [\"\(world.clients[other].wire)\"]}, body: \"hi\")",
        allowing: ["NOT_FOUND", "BLOCKED", "CLOSED"], isOnce: true) != nil
      {
        messages += 1
      }
      explain("\(number) writes to \(other)", and: other)
    case 29:
      if chance(40) {
        try expect([], "markNotificationsRead")
      } else if chance(20) {
        try device()
      } else {
        try act()
      }
      if let id = ids(
        "viewer { conversations(first: 3) { nodes { id } } }", "viewer.conversations.nodes"
      ).randomElement(using: &random) {
        try expect([], "markConversationRead(conversationId: \"\(id)\")")
      }
    case 30:
      try circle()
    case 31:
      isSubscribed = chance(60)
      try expect(
        [], "\(isSubscribed ? "join" : "leave")Circle(circleId: \"\(world.channel.wire)\")",
        isOnce: !isSubscribed)
      isListed = chance(60)
      try expect(
        [],
        "\(isListed ? "addTo" : "removeFrom")ShoppingList(productId: \"\(world.product.wire)\")")
    case 32:
      let name = "Name \(operations)"
      try expect([], "updateProfile(input: {displayName: \"\(name)\", bio: \"b\"})")
      displayName = name
      let result = "test: LEG_PRESS, value: 1"
      if chance(50) {
        try expect([], "recordTestResult(\(result))", isOnce: true)
        results += 1
      } else {
        let other = "test: PUSH_UPS_PER_MINUTE, value: 1"
        try expect([], "recordTestResults(results: [{\(result)}, {\(other)}])", isOnce: true)
        results += 2
      }
      if let id = try attempt(
        """
        createActivityTrack(input: {startedAt: "2026-01-01T00:00:00.000Z", endedAt: "2026-01-01T01:00:00.000Z", path: []})
        """, "activityTrack { id }", "activityTrack.id", isOnce: true)
      {
        tracks.insert(id)
      }
      if tracks.count > 1, let id = tracks.first {
        try expect([], "deleteActivityTrack(activityTrackId: \"\(id)\")", isOnce: true)
        tracks.remove(id)
      }
    case 33...38: try share()
    case 39: try account()
    case 40...42: try change()
    default:
      // Some of them do what staff do.
      if number < 16 { try staffWork() }
    }
  }

  /// Registers a device, and perhaps takes it away again. A token may be that of another client.
  private mutating func device() throws {
    let token = String(repeating: "a", count: 62) + String(10 + operations % 7)
    try expect(
      [],
      "updateNotificationSettings(input: {rules: [{reason: VOTED, channels: [\(chance(50) ? "PUSH" : "")]}]})"
    )
    guard
      let id = try attempt(
        "registerDevice(input: {app: \"push\", platform: APNS, token: \"\(token)\"})",
        "device { id }", "device.id"), chance(50)
    else { return }
    // Another client may have taken it over.
    _ = try attempt(
      "unregisterDevice(deviceId: \"\(id)\")", allowing: ["NOT_FOUND"], isOnce: true)
  }

  /// A change of a post of a kind without any of its own.
  private func update(_ id: String, _ kind: String) -> String {
    let name = kind.prefix(1).uppercased() + kind.dropFirst()
    return "update\(name)(\(kind)Id: \"\(id)\", input: {body: \"b\(operations)\"})"
  }

  /// Uses the button of one of the latest notifications.
  private mutating func act() throws {
    let query = """
      { viewer { notifications(first: 9) { nodes { id actor { id } about { id } action { kind } } } } }
      """
    guard
      let response = try? world.post(query, [:], me.token, nil),
      let answer = try? JSONParser.parse(response.body),
      let note = answer.at("data.viewer.notifications.nodes")?.array?
        .randomElement(using: &random), let id = note["id"]?.string,
      try attempt(
        "performNotificationAction(notificationId: \"\(id)\")",
        allowing: ["NOT_FOUND", "INVALID", "CLOSED", "ALREADY_DONE", "PAST", "BLOCKED"]) != nil
    else { return }
    switch note.at("action.kind")?.string {
    case "FOLLOW_BACK":
      // It may have been done before, and be taken back since.
      if let other = world.clients.firstIndex(where: { $0.wire == note.at("actor.id")?.string }) {
        apart.insert(other)
      }
    case "ATTEND":
      // As with a follow.
      if note.at("about.id")?.string == world.event.wire { attendance = nil }
    default: break
    }
  }

  private mutating func circle() throws {
    let people = [peer(), peer()].filter { !apart.contains($0) }.map {
      "\"\(world.clients[$0].wire)\""
    }
    let refused: Set<String> = ["NOT_FOUND", "BLOCKED"]
    if let id = circles.randomElement(using: &random), chance(70) {
      switch Int.random(in: 0..<4, using: &random) {
      case 3:
        // To its owner, so that it stays with who remembers it; the trainer is in no circle.
        try expect([], "transferCircle(circleId: \"\(id)\", userId: \"\(me.wire)\")")
        try expect(
          ["INVALID"], "transferCircle(circleId: \"\(id)\", userId: \"\(world.trainer.wire)\")")
      case 0:
        guard let person = people.first else { return }
        _ = try attempt(
          "addCircleMembers(circleId: \"\(id)\", userIds: [\(person)])", allowing: refused)
      case 1:
        guard let person = people.first else { return }
        try expect([], "removeCircleMembers(circleId: \"\(id)\", userIds: [\(person)])")
      default:
        try expect([], "deleteCircle(circleId: \"\(id)\")", isOnce: true)
        circles.remove(id)
        deletedCircles.insert(id)
      }
      return
    }
    if let id = try attempt(
      "createCircle(input: {name: \"mine\", memberIds: [\(people.joined(separator: ", "))]})",
      "circle { id }", "circle.id", allowing: refused, isOnce: true)
    {
      circles.insert(id)
    }
  }
}
