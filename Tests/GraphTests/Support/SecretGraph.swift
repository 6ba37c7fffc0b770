import TestSupport

/// A graph with a private object of every kind, each with a unique word, and people in every
/// relation to it.
///
/// It is built in two steps: first what all users may know, with all people in place. After a
/// snapshot of the responses to those who must not notice anything, the private objects follow.
struct SecretGraph {
  enum Role: String, CaseIterable {
    /// The owner of the secrets.
    case owner
    /// Belongs to the group, is invited, writes with the owner.
    case member
    /// Belonged to the group and was invited, once.
    case former
    case stranger
    /// A person whom the owner blocks, and one who blocks the owner; both still belong to the
    /// group.
    case blocked, blocker
    case trainer, staff
    case anonymous
  }

  struct Secret {
    let marker: String
    let audience: Set<Role>
    /// The roles that find it in the export of their stored data, and nowhere else.
    var exportedTo: Set<Role> = []
  }

  struct Answer {
    let asked: String
    let answer: String
  }

  let server: GraphServer
  let people: [Role: Person]
  let secrets: [Secret]
  /// The responses to people who may see nothing more, from before the private objects.
  let before: [Role: [Answer]]
  private let known: [NodeKey]

  static let shared = Result { try SecretGraph() }

  /// Returns the current responses to the same queries.
  func snapshot() throws -> [Role: [Answer]] {
    try Self.snapshot(server, people, known)
  }

  private static func snapshot(
    _ server: GraphServer, _ people: [Role: Person], _ nodes: [NodeKey]
  ) throws -> [Role: [Answer]] {
    let crawler = try Crawler(server, words: ["secret", "public", "quiet"])
    var answers: [Role: [Answer]] = [:]
    for role in [Role.stranger, .former, .blocked, .blocker, .trainer, .anonymous] {
      var taken: [Answer] = []
      try crawler.crawl(nodes, token: people[role]?.token) { asked, response in
        // Whoever was invited or belonged is told by the log that this is over; an export says when
        // it was made.
        if !["changes", "dataExport"].contains(asked) {
          taken.append(Answer(asked: asked, answer: response.text))
        }
      }
      answers[role] = taken
    }
    return answers
  }

