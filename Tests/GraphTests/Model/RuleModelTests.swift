import Foundation
import JSON
import OracleSupport
import TestSupport
import Testing

/// Random mutations, one after the other, run twice: by the server, and by the rules in plain
/// words. The user errors of each, and everything that all users read afterwards, must be equal.
///
/// `SOCIOGRAPH_MUTATIONS=10000` runs more, `SOCIOGRAPH_SEED=7` runs others.
@Suite(.usesCluster) struct RuleModelTests {
  @Test(arguments: 0..<3) func `the server does what the rules say`(round: Int) throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["SOCIOGRAPH_MUTATIONS"].flatMap { Int($0) } ?? 400
    let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
    var pair = try ModelledGraph(seed: seed &* 10 &+ UInt64(round))
    for step in 1...count where pair.differences.isEmpty {
      try pair.step()
      if step % 20 == 0 || step == count { try pair.read() }
    }
    print(
      "rule model: \(pair.done) mutations done, \(pair.refused) refused, seed \(seed), round \(round)"
    )
    for difference in pair.differences.prefix(3) { Issue.record(Comment(rawValue: difference)) }
    #expect(pair.differences.isEmpty)
    #expect(pair.done > count / 4 && pair.refused > count / 20)
  }

  /// A comparison that finds nothing would prove nothing: rules that are wrong are found.
  @Test(arguments: ["a follow is forgotten", "a block is forgotten", "a note is forgotten"])
  func `a rule that is broken is found`(fault: String) throws {
    var pair = try ModelledGraph(seed: 1)
    for step in 1...400 where pair.differences.isEmpty {
      try pair.step()
      switch fault {
      case "a follow is forgotten":
        if let one = pair.model.follows.first { pair.model.follows.remove(one) }
      case "a block is forgotten": pair.model.blocks = []
      default: pair.model.notes.removeAll { $0.reason == "REACTED" }
      }
      if step % 10 == 0 { try pair.read() }
    }
    #expect(!pair.differences.isEmpty)
  }
}

/// A few people and the rules' idea of what they do.
struct ModelledGraph {
  var model: RuleModel
  private(set) var differences: [String] = []
  private(set) var done = 0
  private(set) var refused = 0
  private let server: GraphServer
  private let people: [Person]
  private var random: SeededGenerator
  private var history: [String] = []
  private let product: NodeKey

