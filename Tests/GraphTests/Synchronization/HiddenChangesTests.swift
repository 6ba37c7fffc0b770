import JSON
import Testing

/// The log of changes and the export of a user's data omit everything that their reader may not
/// see.
@Suite struct HiddenChangesTests {
  private static let query = """
    query($since: String) { changes(since: $since) { token changes { nodeId operation } } }
    """
  private let server: GraphServer
  private let data: GraphData

  init() throws {
    server = try GraphServer.shared
    data = try server.data()
  }

  private func token(_ person: Person?) throws -> JSONValue {
    try data.session.waitForChanges()
    return try server.data(Self.query, as: person).at("changes.token") ?? .null
  }

  /// Ids, each behind its operation.
  private func changes(_ since: JSONValue, _ person: Person?) throws -> [String] {
    try data.session.waitForChanges()
    let found = try server.data(Self.query, ["since": since], as: person)
    return (found.at("changes.changes")?.array ?? []).map {
      "\($0["operation"]?.string ?? "") \($0["nodeId"]?.string ?? "")"
    }
  }

  // MARK: Tokens

  @Test func `a token is good for the viewer it was given to, and as it is`() throws {
    let (ann, bob) = (try data.person(), try data.person())
    let token = try token(ann)
    let text = try #require(token.string)
    #expect(text.utf8.count == 44)
    #expect(try server.errorCodes(Self.query, ["since": token], as: ann) == [])
    for other in [bob, nil] {
      #expect(try server.errorCodes(Self.query, ["since": token], as: other) == ["BAD_USER_INPUT"])
    }
    for place in 0..<44 {
      var changed = Array(text)
      changed[place] = changed[place] == "A" ? "B" : "A"
      let codes = try server.errorCodes(
        Self.query, ["since": .string(String(changed))], as: ann)
      #expect(codes == ["BAD_USER_INPUT"], "\(place)")
    }
    // As they were before they had a seal.
    let forged = "AQ" + String(repeating: "A", count: 21)
    #expect(
      try server.errorCodes(Self.query, ["since": .string(forged)], as: ann) == ["TOKEN_EXPIRED"])
  }

  @Test func `whoever serves may not read what tokens are sealed with`() throws {
    let found = try data.run("SELECT count(*) FROM withheld WHERE relation = 'token_secret'")
    #expect(found == [["1"]])
  }

  // MARK: Changes

  @Test func `an event of somebody who blocked the viewer is not named, nor is its end`() throws {
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    try data.block(ann, bob)
    let since = try token(bob)
    let event = try data.post(.event, by: ann)
    let invitation = try data.invite(cem, bob, to: event)
    try data.run("UPDATE post SET body = 'other words' WHERE id = \(event)")
    try data.run("UPDATE event SET title = 'Another title' WHERE post_id = \(event)")
    #expect(try changes(since, bob) == [])
    try data.run("DELETE FROM invitation WHERE id = \(invitation)")
    _ = try data.invite(cem, bob, to: event)
    try data.run("DELETE FROM post WHERE id = \(event)")
    #expect(try changes(since, bob) == [])
  }

  @Test func `whoever could see an event is told that it is gone, with their invitation`() throws {
    let (ann, bob, cem, dan) = (
      try data.person(), try data.person(), try data.person(), try data.person()
    )
    let group = try data.circle("Group", owner: ann, members: [cem])
    let event = try data.post(.event, by: ann, circle: group, visibility: "CIRCLE")
    let party = try data.post(.event, by: ann, visibility: "INVITED")
    for person in [bob, cem] {
      try data.add(
        "attendance", ["event_id": event, "user_id": person.key, "status": "GOING"])
    }
    let invitation = try data.invite(ann, dan, to: party)
    let people = [bob, cem, dan]
    let since = try people.map { try token($0) }
    try data.run("DELETE FROM circle WHERE id = \(group)")
    try data.run("DELETE FROM post WHERE id = \(party)")
    let told = try zip(since, people).map { Set(try changes($0, $1)) }
    // Not a member.
    #expect(told[0] == [])
    #expect(told[1] == ["DELETE \(event.wire)", "DELETE \(group.wire)"])
    #expect(told[2] == ["DELETE \(party.wire)", "DELETE \(invitation.wire)"])
  }

  @Test func `an event of a group is not named to whom somebody invites from outside of it`() throws
  {
    let (ann, bob) = (try data.person(), try data.person())
    let group = try data.circle("Group", owner: ann)
    let event = try data.post(.event, by: ann, circle: group, visibility: "CIRCLE")
    let since = try token(bob)
    _ = try data.invite(ann, bob, to: event)
    try data.run("DELETE FROM post WHERE id = \(event)")
    #expect(try changes(since, bob) == [])
  }

  @Test func `what was deleted before the viewer joined a group is not named`() throws {
    let (ann, bob) = (try data.person(), try data.person())
    let group = try data.circle("Group", owner: ann)
    let since = try token(bob)
    let post = try data.post(.text, by: ann, circle: group, visibility: "CIRCLE")
    let comment = try data.comment(group, by: ann, "words")
    let kept = try data.comment(group, by: ann, "kept words")
    try data.run("DELETE FROM comment WHERE id = \(comment)")
    try data.run("DELETE FROM post WHERE id = \(post)")
    try data.join(group, bob)
    // What is there now is told.
    let told = try changes(since, bob)
    #expect(Set(told) == ["UPSERT \(group.wire)", "UPSERT \(kept.wire)"])
    try data.run("DELETE FROM comment WHERE id = \(kept)")
    #expect(try changes(since, bob).contains("DELETE \(kept.wire)"))
  }

  @Test func `what goes with the account of somebody hidden is not named`() throws {
    let (ann, bob, cem) = (try data.person(), try data.person(), try data.person())
    let group = try data.circle("Group", owner: cem, members: [ann, bob])
    let post = try data.post(.text, by: bob, circle: group, visibility: "CIRCLE")
    // One blocks him, one he blocks.
    for (hidden, block) in [(ann, (ann, bob)), (try data.person(), nil)]
      as [(Person, (Person, Person)?)]
    {
      if hidden.key != ann.key { try data.join(group, hidden) }
      let (one, other) = block ?? (bob, hidden)
      try data.block(one, other)
      for subject in [group, post] { _ = try data.comment(subject, by: hidden, "hidden words") }
      _ = try data.post(.text, by: hidden, circle: group, visibility: "CIRCLE")
      _ = try data.invite(hidden, bob, to: data.post(.event, by: cem))
      try data.insert(
        "notification",
        [
          "recipient_id": bob.key, "actor_id": hidden.key, "reason": "COMMENTED",
          "phrase": "COMMENTED", "destination": "y",
        ])
      let since = try token(bob)
      try data.run("DELETE FROM app_user WHERE id = \(hidden)")
      #expect(try changes(since, bob) == [])
    }
    #expect(try data.run("SELECT count(*) FROM hidden_past WHERE viewer_id = \(bob)") == [["2"]])
    try data.run("SELECT forget_changes('-3 days')")
    #expect(try data.run("SELECT count(*) FROM hidden_past WHERE viewer_id = \(bob)") == [["0"]])
  }

  // MARK: The export

  @Test func `an export has nothing of what its reader may not see`() throws {
    let (ann, bob) = (
      try data.person("hiddenann", name: "Hidden Ann"), try data.person()
    )
    let event = try data.post(.event, by: ann)
    let offer = try data.post(.cardOffer, by: ann)
    let outfit = try data.post(.outfit, by: ann)
    let product = try data.product("A thing")
    let invitation = try data.invite(ann, bob, to: event)
    try data.add("attendance", ["event_id": event, "user_id": bob.key, "status": "GOING"])
    try data.add("vote", ["post_id": outfit, "user_id": bob.key, "choice": "WEAR_IT"])
    try data.add("flag", ["subject_id": outfit, "user_id": bob.key, "reason": "SPAM"])
    try data.react(bob, "HEART", to: outfit)
    _ = try data.comment(outfit, by: bob, "words")
    try data.insert(
      "follow_up", ["post_id": offer, "sender_id": ann.key, "recipient_id": bob.key])
    try data.add(
      "product_suggestion",
      ["sender_id": ann.key, "recipient_id": bob.key, "product_id": product, "post_id": outfit])
    try data.insert(
      "notification",
      [
        "recipient_id": bob.key, "actor_id": ann.key, "reason": "FOLLOWED",
        "phrase": "FOLLOWED", "args": "{<b>Hidden Ann</b>}", "destination": "y",
      ])
    func export() throws -> String {
      try server.data("{ viewer { dataExport } }", as: bob).at("viewer.dataExport")?.string ?? ""
    }
    let words = [event, offer, outfit, invitation].map(\.wire) + [ann.wire, "Hidden Ann"]
    let before = try export()
    for word in words { #expect(before.contains(word), "\(word)") }
    try data.block(ann, bob)
    let after = try export()
    for word in words { #expect(!after.contains(word), "\(word)") }
  }
}