  private init() throws {
    server = try GraphServer.alone()
    let data = try server.data()
    var people: [Role: Person] = [:]
    for role in Role.allCases where role != .anonymous {
      let roles =
        switch role {
        case .trainer: ["MEMBER", "TRAINER"]
        case .staff: ["MEMBER", "STAFF"]
        default: ["MEMBER"]
        }
      people[role] = try data.person(role.rawValue, roles: roles)
    }
    self.people = people
    func person(_ role: Role) throws -> Person {
      guard let person = people[role] else { throw GraphTestFailure("nobody is \(role)") }
      return person
    }
    let (owner, member, former) = (try person(.owner), try person(.member), try person(.former))
    let (stranger, blocked, blocker) = (
      try person(.stranger), try person(.blocked), try person(.blocker)
    )
    let trainer = try person(.trainer)

    var secrets: [Secret] = []
    /// A word, made of letters so that searches find it.
    func secret(_ name: String, _ audience: Role..., exported: Set<Role> = []) -> String {
      let marker = "secret" + name
      secrets.append(
        Secret(marker: marker, audience: Set(audience), exportedTo: exported))
      return marker
    }
    /// A row without words is known by its id.
    func secretID(_ key: NodeKey, _ audience: Role...) {
      secrets.append(Secret(marker: "\"\(key.wire)\"", audience: Set(audience)))
    }
    // MARK: What everybody may know

    let place = try data.location("Public place", latitude: 1, longitude: 1)
    let product = try data.product("Public product", price: "1.00")
    let channel = try data.circle(
      "Public channel", kind: "CHANNEL", owner: member,
      members: [owner, former, stranger, blocked, blocker], isDefault: true)
    for role in Role.allCases where ![.owner, .anonymous].contains(role) {
      let person = try person(role)
      if role != .member { try data.follow(person, member) }
      if ![.blocked, .blocker].contains(role) {
        try data.follow(person, owner)
        try data.follow(owner, person)
      }
    }
    let ownPost = try data.post(
      .outfit, by: owner, "public", location: place, voting: true)
    let memberPost = try data.post(.text, by: member, "public", location: place, circle: channel)
    let strangerPost = try data.post(.photo, by: stranger, "public", location: place)
    let offer = try data.post(.cardOffer, by: owner, "public")
    let request = try data.post(.cardRequest, by: owner, "public")
    let event = try data.post(.event, by: member, "public", circle: channel, title: "public")
    _ = try data.comment(memberPost, by: stranger, "public")
    _ = try data.comment(place, by: member, "public")
    for (post, person) in [(memberPost, owner), (ownPost, member), (strangerPost, former)] {
      try data.react(person, "HEART", to: post)
    }
    try data.react(owner, "TOP", to: place)
    let program = try data.insert(
      "program", ["title": "Public class", "training": "GROUP", "duration_minutes": 60])
    try data.add("program_trainer", ["program_id": program, "trainer_id": trainer.key])
    let session = try data.insert(
      "class_session",
      [
        "program_id": program, "trainer_id": trainer.key, "starts_at": "tomorrow",
        "ends_at": "tomorrow 2:00", "capacity": 9, "booked_count": 1,
      ])
    // Of the owner's public side, those who are blocked see nothing but name and picture.
    func publicSecret(_ name: String) -> String {
      let marker = "public" + name
      secrets.append(
        Secret(
          marker: marker,
          audience: Set(Role.allCases).subtracting([.blocked, .blocker])))
      return marker
    }
    try data.run(
      "UPDATE app_user SET bio = $1, website = $2 WHERE id = \(owner.key)",
      [publicSecret("bio"), "https://\(publicSecret("site")).example"])
    for tag in PostTag.allCases {
      _ = try data.post(
        tag, by: owner, publicSecret("post\(tag)"), location: place, circle: channel,
        product: tag == .product ? product : nil)
    }
    _ = try data.comment(memberPost, by: owner, publicSecret("comment"))
    _ = try data.comment(place, by: owner, publicSecret("review"))
    let shown = try data.photo(
      of: owner, url: "https://photos.example/\(publicSecret("photo"))")
    try data.add("post_photo", ["post_id": ownPost, "position": 5, "photo_id": shown])
    // What they wrote to each other before stays, under a name.
    try data.block(owner, blocked)
    try data.block(blocker, owner)
    // Seats are counted for everyone; whose they are is not.
    let booking = try data.insert("booking", ["session_id": session, "user_id": owner.key])
    try data.run("ANALYZE")
    // A group, and what those who are blocked may see of it.
    let group = try data.circle(
      secret("groupname", .owner, .member, .blocked, .blocker), owner: owner,
      members: [member, former, blocked, blocker],
      description: secret("groupdescription", .owner, .member, .blocked, .blocker))
    try data.run(
      "DELETE FROM circle_member WHERE circle_id = \(group) AND user_id = \(former.key)")
    _ = try data.comment(
      group, by: member, secret("groupcomment", .owner, .member, .blocked, .blocker))
    _ = try data.comment(
      group, by: blocked, secret("blockedgroupcomment", .member, .blocked, .blocker))
    func conversation(_ key: String, _ members: [Person]) throws -> NodeKey {
      let key = try data.insert("conversation", ["member_key": key])
      for member in members {
        try data.add("conversation_member", ["conversation_id": key, "user_id": member.key])
      }
      return key
    }
    func message(
      _ conversation: NodeKey, _ author: Person, _ text: String, at time: String = "now"
    ) throws {
      _ = try data.insert(
        "message",
        [
          "conversation_id": conversation, "author_id": author.key, "body": text,
          "created_at": time,
        ])
    }
    // A card that was sent; a note of an invitation to come, and to go.
    let sent = try data.insert(
      "follow_up",
      [
        "post_id": request, "sender_id": former.key, "recipient_id": owner.key,
        "state": "COMPLETED", "resolved_at": "now",
      ])
    secretID(sent, .owner, .former)
    _ = try data.insert(
      "notification",
      [
        "recipient_id": former.key, "reason": "EVENT_INVITED", "phrase": "somebody invited you",
        "destination": "", "read_at": "now",
      ])
    let earlier = try conversation("b", [owner, blocked])
    // Before the block.
    try message(earlier, owner, secret("earliermessage", .owner, .blocked), at: "2026-01-01")
    known = try data.run("SELECT id FROM every_node ORDER BY id").map {
      NodeKey(Int64($0[0] ?? "") ?? 0)
    }
    // Used after five minutes a session notes it, and `viewer` tells.
    try data.run("UPDATE session SET last_used_at = now() + interval '1 day'")
    before = try Self.snapshot(server, people, known)

    // MARK: What is private

    secretID(booking, .owner, .trainer, .staff)

    // Posts of every kind in the group.
    for tag in PostTag.allCases where tag != .announcement {
      let post = try data.post(
        tag, by: owner, secret("post\(tag)", .owner, .member), location: place, circle: group,
        visibility: "CIRCLE", product: tag == .product ? product : nil,
        title: secret("title\(tag)", .owner, .member))
      if tag != .event { secrets.removeLast() }
      secretID(post, .owner, .member)
      _ = try data.comment(post, by: member, secret("comment\(tag)", .owner, .member))
      try data.react(member, "TOP", to: post)
      let photo = try data.photo(
        of: owner, url: "https://photos.example/\(secret("photo\(tag)", .owner, .member, .staff))")
      try data.add("post_photo", ["post_id": post, "position": 0, "photo_id": photo])
      if tag == .outfit {
        try data.run(
          "UPDATE votable_post SET brands = ARRAY[$1] WHERE post_id = \(post)",
          [secret("brand", .owner, .member)])
      }
      if tag == .event {
        try data.add(
          "attendance", ["event_id": post, "user_id": member.key, "status": "GOING"])
        try data.add(
          "event_venue",
          ["event_id": post, "location_id": place, "note": secret("venue", .owner, .member)])
        try data.run(
          "UPDATE event SET source_url = $1, external_id = $2 WHERE post_id = \(post)",
          ["https://e.example/\(secret("source", .owner, .member))", secret("external")])
      }
      if tag == .thankYou {
        try data.run("INSERT INTO post_tag VALUES (\(post), \(member.key))")
        // The score counts every thanks; what it is for stays private.
        try data.run("UPDATE app_user SET thank_you_score = 0 WHERE id = \(member.key)")
      }
    }
    _ = try data.comment(group, by: owner, secret("ownergroupcomment", .owner, .member))

    // An event by invitation.
    let party = try data.post(
      .event, by: owner, secret("party", .owner, .member), location: place, visibility: "INVITED",
      title: secret("partytitle", .owner, .member))
    secretID(party, .owner, .member)
    let invitation = try data.invite(owner, member, to: party)
    secretID(invitation, .owner, .member)
    for person in [former, blocked, blocker] { _ = try data.invite(owner, person, to: party) }
    try data.run(
      "DELETE FROM invitation WHERE event_id = \(party) AND invitee_id = \(former.key)")
    try data.add(
      "attendance", ["event_id": party, "user_id": former.key, "status": "GOING"])
    _ = try data.comment(party, by: member, secret("partycomment", .owner, .member))
    try data.run("UPDATE notification SET about_id = \(party) WHERE recipient_id = \(former.key)")

    // The account.
    try data.run(
      """
      UPDATE app_user SET email = $1, address = $2 WHERE id = \(owner.key)
      """,
      [secret("mail", .owner) + "@example.org", secret("address", .owner, .member)])
    try data.add("password", ["user_id": owner.key, "hash": secret("password")])
    try data.run(
      "UPDATE session SET device = $1 WHERE user_id = \(owner.key)", [secret("device", .owner)])
    try data.add(
      "identity",
      [
        "provider": "GOOGLE", "external_id": secret("identity", exported: [.owner]),
        "user_id": owner.key,
      ])
    secrets.append(Secret(marker: "77.125", audience: [.owner]))
    let result = try data.insert(
      "test_result", ["user_id": owner.key, "test": "LEG_PRESS", "value": 77.125])
    secretID(result, .owner)
    let track = try data.insert(
      "activity_track",
      [
        "user_id": owner.key, "title": secret("track", .owner), "started_at": "yesterday",
        "ended_at": "now", "distance": 1,
        "path": "[{\"at\":\"2026-01-01T00:00:00.000Z\",\"latitude\":1,\"longitude\":2}]",
      ])
    secretID(track, .owner)
    let contact = try data.insert(
      "external_contact",
      [
        "owner_id": owner.key, "provider": "GOOGLE", "external_id": "c",
        "name": secret("contact", .owner), "name_key": "contact",
      ])
    secretID(contact, .owner)
    try data.run("INSERT INTO app_config (app) VALUES ('device') ON CONFLICT DO NOTHING")
    try data.run(
      """
      INSERT INTO device (user_id, session_id, app, platform, token_hash, token, is_sandbox, device_name, locale)
      SELECT s.user_id, s.id, 'device', 'APNS', '\\x01', '\\x02', false, $2, 'en' FROM session s
      WHERE s.user_id = $1::bigint LIMIT 1
      """, [owner.key, secret("devicename", .owner)])
    try data.add("shopping_list_item", ["user_id": owner.key, "product_id": product])
    _ = try data.insert(
      "invitation",
      ["inviter_id": owner.key, "contact": secret("invitedcontact", .owner), "channel": "EMAIL"])
    _ = try data.insert(
      "notification",
      [
        "recipient_id": owner.key, "reason": "FOLLOWED", "actor_id": member.key,
        "phrase": secret("notification", .owner),
        "destination": secret("destination", .owner),
      ])
    // Of somebody blocked, not even what was noted before, but for the export of one's own rows.
    for (person, role, name) in [
      (blocked, Role.blocked, "notedblocked"), (blocker, Role.blocker, "notedblocker"),
    ] {
      _ = try data.insert(
        "notification",
        [
          "recipient_id": person.key, "reason": "FOLLOWED", "actor_id": owner.key,
          "phrase": secret(name, exported: [role]), "destination": "",
        ])
    }

    // Cards: the address shows while the card is to be sent, and not after.
    let owed = try data.insert(
      "follow_up", ["post_id": offer, "sender_id": member.key, "recipient_id": owner.key])
    secretID(owed, .owner, .member)
    let asked = try data.insert(
      "info_request", ["post_id": request, "owner_id": owner.key, "requester_id": member.key])
    secretID(asked, .owner, .member)

    // Mail.
    let letters = try conversation("a", [owner, member])
    secretID(letters, .owner, .member)
    try message(letters, owner, secret("message", .owner, .member))

    // Photos that moderation has not let through, on a public post and as the profile's picture.
    let waiting = try data.photo(
      of: owner, moderation: "PENDING",
      url: "https://photos.example/\(secret("waiting", .owner, .staff))")
    let refused = try data.photo(
      of: owner, moderation: "REJECTED",
      url: "https://photos.example/\(secret("refused", .staff))")
    for (position, photo) in [waiting, refused].enumerated() {
      try data.add(
        "post_photo", ["post_id": ownPost, "position": position, "photo_id": photo])
    }
    try data.run("UPDATE app_user SET avatar_id = \(waiting) WHERE id = \(owner.key)")
    try data.run("UPDATE app_user SET avatar_id = \(refused) WHERE id = \(member.key)")
    let loose = try data.photo(
      of: owner, url: "https://photos.example/\(secret("loose", .owner, .staff))")
    _ = loose

    // What is for nobody's eyes.
    try data.add(
      "flag",
      [
        "subject_id": memberPost, "user_id": owner.key, "reason": "SPAM",
        "note": secret("flag", .owner, .staff),
      ])
    try data.add(
      "vote", ["post_id": ownPost, "user_id": member.key, "choice": "WEAR_IT"])
    secrets.append(Secret(marker: "424242", audience: [.owner, .member]))
    try data.run("UPDATE votable_post SET wear_it_count = 424242 WHERE post_id = \(ownPost)")
    try data.run(
      "INSERT INTO one_time_token VALUES (decode('00', 'hex'), $1, \(owner.key), now())",
      [secret("token")])
    try data.run("INSERT INTO outbox (channel, body) VALUES ('EMAIL', $1)", [secret("outbox")])
    try data.run("INSERT INTO reset_request (address) VALUES ($1)", [secret("reset")])
    try data.run("INSERT INTO tracking (event) VALUES ($1)", [secret("tracking")])
    _ = event
    try data.run("ANALYZE")
    self.secrets = secrets
  }
}
