import JSON
import TestSupport
import Testing

/// Decisions of staff over HTTP: flags and photos.
@Suite(.usesCluster) struct ModerationTests {
  private static let resolve = "resolveFlags(subjectId: $id)"
  private var server: GraphServer { get throws { try .shared } }

  /// Returns the first flags and photos to decide about; null for a user who is not staff.
  private func moderation(as person: Person) throws -> JSONValue? {
    try server.data(
      """
      { viewer { moderation {
        flags(first: 100) { nodes {
          subjectId subject { id __typename } user { id } reason note isOpen resolvedAt
          resolvedBy { id } resolution } }
        photos(first: 100) { nodes { id } } } } }
      """, as: person
    ).at("viewer.moderation")
  }

  /// Returns a person's flag on a subject, as staff see it.
  private func flag(about subject: NodeKey, by person: Person, as staff: Person) throws -> JSONValue
  {
    let flags = try moderation(as: staff)?.at("flags.nodes")?.array ?? []
    return try #require(
      flags.first { $0["subjectId"] == subject.json && $0.at("user.id") == person.json })
  }

  @Test func `only staff has something to decide about`() throws {
    let server = try server
    let data = try server.data()
    let (ada, trainer) = (
      try data.person("ada"), try data.person("trainer", roles: ["MEMBER", "TRAINER", "SERVICE"])
    )
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    #expect(try moderation(as: ada) == .null)
    #expect(try moderation(as: trainer) == .null)
    #expect(try moderation(as: staff) != .null)
    let post = try data.post(.text, by: trainer)
    try server.mutate("flag(subjectId: $id)", "__typename", ["id: ID!": post.json], as: ada)
    for person in [ada, trainer] {
      #expect(
        try server.refusals(Self.resolve, ["id: ID!": post.json], as: person)
          == [Refusal("FORBIDDEN")])
    }
    #expect(
      try server.mutationErrorCodes(Self.resolve, ["id: ID!": post.json], as: nil)
        == ["UNAUTHENTICATED"])
    #expect(try flag(about: post, by: ada, as: staff)["isOpen"] == true)
  }

  @Test func `a flag is seen with all that was said, settled once, and goes behind open ones`()
    throws
  {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let (staff, other) = (
      try data.person("staff", roles: ["MEMBER", "STAFF"]),
      try data.person("other", roles: ["MEMBER", "STAFF"])
    )
    // In a group that staff does not belong to: its id is all they see.
    let group = try data.circle("Quiet", owner: bob, members: [ada])
    let hidden = try data.post(.text, by: bob, circle: group, visibility: "CIRCLE")
    let post = try data.post(.text, by: bob)
    for (subject, reason) in [(post, "SPAM"), (hidden, "HARASSMENT")] {
      try server.mutate(
        "flag(subjectId: $id, reason: \(reason), note: \" Look at this \")", "__typename",
        ["id: ID!": subject.json], as: ada)
    }
    func flags() throws -> [JSONValue] {
      try server.data(
        """
        { viewer { moderation { flags { totalCount nodes {
          subjectId subject { __typename } user { id } reason note isOpen resolvedAt
          resolvedBy { id } resolution } } } } }
        """, as: staff
      ).at("viewer.moderation.flags.nodes")?.array ?? []
    }
    let before = try flags()
    try #require(before.count == 2)
    #expect(before.map { $0["subjectId"] } == [hidden.json, post.json])
    #expect(before.map { $0["reason"] } == ["HARASSMENT", "SPAM"])
    #expect(before[0]["subject"] == .null)
    #expect(before[1].at("subject.__typename") == "TextPost")
    for flag in before {
      #expect(flag.at("user.id") == ada.json)
      #expect(flag["note"] == "Look at this")
      #expect(flag["isOpen"] == true)
      #expect(flag["resolvedAt"] == .null)
    }

    func resolve(_ note: String, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "resolveFlags(subjectId: $id, note: $note)",
        ["id: ID!": hidden.json, "note: String": .string(note)], as: person)
    }
    let settled = try server.mutate(
      "resolveFlags(subjectId: $id, note: \"Spoken to\")",
      "flags { subjectId isOpen resolution resolvedBy { id } resolvedAt }",
      ["id: ID!": hidden.json], as: staff)
    #expect(settled.at("flags")?.array?.count == 1)
    #expect(settled.at("flags.0.subjectId") == hidden.json)
    #expect(settled.at("flags.0.isOpen") == false)
    #expect(settled.at("flags.0.resolution") == "Spoken to")
    #expect(settled.at("flags.0.resolvedBy.id") == staff.json)
    #expect(try flags().map { $0["subjectId"] } == [post.json, hidden.json])
    // The same again is the same; another answer comes too late, whoever gives it.
    #expect(try resolve("Spoken to", as: staff) == [])
    #expect(try resolve("Spoken to", as: other) == [])
    #expect(try flags().last?["resolvedAt"] == settled.at("flags.0.resolvedAt"))
    #expect(try resolve("Nothing wrong", as: staff) == [Refusal("ALREADY_DONE", "subjectId")])
    #expect(
      try resolve(String(repeating: "x", count: 2001), as: staff) == [Refusal("TOO_LONG", "note")])
    // What nobody flagged has nothing to settle.
    let quiet = try data.post(.text, by: bob)
    for other in [quiet.json, "x", NodeKey(1 << 40 | 61).json] {
      #expect(
        try server.refusals(Self.resolve, ["id: ID!": other], as: staff)
          == [Refusal("NOT_FOUND", "subjectId")])
    }
    // It is in the audit log, and a flag goes with what it is about.
    let log = try data.run(
      "SELECT count(*) FROM audit_log WHERE act = 'RESOLVE_FLAGS' AND actor_id = $1", [staff])
    #expect(log[0][0] == "1")
    try server.mutate("deletePost(postId: $id)", "deletedId", ["id: ID!": hidden.json], as: staff)
    #expect(try flags().map { $0["subjectId"] } == [post.json])
  }

  @Test func `only one of many settles a flag`() throws {
    let server = try server
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let post = try data.post(.text, by: bob)
    try server.mutate("flag(subjectId: $id)", "__typename", ["id: ID!": post.json], as: ada)
    let staff = try (0..<16).map { _ in try data.person("staff", roles: ["MEMBER", "STAFF"]) }
    let done = try crowd(of: 16) { number in
      try server.refusals(
        "resolveFlags(subjectId: $id, note: \"\(number)\")", ["id: ID!": post.json],
        as: staff[number])
    }
    #expect(done.count { $0.isEmpty } == 1)
    #expect(done.count { $0 == [Refusal("ALREADY_DONE", "subjectId")] } == 15)
  }

  @Test func `what most people flagged comes first, and is settled at once, and opens again`()
    throws
  {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let people = try (0..<4).map { try data.person("p\($0)") }
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let service = try data.person("service", roles: ["MEMBER", "SERVICE"])
    let author = try data.person("author")
    let (late, much) = (try data.post(.text, by: author), try data.post(.text, by: author))
    let early = try data.comment(late, by: author, "hm")
    func flag(_ subject: NodeKey, _ reason: String, as person: Person) throws {
      try server.mutate(
        "flag(subjectId: $id, reason: \(reason))", ["id: ID!": subject.json], as: person)
    }
    try flag(early, "SPAM", as: people[0])
    for person in people[..<3] { try flag(much, "NSFW", as: person) }
    try flag(late, "OTHER", as: people[3])
    func flagged(_ arguments: String = "") throws -> [JSONValue] {
      try server.data(
        """
        { viewer { moderation { flagged\(arguments) { totalCount nodes {
          subjectId openFlagCount subject { __typename } flags { reason user { id } } } } } } }
        """, as: staff
      ).at("viewer.moderation.flagged.nodes")?.array ?? []
    }
    let before = try flagged()
    #expect(before.map { $0["subjectId"] } == [much.json, early.json, late.json])
    #expect(before.map { $0["openFlagCount"] } == [3, 1, 1])
    #expect(before.first?.list("flags", "reason") == ["NSFW", "NSFW", "NSFW"])
    #expect(before.first?.list("flags", "user.id") == people[..<3].map(\.json))
    #expect(before.map { $0.at("subject.__typename") } == ["TextPost", "Comment", "TextPost"])
    #expect(try flagged("(reason: SPAM)").map { $0["subjectId"] } == [early.json])
    // Pages from both ends meet.
    let first = try server.data(
      "{ viewer { moderation { flagged(first: 2) { edges { cursor node { subjectId } } } } } }",
      as: staff)
    #expect(
      first.list("viewer.moderation.flagged.edges", "node.subjectId") == [much.json, early.json])
    let cursor = first.list("viewer.moderation.flagged.edges", "cursor").last ?? .null
    let rest = try server.data(
      """
      query($after: String) { viewer { moderation { flagged(first: 2, after: $after) {
        nodes { subjectId } } } } }
      """, ["after": cursor], as: staff)
    #expect(rest.list("viewer.moderation.flagged.nodes", "subjectId") == [late.json])
    let done = try server.mutate(
      Self.resolve, "flags { user { id } isOpen }", ["id: ID!": much.json], as: staff)
    #expect(done.list("flags", "user.id") == people[..<3].map(\.json))
    #expect(done.list("flags", "isOpen") == [false, false, false])
    #expect(try flagged().map { $0["subjectId"] } == [early.json, late.json])
    func flags(_ arguments: String) throws -> [JSONValue] {
      try server.data(
        "{ viewer { moderation { flags(\(arguments)) { nodes { subjectId } } } } }", as: staff
      ).list("viewer.moderation.flags.nodes", "subjectId")
    }
    #expect(try flags("isOpen: true") == [late.json, early.json])
    #expect(try flags("isOpen: false") == [much.json, much.json, much.json])
    #expect(try flags("reason: OTHER") == [late.json])
    // Another person's flag opens it again.
    try flag(much, "SPAM", as: people[3])
    #expect(try flagged().map { $0["openFlagCount"] } == [1, 1, 1])
    #expect(
      try server.data("{ viewer { moderation { __typename } } }", as: service)
        == ["viewer": ["moderation": nil]])
  }

  @Test func `a flag is taken back until staff settles it`() throws {
    let server = try server
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let post = try data.post(.text, by: bob)
    func unflag(_ id: NodeKey) throws -> [Refusal] {
      try server.refusals("unflag(subjectId: $id)", ["id: ID!": id.json], as: ada)
    }
    func count() throws -> Int {
      try data.run("SELECT FROM flag WHERE subject_id = $1", [post]).count
    }
    #expect(try unflag(post) == [])
    try server.mutate("flag(subjectId: $id)", ["id: ID!": post.json], as: ada)
    #expect(try count() == 1)
    #expect(try unflag(post) == [])
    #expect(try unflag(post) == [])
    #expect(try count() == 0)
    try server.mutate("flag(subjectId: $id)", ["id: ID!": post.json], as: ada)
    try server.mutate(Self.resolve, ["id: ID!": post.json], as: staff)
    #expect(try unflag(post) == [Refusal("ALREADY_DONE", "subjectId")])
    let hidden = try data.post(
      .text, by: bob, circle: try data.circle("Quiet", owner: bob), visibility: "CIRCLE")
    #expect(try unflag(hidden) == [Refusal("NOT_FOUND", "subjectId")])
  }

  @Test func `photos wait until somebody has decided, and then are where their post is`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let photo = try data.photo(of: ada, moderation: "PENDING")
    let post = try data.post(.text, by: ada)
    try data.add("post_photo", ["post_id": post, "position": 0, "photo_id": photo])
    func waits() throws -> Bool {
      try server.data(
        "{ viewer { moderation { photos(first: 100) { nodes { id } } } } }", as: staff
      ).strings("viewer.moderation.photos.nodes", "id").contains(photo.wire)
    }
    func shown(to person: Person) throws -> Int {
      try server.data(
        "query($id: ID!) { node(id: $id) { ... on TextPost { photos { id } } } }",
        ["id": post.json], as: person
      ).at("node.photos")?.array?.count ?? -1
    }
    #expect(try waits())
    #expect(try shown(to: bob) == 0)
    #expect(try shown(to: ada) == 1)
    for (state, toBob, toAda) in [("REJECTED", 0, 0), ("APPROVED", 1, 1)] {
      try server.mutate(
        "moderatePhoto(photoId: $id, state: \(state))", "photo { moderation }",
        ["id: ID!": photo.json], as: staff)
      #expect(try !waits())
      #expect(try shown(to: bob) == toBob)
      #expect(try shown(to: ada) == toAda)
    }
  }
}
