import JSON
import TestSupport
import Testing

/// Decisions of staff over HTTP: flags and photos.
@Suite(.usesCluster) struct ModerationTests {
  private var server: GraphServer { get throws { try .shared } }

  /// Returns the first flags and photos to decide about; null for a user who is not staff.
  private func moderation(as person: Person) throws -> JSONValue? {
    try server.data(
      """
      { viewer { moderation {
        flags(first: 100) { nodes {
          id subjectId subject { id __typename } user { id } reason note isOpen resolvedAt
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
    let id = try #require(try flag(about: post, by: ada, as: staff)["id"])
    for person in [ada, trainer] {
      #expect(
        try server.refusals("resolveFlag(flagId: $id)", ["id: ID!": id], as: person)
          == [Refusal("FORBIDDEN")])
    }
    #expect(
      try server.mutationErrorCodes("resolveFlag(flagId: $id)", ["id: ID!": id], as: nil)
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
          id subjectId subject { __typename } user { id } reason note isOpen resolvedAt
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

    let id = try #require(before[0]["id"])
    func resolve(_ note: String, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "resolveFlag(flagId: $id, note: $note)",
        ["id: ID!": id, "note: String": .string(note)], as: person)
    }
    let settled = try server.mutate(
      "resolveFlag(flagId: $id, note: \"Spoken to\")",
      "flag { id isOpen resolution resolvedBy { id } resolvedAt }", ["id: ID!": id], as: staff)
    #expect(settled.at("flag.id") == id)
    #expect(settled.at("flag.isOpen") == false)
    #expect(settled.at("flag.resolution") == "Spoken to")
    #expect(settled.at("flag.resolvedBy.id") == staff.json)
    #expect(try flags().map { $0["subjectId"] } == [post.json, hidden.json])
    // The same again is the same; another answer comes too late, whoever gives it.
    #expect(try resolve("Spoken to", as: staff) == [])
    #expect(try flags().last?["resolvedAt"] == settled.at("flag.resolvedAt"))
    #expect(try resolve("Nothing wrong", as: staff) == [Refusal("ALREADY_DONE", "flagId")])
    #expect(try resolve("Spoken to", as: other) == [Refusal("ALREADY_DONE", "flagId")])
    #expect(
      try resolve(String(repeating: "x", count: 2001), as: staff) == [Refusal("TOO_LONG", "note")])
    // Neither a post nor nothing is a flag.
    for other in [post.json, "x", NodeKey(1 << 40 | 61).json] {
      #expect(
        try server.refusals("resolveFlag(flagId: $id)", ["id: ID!": other], as: staff)
          == [Refusal("NOT_FOUND", "flagId")])
    }
    // It is in the audit log, and a flag goes with what it is about.
    let log = try data.run(
      "SELECT count(*) FROM audit_log WHERE act = 'RESOLVE_FLAG' AND actor_id = $1", [staff])
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
    let id = try #require(try flag(about: post, by: ada, as: staff[0])["id"])
    let done = try crowd(of: 16) { number in
      try server.refusals(
        "resolveFlag(flagId: $id, note: \"\(number)\")", ["id: ID!": id], as: staff[number])
    }
    #expect(done.count { $0.isEmpty } == 1)
    #expect(done.count { $0 == [Refusal("ALREADY_DONE", "flagId")] } == 15)
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
