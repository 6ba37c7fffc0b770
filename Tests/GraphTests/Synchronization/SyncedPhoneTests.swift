import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

/// A phone that keeps a copy by `changes(since:)`, while others write. Comparing its copy with the
/// graph and counting the changes that it received shows whether it missed or repeated any.
@Suite(.usesCluster) struct SyncedPhoneTests {
  /// A copy of what there is in one group, and of one person's notifications.
  private struct Phone: Sendable {
    let server: GraphServer
    let owner: Person
    let group: NodeKey
    /// The objects in words, by ID.
    private(set) var copy: [String: String] = [:]
    /// The number of times each change was received, by operation and ID.
    private(set) var told: [String: Int] = [:]
    private(set) var token: JSONValue = .null

    init(_ server: GraphServer, of owner: Person, group: NodeKey) {
      (self.server, self.owner, self.group) = (server, owner, group)
    }

    /// Starts from scratch, as at the first launch: reads a token, and then everything.
    mutating func start() throws {
      token = try server.data("{ changes { token } }", as: owner).at("changes.token") ?? .null
      copy = try everything()
    }

    /// Everything there is now.
    func everything() throws -> [String: String] {
      let found = try server.data(
        """
        query($id: ID!) {
          circle(id: $id) {
            comments(first: 100) { nodes { id body } }
            posts(first: 100) { nodes { id body comments(first: 100) { nodes { id body } } } } }
          viewer { notifications(first: 100) { nodes { id text } } } }
        """, ["id": group.json], as: owner)
      var copy: [String: String] = [:]
      func add(_ nodes: JSONValue?, _ words: String) {
        for node in nodes?.array ?? [] { copy[node["id"]?.string ?? ""] = node[words]?.string }
      }
      add(found.at("circle.posts.nodes"), "body")
      add(found.at("circle.comments.nodes"), "body")
      for post in found.at("circle.posts.nodes")?.array ?? [] {
        add(post.at("comments.nodes"), "body")
      }
      add(found.at("viewer.notifications.nodes"), "text")
      return copy
    }

    /// Everything that changed, in small pages.
    mutating func sync(page: JSONValue = 3) throws {
      while true {
        let found = try server.data(
          """
          query($since: String, $first: Int) { changes(since: $since, limit: $first) {
            token hasMore changes { nodeId operation node { __typename
              ... on Post { body } ... on Comment { body } ... on Notification { text } } } } }
          """, ["since": token, "first": page], as: owner)
        for change in found.at("changes.changes")?.array ?? [] { try apply(change) }
        token = found.at("changes.token") ?? .null
        if found.at("changes.hasMore") == false { return }
      }
    }

    private mutating func apply(_ change: JSONValue) throws {
      guard let id = change["nodeId"]?.string, let operation = change["operation"]?.string else {
        throw GraphTestFailure("no change: \(change)")
      }
      told["\(operation) \(id)", default: 0] += 1
      switch (operation, change.at("node.body")?.string ?? change.at("node.text")?.string) {
      case ("UPSERT", let words?): copy[id] = words
      // Anything else, such as the group itself, is no part of the copy.
      case ("UPSERT", nil): copy[id] = nil
      default: copy[id] = nil
      }
    }
  }

  /// The changes of writers, for later writers and for counting.
  private struct Record {
    /// By id, who may edit and delete it.
    var posts: [String: Int] = [:]
    var comments: [String: Int] = [:]
    /// The number of edits of each post.
    var edits: [String: Int] = [:]
  }

  /// One of the things members of a group do; what is gone meanwhile is passed over.
  private static func write(
    _ server: GraphServer, _ writer: Int, as person: Person, group: NodeKey,
    _ record: borrowing Mutex<Record>
  ) throws {
    let (post, own, comment) = record.withLock { record in
      (
        record.posts.keys.randomElement(),
        record.posts.filter { $0.value == writer }.keys.randomElement(),
        record.comments.filter { $0.value == writer }.keys.randomElement()
      )
    }
    func done(_ field: String, _ selection: String, _ id: String) throws -> JSONValue? {
      let words = JSONValue.string(GraphData.unique("w"))
      let variables: KeyValuePairs<String, JSONValue> =
        field.contains("$words")
        ? ["id: ID!": .string(id), "words: String!": words] : ["id: ID!": .string(id)]
      let payload = try server.payload(field, selection, variables, as: person)
      let refusals = (payload["userErrors"]?.array ?? []).map { $0["code"] }
      guard refusals.allSatisfy({ $0 == "NOT_FOUND" }) else {
        throw GraphTestFailure("\(field): \(payload)")
      }
      return refusals.isEmpty ? payload : nil
    }
    let choice = Int.random(in: 0..<8)
    if choice < 2 {
      let made = try done(
        "createTextPost(input: {body: $words, circleId: $id})", "textPost { id }", group.wire)
      if let id = made?.at("textPost.id")?.string { record.withLock { $0.posts[id] = writer } }
    } else if choice == 2, let own {
      record.withLock { $0.edits[own, default: 0] += 1 }
      _ = try done(
        "updateTextPost(textPostId: $id, input: {body: $words})", "textPost { __typename }", own)
    } else if choice == 3, let own {
      record.withLock { $0.posts[own] = nil }
      _ = try done("deletePost(postId: $id)", "deletedId", own)
    } else if choice == 4, let comment {
      record.withLock { $0.comments[comment] = nil }
      _ = try done("deleteComment(commentId: $id)", "deletedId", comment)
    } else {
      let subject = Bool.random() ? group.wire : post ?? group.wire
      let made = try done("addComment(subjectId: $id, body: $words)", "comment { id }", subject)
      if let id = made?.at("comment.id")?.string { record.withLock { $0.comments[id] = writer } }
    }
  }