  init(seed: UInt64) throws {
    server = try GraphServer.shared
    random = SeededGenerator(seed: seed)
    let data = try server.data()
    people = try (0..<5).map { try data.person("m\($0)", ["address": "Road"]) }
    model = RuleModel(people: people.map(\.wire))
    product = try data.product("Thing")
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: people[0])
    model.circles[channel.wire] = RuleModel.Circle(
      name: "Channel", isChannel: true, owner: 0, members: [0])
    let program = try data.program("Course", trainers: [people[4]])
    for (index, seats) in [1, 2].enumerated() {
      let session = try data.classSession(
        program, by: people[4], at: "2041-01-0\(index + 1) 10:00Z", capacity: seats)
      model.sessions[session.wire] = RuleModel.Session(trainer: 4, seats: seats)
    }
  }

  // MARK: Choosing

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func some(_ ids: some Collection<String>) -> String {
    // Ids of what is gone are asked for as well.
    if below(25) == 0 { return NodeKey(Int64(1) << 50 | 24).wire }
    return ids.sorted().randomElement(using: &random) ?? NodeKey(Int64(1) << 50 | 24).wire
  }

  private mutating func post(_ kind: String? = nil) -> String {
    some(model.posts.filter { kind == nil || $0.value.kind == kind }.keys)
  }

  // MARK: Doing

  /// A part of a payload by its name, and the corresponding query.
  private struct Shown {
    let name: String
    let types: [String]
    var selection: String { "\(name) { \(ModelledGraph.selection(types)) }" }

    static let users = Shown(name: "users", types: ["User"])
    static let subject = Shown(
      name: "subject",
      types: ["Post", "ProductPost", "CardOffer", "CardRequest", "Event", "Comment"])
    static func made(_ name: String, _ type: String) -> Shown {
      Shown(name: name, types: ["Post"] + (type == "TextPost" ? [] : [type]))
    }
    static let votable = Shown(name: "post", types: ["Post", "ProductPost"])
    static let cardPost = Shown(name: "cardPost", types: ["Post", "CardOffer", "CardRequest"])
    static let cardOffer = Shown(name: "cardOffer", types: ["Post", "CardOffer"])
    static let event = Shown(name: "event", types: ["Post", "Event"])
    static let circle = Shown(name: "circle", types: ["Circle"])
    static let comment = Shown(name: "comment", types: ["Comment"])
  }

  /// Runs a mutation; its refusals and its payload.
  private mutating func ask(_ viewer: Int, _ field: String, _ selection: String = "__typename")
    throws -> (refusals: [Refusal], payload: JSONValue)
  {
    history.append("\(viewer): \(field)")
    let payload = try server.payload(field, selection, [:], as: people[viewer])
    let refusals = (payload["userErrors"]?.array ?? []).map { Refusal($0) }
    if refusals.isEmpty { done += 1 } else { refused += 1 }
    return (refusals, payload)
  }

  /// Checks that the payload equals what is read now.
  private mutating func compare(
    _ viewer: Int, _ payload: JSONValue, _ shown: Shown, _ ids: [String]
  ) {
    let found = Self.sorted(payload[shown.name] ?? .null)
    let expected = ids.map { node($0, viewer) }
    guard (found.array ?? [found]) != expected else { return }
    report("the payload shows \(found) instead of \(expected)")
  }

  private mutating func report(_ difference: String) {
    differences.append("\(difference):\n\(history.suffix(30).joined(separator: "\n"))")
  }

  private mutating func compare(_ found: [Refusal], _ expected: [Refusal]) {
    guard found != expected else { return }
    report("refused with \(found) instead of \(expected)")
  }

  /// - Parameters:
  ///   - outcome: what the rules say, who have done it by now.
  ///   - shown: what the payload shows of `ids`, if anything.
  private mutating func expect(
    _ outcome: RuleModel.Outcome, _ viewer: Int, _ field: String, _ shown: Shown? = nil,
    _ ids: String...
  ) throws {
    var expected: [Refusal] = []
    if case .refused(let refusals) = outcome { expected = refusals }
    let answer = try ask(viewer, field, shown?.selection ?? "__typename")
    compare(answer.refusals, expected)
    if let shown, answer.refusals.isEmpty { compare(viewer, answer.payload, shown, ids) }
  }

  mutating func step() throws {
    let viewer = below(people.count)
    let other = below(people.count)
    let name = people[other].wire
    let turn = model.posts.count < 10 && below(3) == 0 ? 6 : below(29)
    switch turn {
    case 0, 1:
      let third = (other + 1) % people.count
      try expect(
        model.follow(viewer, [other, third]), viewer,
        "followUsers(userIds: [\"\(name)\", \"\(people[third].wire)\"])", .users, name,
        people[third].wire)
    case 2:
      try expect(
        model.unfollow(viewer, [other]), viewer, "unfollowUsers(userIds: [\"\(name)\"])", .users,
        name)
    case 3:
      guard below(3) == 0 else { return }
      try expect(model.block(viewer, other), viewer, "blockUser(userId: \"\(name)\")")
    case 4, 5:
      // Sooner or later they make up.
      let blocked = model.blocks.sorted { ($0.one, $0.other) < ($1.one, $1.other) }
        .randomElement(using: &random)
      let (a, b) = blocked.map { ($0.one, $0.other) } ?? (viewer, other)
      try expect(model.unblock(a, b), a, "unblockUser(userId: \"\(people[b].wire)\")")
    case 6...8: try create(viewer)
    case 9:
      let id = post()
      let type = model.posts[id].map { RuleModel.type(of: $0) } ?? "textPost"
      let name = type.prefix(1).uppercased() + type.dropFirst()
      try expect(
        model.update(viewer, id, as: type, body: "changed"), viewer,
        "update\(name)(\(type)Id: \"\(id)\", input: {body: \"changed\"})", .made(type, name), id)
    case 10:
      guard below(2) == 0 else { return }
      let id = post()
      try expect(model.delete(viewer, id), viewer, "deletePost(postId: \"\(id)\")")
    case 11...13:
      let id = below(3) == 0 ? some(model.comments.keys) : post()
      let kind = ["HEART", "LIKE", "TOP", "AGREE"][below(4)]
      if below(3) > 0 {
        try expect(
          model.react(viewer, id, kind), viewer, "react(subjectId: \"\(id)\", kind: \(kind))",
          .subject, id)
      } else {
        try expect(
          model.unreact(viewer, id, kind), viewer, "unreact(subjectId: \"\(id)\", kind: \(kind))",
          .subject, id)
      }
    case 14:
      let id = post("outfitPost")
      let choice = ["WEAR_IT", "CHANGE_IT"][below(2)]
      try expect(
        model.vote(viewer, id, choice), viewer, "castVote(postId: \"\(id)\", choice: \(choice))",
        .votable, id)
    case 15, 16:
      let subject = below(3) == 0 ? some(model.circles.keys) : post()
      let expected =
        model.mayComment(viewer, subject) ? [] : [Refusal("NOT_FOUND", "subjectId")]
      let (found, payload) = try ask(
        viewer, "addComment(subjectId: \"\(subject)\", body: \"well\")", Shown.comment.selection)
      compare(found, expected)
      if found.isEmpty {
        let id = payload.at("comment.id")?.string ?? ""
        model.comment(viewer, id, on: subject, "well")
        compare(viewer, payload, .comment, [id])
      }
    case 17:
      let id = some(model.comments.keys)
      try expect(model.deleteComment(viewer, id), viewer, "deleteComment(commentId: \"\(id)\")")
    case 18...20: try circle(viewer, other)
    case 21:
      let id = post("event")
      let status = ["GOING", "MAYBE", "NOT_GOING"][below(3)]
      try expect(
        model.attend(viewer, id, status), viewer,
        "setAttendance(eventId: \"\(id)\", status: \(status))", .event, id)
    case 22:
      let id = post("event")
      if below(4) == 0 {
        try expect(
          model.cancelEvent(viewer, id), viewer, "cancelEvent(eventId: \"\(id)\")", .event, id)
      } else if below(6) == 0 {
        try expect(
          model.restoreEvent(viewer, id), viewer, "restoreEvent(eventId: \"\(id)\")", .event, id)
      } else if below(5) == 0 {
        try expect(
          model.clearAttendance(viewer, id), viewer, "clearAttendance(eventId: \"\(id)\")", .event,
          id)
      } else {
        try expect(
          model.inviteToEvent(viewer, id, [other]), viewer,
          "inviteToEvent(eventId: \"\(id)\", userIds: [\"\(name)\"])", .event, id)
      }
    case 23:
      if below(5) == 0 {
        let id = post(below(2) == 0 ? "cardOffer" : "cardRequest")
        if below(2) == 0 {
          try expect(
            model.reopen(viewer, id), viewer, "reopenCardPost(postId: \"\(id)\")", .cardPost, id)
        } else {
          try expect(
            model.close(viewer, id), viewer, "closeCardPost(postId: \"\(id)\")", .cardPost, id)
        }
      } else {
        let id = post("cardOffer")
        try expect(
          model.respond(viewer, id), viewer, "respondToOffer(cardOfferId: \"\(id)\")", .cardOffer,
          id)
      }
    case 25: try card(viewer)
    case 26:
      let field = below(3) > 0 ? "addTo" : "removeFrom"
      if field == "addTo" { model.wishes.insert(viewer) } else { model.wishes.remove(viewer) }
      try expect(.done, viewer, "\(field)ShoppingList(productId: \"\(product.wire)\")")
    case 24:
      let session = model.sessions.keys.sorted()[below(model.sessions.count)]
      if let booking = model.sessions[session]?.bookings[viewer], below(2) == 0 {
        model.sessions[session]?.bookings[viewer] = nil
        try expect(.done, viewer, "cancelBooking(bookingId: \"\(booking)\")")
        return
      }
      let expected = model.mayBook(viewer, session)
      let (found, payload) = try ask(
        viewer, "bookClassSession(classSessionId: \"\(session)\")", "booking { id }")
      compare(found, expected)
      if found.isEmpty {
        model.sessions[session]?.bookings[viewer] = payload.at("booking.id")?.string
      }
    default:
      if below(4) == 0 {
        try expect(model.markRead(viewer), viewer, "markNotificationsRead")
      } else {
        try expect(
          model.message(viewer, [other]), viewer,
          "sendMessage(to: {userIds: [\"\(name)\"]}, body: \"hi\")")
      }
    }
  }

  private mutating func create(_ viewer: Int) throws {
    let kind = [
      "textPost", "textPost", "cardOffer", "cardRequest", "event", "event", "productPost",
    ][below(7)]
    let circle = below(2) == 0 ? some(model.circles.keys) : nil
    let wanted = [nil, nil, "PUBLIC", "CIRCLE", "INVITED"][below(5)]
    // Words and events can say who sees them.
    let visibility = ["textPost", "event"].contains(kind) ? wanted : nil
    var input = "body: \"words\""
    if let circle { input += ", circleId: \"\(circle)\"" }
    if let visibility { input += ", visibility: \(visibility)" }
    var expected = model.place(viewer, kind, circle: circle, visibility: visibility)
    var invited: [Int] = []
    var limit: Int?
    switch kind {
    case "cardOffer":
      limit = below(2) + 1
      input += ", responseLimit: \(limit ?? 1)"
    case "event":
      invited = [below(people.count)]
      input += ", title: \"Feast\", startsAt: \"2041-03-03T10:00:00.000Z\""
      input += ", inviteUserIds: [\"\(people[invited[0]].wire)\"]"
      expected += model.named(viewer, invited, ["input", "inviteUserIds"])
    case "productPost":
      input += ", productId: \"\(product.wire)\", isVotingEnabled: true"
    default: break
    }
    let field = kind.prefix(1).uppercased() + kind.dropFirst()
    let shown = Shown.made(kind, String(field))
    let (found, payload) = try ask(
      viewer, "create\(field)(input: {\(input)})", shown.selection)
    compare(found, expected)
    guard found.isEmpty else { return }
    let id = payload.at("\(kind).id")?.string ?? ""
    model.create(
      viewer, id, kind: kind == "productPost" ? "outfitPost" : kind, body: "words", circle: circle,
      visibility: visibility, limit: limit, invited: invited)
    compare(viewer, payload, shown, [id])
  }

  /// Makes a random change to requests, offers and their follow-ups.
  private mutating func card(_ viewer: Int) throws {
    switch below(3) {
    case 0:
      let id = post("cardRequest")
      let expected = model.mayAsk(viewer, id)
      let (found, payload) = try ask(
        viewer, "requestAddress(cardRequestId: \"\(id)\")", "infoRequest { id }")
      compare(found, expected)
      if found.isEmpty {
        model.ask(viewer, payload.at("infoRequest.id")?.string ?? "", for: id)
      }
    case 1:
      let id = some(model.requests.keys)
      let person = below(3) == 0 ? viewer : model.requests[id]?.recipient ?? viewer
      let approves = below(3) > 0
      try expect(
        model.answer(person, id, approves), person,
        "answerInfoRequest(infoRequestId: \"\(id)\", approve: \(approves))")
    default:
      guard !model.cards.isEmpty else { return }
      let index = below(model.cards.count)
      let card = model.cards[index]
      guard model.seesFavour(card.sender, card) else { return }
      let owed = try server.data(
        "{ viewer { followUps(role: SENDER, first: 100) { nodes { id post { ... on Node { id } } recipient { id } } } } }",
        as: people[card.sender])
      let id = owed.at("viewer.followUps.nodes")?.array?.first {
        $0.at("post.id")?.string == card.post
          && $0.at("recipient.id")?.string == model.people[card.recipient]
      }?["id"]?.string
      let isSent = below(2) == 0
      try expect(
        model.resolve(index, isSent), card.sender,
        "resolveFollowUp(followUpId: \"\(id ?? "")\", state: \(isSent ? "COMPLETED" : "UNABLE"))")
    }
  }

  private mutating func circle(_ viewer: Int, _ other: Int) throws {
    let id = some(model.circles.keys)
    let name = people[other].wire
    switch below(8) {
    case 0, 1:
      let expected = model.named(viewer, [other], ["input", "memberIds"], self: true)
      let (found, payload) = try ask(
        viewer, "createCircle(input: {name: \"Club\", memberIds: [\"\(name)\"]})",
        Shown.circle.selection)
      compare(found, expected)
      if found.isEmpty {
        let made = payload.at("circle.id")?.string ?? ""
        model.createCircle(viewer, made, "Club", [other])
        compare(viewer, payload, .circle, [made])
      }
    case 2, 3:
      try expect(
        model.addMembers(viewer, id, [other]), viewer,
        "addCircleMembers(circleId: \"\(id)\", userIds: [\"\(name)\"])", .circle, id)
    case 4:
      try expect(
        model.removeMembers(viewer, id, [other]), viewer,
        "removeCircleMembers(circleId: \"\(id)\", userIds: [\"\(name)\"])", .circle, id)
    case 5:
      try expect(model.join(viewer, id), viewer, "joinCircle(circleId: \"\(id)\")", .circle, id)
    case 6: try expect(model.leave(viewer, id), viewer, "leaveCircle(circleId: \"\(id)\")")
    default:
      guard below(3) == 0, model.circles[id]?.isChannel != true else { return }
      try expect(model.deleteCircle(viewer, id), viewer, "deleteCircle(circleId: \"\(id)\")")
    }
  }

  // MARK: Reading

  /// Everything, as everybody reads it.
  mutating func read() throws {
    let ids =
      model.people + model.circles.keys.sorted() + model.posts.keys.sorted()
      + model.comments.keys.sorted() + model.sessions.keys.sorted()
    for viewer in people.indices {
      for start in stride(from: 0, to: ids.count, by: 50) {
        let chunk = Array(ids[start..<min(start + 50, ids.count)])
        let answer = try server.data(
          Self.query, ["ids": .array(chunk.map { .string($0) })], as: people[viewer])
        for (id, found) in zip(chunk, answer["nodes"]?.array ?? []) {
          let (found, expected) = (Self.sorted(found), node(id, viewer))
          guard found != expected else { continue }
          report("\(viewer) reads \(found) instead of \(expected)")
        }
      }
      try readOwn(viewer)
    }
  }

  private static let query =
    "query($ids: [ID!]!) { nodes(ids: $ids) { \(selection(parts.map(\.key))) } }"

  /// The selections of each type.
  private static let parts: KeyValuePairs<String, String> = [
    "User": """
    viewerIsFollowing isFollowingViewer viewerIsBlocking
    followers(first: 100) { totalCount nodes { id } } following(first: 100) { totalCount nodes { id } }
    posts(first: 100) { totalCount nodes { id } }
    """,
    "Circle": """
    name viewerRole members(first: 100) { totalCount nodes { id } }
    comments(first: 100) { totalCount nodes { id } }
    """,
    "Post": """
    author { id } body visibility hearts: reactionCount(kind: HEART) likes: reactionCount(kind: LIKE)
    reactions(first: 100) { nodes { id } } viewerReactions
    comments(first: 100) { totalCount nodes { id } }
    """,
    "ProductPost": "viewerVote", "CardOffer": "isOpen responseCount",
    "CardRequest": "isOpen responseCount",
    "Event": "viewerAttendance attendees(status: GOING, first: 100) { totalCount nodes { id } }",
    "Comment": "author { id } body reactionCount(kind: AGREE)",
    "ClassSession": "seatsLeft viewerBooking { id }",
  ]

  private static func selection(_ types: [String]) -> String {
    "__typename ... on Node { id } "
      + parts.filter { types.contains($0.key) }.map { "... on \($0.key) { \($0.value) }" }
      .joined(separator: " ")
  }

  /// Returns the value with the elements of pages sorted by their text, because other tests check
  /// their order.
  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        members.map { member in
          let inner = sorted(member.value)
          guard member.name == "nodes", let elements = inner.array else {
            return JSONValue.Member(name: member.name, value: inner)
          }
          return JSONValue.Member(
            name: member.name, value: .array(elements.sorted { "\($0)" < "\($1)" }))
        })
    case .array(let elements): .array(elements.map { sorted($0) })
    default: value
    }
  }

  private func node(_ id: String, _ viewer: Int) -> JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func nodes(_ ids: [String]) -> JSONValue {
      .array(ids.map { ["id": .string($0)] as JSONValue }.sorted { "\($0)" < "\($1)" })
    }
    func page(_ ids: [String]) -> JSONValue {
      ["totalCount": .number(String(ids.count)), "nodes": nodes(ids)]
    }
    func seen(_ people: some Sequence<Int>) -> [String] {
      people.filter { !model.isApart(viewer, $0) }.map { model.people[$0] }
    }
    func thread() -> JSONValue {
      page(
        model.comments.filter { $0.value.subject == id && !model.isApart(viewer, $0.value.author) }
          .map(\.key))
    }
    var members: [(String, JSONValue)] = []
    if let person = model.people.firstIndex(of: id) {
      guard !model.isApart(viewer, person) else { return .null }
      members = [
        ("__typename", "User"), ("id", .string(id)),
        (
          "viewerIsFollowing",
          .boolean(model.follows.contains(RuleModel.Pair(one: viewer, other: person)))
        ),
        (
          "isFollowingViewer",
          .boolean(model.follows.contains(RuleModel.Pair(one: person, other: viewer)))
        ), ("viewerIsBlocking", false),
        ("followers", page(seen(model.follows.filter { $0.other == person }.map(\.one)))),
        ("following", page(seen(model.follows.filter { $0.one == person }.map(\.other)))),
        (
          "posts",
          page(
            model.posts.filter { $0.value.author == person && model.seesPost(viewer, $0.key) }
              .map(\.key))
        ),
      ]
    } else if let circle = model.circles[id] {
      guard model.seesCircle(viewer, id) else { return .null }
      members = [
        ("__typename", "Circle"), ("id", .string(id)), ("name", .string(circle.name)),
        (
          "viewerRole",
          !circle.members.contains(viewer) ? .null : circle.owner == viewer ? "OWNER" : "MEMBER"
        ), ("members", page(seen(circle.members))), ("comments", thread()),
      ]
    } else if let post = model.posts[id] {
      guard model.seesPost(viewer, id) else { return .null }
      let reactions = model.reactions.filter { $0.subject == id }
      let types = [
        "textPost": "TextPost", "cardOffer": "CardOffer", "cardRequest": "CardRequest",
        "event": "Event", "outfitPost": "ProductPost",
      ]
      let own = ["HEART", "LIKE", "TOP"].filter { kind in
        reactions.contains { $0.person == viewer && $0.kind == kind }
      }
      members = [
        ("__typename", text(types[post.kind])), ("id", .string(id)),
        ("author", ["id": .string(model.people[post.author])]), ("body", .string(post.body)),
        ("visibility", .string(post.visibility)),
        ("hearts", .number(String(reactions.count { $0.kind == "HEART" }))),
        ("likes", .number(String(reactions.count { $0.kind == "LIKE" }))),
        ("reactions", ["nodes": nodes(seen(reactions.map(\.person)))]),
        ("viewerReactions", .array(own.map { .string($0) })), ("comments", thread()),
      ]
      switch post.kind {
      case "outfitPost": members.append(("viewerVote", text(model.votes[id]?[viewer])))
      case "cardOffer", "cardRequest":
        let count =
          post.kind == "cardOffer"
          ? model.responses[id]?.count ?? 0 : model.requests.values.count { $0.post == id }
        members += [
          ("isOpen", .boolean(post.isOpen)), ("responseCount", .number(String(count))),
        ]
      case "event":
        let coming = (model.attendance[id] ?? [:]).filter { $0.value == "GOING" }.map(\.key)
        members += [
          ("viewerAttendance", text(model.attendance[id]?[viewer])),
          ("attendees", page(seen(coming))),
        ]
      default: break
      }
    } else if let comment = model.comments[id] {
      guard model.seesComment(viewer, id) else { return .null }
      members = [
        ("__typename", "Comment"), ("id", .string(id)),
        ("author", ["id": .string(model.people[comment.author])]), ("body", .string(comment.body)),
        ("reactionCount", .number(String(model.reactions.count { $0.subject == id }))),
      ]
    } else if let session = model.sessions[id] {
      members = [
        ("__typename", "ClassSession"), ("id", .string(id)),
        ("seatsLeft", .number(String(session.seats - session.bookings.count))),
        ("viewerBooking", session.bookings[viewer].map { ["id": .string($0)] } ?? .null),
      ]
    }
    return .object(members.map { JSONValue.Member(name: $0.0, value: $0.1) })
  }

  private mutating func readOwn(_ viewer: Int) throws {
    let answer = try server.data(
      """
      { viewer { unreadNotificationCount notifications(first: 100) { totalCount nodes { reason actor { id } } }
        circles(first: 0) { totalCount } blockedUsers(first: 0) { totalCount }
        conversations(first: 100) { nodes { messages(first: 0) { totalCount } } }
        shoppingList(first: 0) { totalCount } infoRequests(first: 100) { nodes { id } }
        sent: followUps(role: SENDER, first: 100) { nodes { state recipient { id } } }
        received: followUps(role: RECIPIENT, first: 100) { nodes { state sender { id } } } } }
      """, as: people[viewer])
    let notes = model.notes.filter { note in
      note.recipient == viewer && note.actor.map { !model.isApart(viewer, $0) } ?? true
    }
    let reasons = notes.suffix(100).map {
      "\($0.reason) \($0.actor.map { model.people[$0] } ?? "")"
    }.sorted()
    let found = (answer.at("viewer.notifications.nodes")?.array ?? []).map {
      "\($0["reason"]?.string ?? "") \($0.at("actor.id")?.string ?? "")"
    }.sorted()
    let talks = model.talks.filter { $0.key.contains(viewer) }.map { $0.value.count }.sorted()
    let foundTalks = (answer.at("viewer.conversations.nodes")?.array ?? []).map {
      $0.at("messages.totalCount")?.int ?? 0
    }.sorted()
    let seen = model.cards.filter { model.seesFavour(viewer, $0) }
    func cards(_ name: String, _ path: String) -> String {
      "\((answer.at("viewer.\(name).nodes")?.array ?? []).map { "\($0["state"]?.string ?? "") \($0.at(path)?.string ?? "")" }.sorted())"
    }
    for (name, one, two) in [
      (
        "cards sent", cards("sent", "recipient.id"),
        "\(seen.filter { $0.sender == viewer }.map { "\($0.state) \(model.people[$0.recipient])" }.sorted())"
      ),
      (
        "cards received", cards("received", "sender.id"),
        "\(seen.filter { $0.recipient == viewer }.map { "\($0.state) \(model.people[$0.sender])" }.sorted())"
      ),
      (
        "requests", "\(answer.strings("viewer.infoRequests.nodes", "id").sorted())",
        "\(model.requests.filter { $0.value.recipient == viewer && model.seesFavour(viewer, $0.value) }.map(\.key).sorted())"
      ),
      (
        "wishes", "\(answer.at("viewer.shoppingList.totalCount")?.int ?? -1)",
        model.wishes.contains(viewer) ? "1" : "0"
      ),
      ("notifications", notes.count > 100 ? "" : "\(found)", notes.count > 100 ? "" : "\(reasons)"),
      (
        "unread", "\(answer.at("viewer.unreadNotificationCount")?.int ?? -1)",
        "\(notes.count { !$0.isRead })"
      ), ("talks", "\(foundTalks)", "\(talks)"),
      (
        "circles", "\(answer.at("viewer.circles.totalCount")?.int ?? -1)",
        "\(model.circles.values.count { $0.members.contains(viewer) })"
      ),
      (
        "blocked", "\(answer.at("viewer.blockedUsers.totalCount")?.int ?? -1)",
        "\(model.blocks.count { $0.one == viewer })"
      ),
    ] where one != two {
      report("\(viewer) reads \(name) \(one) instead of \(two)")
    }
  }
}