  @Test func `a phone that asks while others write has all of it at the end, and was told once`()
    throws
  {
    let server = try GraphServer.shared
    let data = try server.data()
    let (owner, writers) = (try data.person(), try data.people(5))
    let group = try data.circle("Writers", owner: owner, members: writers)
    let record = Mutex(Record())
    for number in 0..<3 {
      let post = try data.post(
        .text, by: owner, "old \(number)", circle: group, visibility: "CIRCLE")
      record.withLock { $0.posts[post.wire] = -1 }
    }
    try data.session.waitForChanges()
    var phone = Phone(server, of: owner, group: group)
    try phone.start()
    // The phone writes, too: what it does is told in two of its scopes.
    let people = writers + [owner]
    let left = Mutex(people.count)
    let finished = try crowd(of: people.count + 1) { index -> Phone? in
      guard index < people.count else {
        var phone = Phone(server, of: owner, group: group)
        try phone.start()
        while left.withLock({ $0 > 0 }) { try phone.sync() }
        return phone
      }
      defer { left.withLock { $0 -= 1 } }
      for _ in 0..<12 {
        try Self.write(server, index, as: people[index], group: group, record)
      }
      return nil
    }
    try data.session.waitForChanges()
    let edits = record.withLock { $0.edits }
    for var phone in [phone] + finished.compactMap({ $0 }) {
      try phone.sync()
      #expect(try phone.copy == phone.everything())
      for (what, count) in phone.told where !what.hasSuffix(" \(group.wire)") {
        let id = String(what.split(separator: " ")[1])
        #expect(count <= (what.hasPrefix("UPSERT") ? 1 + edits[id, default: 0] : 1), "\(what)")
      }
      // Nothing is left to be told.
      let before = phone.told
      try phone.sync()
      #expect(phone.told == before)
    }
  }

  @Test func `what is committed late is told, and what was committed before it is told once`()
    throws
  {
    let server = try GraphServer.shared
    let (data, late) = (try server.data(), try server.data())
    let owner = try data.person()
    let group = try data.circle("Writers", owner: owner)
    try data.session.waitForChanges()
    var phone = Phone(server, of: owner, group: group)
    try phone.start()
    // A transaction that begins first ends last.
    try late.run("BEGIN")
    _ = try late.post(.text, by: owner, "begun first", circle: group, visibility: "CIRCLE")
    try server.mutate(
      "createTextPost(input: {body: \"done first\", circleId: $id})", ["id: ID!": group.json],
      as: owner)
    try phone.sync()
    try late.run("COMMIT")
    try data.session.waitForChanges()
    try phone.sync()
    #expect(Set(phone.copy.values) == ["begun first", "done first"])
    #expect(phone.told.values.allSatisfy { $0 == 1 })
    #expect(try phone.copy == phone.everything())
  }

  @Test func `a phone that was away for a month starts anew, and goes on as any other`() throws {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try server.data()
    let (owner, member) = (try data.person(), try data.person())
    let group = try data.circle("Writers", owner: owner, members: [member])
    func post(_ words: String) throws -> NodeKey {
      try server.make(
        "createTextPost(input: {body: $words, circleId: $id})", "textPost",
        ["words: String!": .string(words), "id: ID!": group.json], as: member)
    }
    let old = try post("soon deleted")
    var phone = Phone(server, of: owner, group: group)
    try phone.start()
    try server.mutate("deletePost(postId: $id)", ["id: ID!": old.json], as: member)
    _ = try post("during the month")
    try data.session.waitForChanges()
    // Today's part of the log becomes that of a day a month ago.
    let days = try data.run(
      """
      SELECT to_char(t.day, 'YYYYMMDD'), to_char(t.day - 32, 'YYYYMMDD'), t.day - 32, t.day - 31
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) t
      """)[0].map { $0 ?? "" }
    try data.run(
      """
      ALTER TABLE change DETACH PARTITION change_\(days[0]);
      ALTER TABLE change_\(days[0]) RENAME TO change_\(days[1]);
      UPDATE change_\(days[1]) SET logged_at = '\(days[2]) 12:00Z';
      ALTER TABLE change ATTACH PARTITION change_\(days[1])
        FOR VALUES FROM ('\(days[2]) 00:00Z') TO ('\(days[3]) 00:00Z');
      UPDATE change_day SET day = '\(days[2])' WHERE day = (now() AT TIME ZONE 'UTC')::date
      """)
    try data.run("SELECT keep_partitions()")
    #expect(try data.run("SELECT forget_changes()") == [["1"]])
    // What other tests began before must have ended: else a new token is of before, and has expired.
    try data.session.waitForChanges()
    #expect(
      try server.errorCodes(
        "query($since: String) { changes(since: $since) { token } }", ["since": phone.token],
        as: owner) == ["TOKEN_EXPIRED"])
    try phone.start()
    let edited = try post("after the month")
    try server.mutate(
      "updateTextPost(textPostId: $id, input: {body: \"edited\"})", ["id: ID!": edited.json],
      as: member)
    try data.session.waitForChanges()
    try phone.sync()
    #expect(Set(phone.copy.values) == ["during the month", "edited"])
    #expect(try phone.copy == phone.everything())
  }
}
