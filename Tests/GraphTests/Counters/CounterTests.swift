import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// Counts are right at every moment, for everybody who reads them; ranks after a pass.
@Suite(.usesCluster) struct CounterTests {
  @Test func `counts are their rows after 32 writers who add and take back while passes run`()
    throws
  {
    let database = try TestCluster.newDatabase(migrated: true)
    let data = try GraphData(database)
    let (author, place) = (try data.person("author"), try data.location("Place"))
    let outfit = try data.post(.outfit, by: author, location: place)
    let remark = try data.comment(outfit, by: author, "x")
    let thing = try data.product("Thing")
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: author)
    let people = try (0..<32).map { try data.person("writer\($0)") }
    // Who comes and goes, where it is counted, and how many rows there are.
    let reacting = { (subject: NodeKey, kind: String) in
      (
        "INSERT INTO reaction (subject_id, user_id, kind) VALUES (\(subject), $1, '\(kind)')",
        "DELETE FROM reaction WHERE subject_id = \(subject) AND user_id = $1 AND kind = '\(kind)'",
        "FROM reaction WHERE subject_id = \(subject) AND kind = '\(kind)'"
      )
    }
    let ways: [(change: (String, String, String), count: String)] = [
      (reacting(outfit, "HEART"), "heart_count FROM exact_post() t WHERE id = \(outfit)"),
      (reacting(outfit, "TOP"), "top_count FROM exact_post() t WHERE id = \(outfit)"),
      (reacting(place, "TOP"), "top_count FROM exact_location() t WHERE id = \(place)"),
      (reacting(thing, "HEART"), "heart_count FROM exact_product() t WHERE id = \(thing)"),
      (reacting(remark, "AGREE"), "agree_count FROM exact_comment() t WHERE id = \(remark)"),
      (
        (
          "INSERT INTO comment (subject_id, author_id, body) VALUES (\(outfit), $1, 'x')",
          "DELETE FROM comment WHERE subject_id = \(outfit) AND author_id = $1",
          "FROM comment WHERE subject_id = \(outfit)"
        ), "comment_count FROM exact_post() t WHERE id = \(outfit)"
      ),
      (
        (
          "INSERT INTO follow (follower_id, followee_id) VALUES ($1, \(author.key))",
          "DELETE FROM follow WHERE follower_id = $1 AND followee_id = \(author.key)",
          "FROM follow WHERE followee_id = \(author.key)"
        ), "follower_count FROM exact_app_user() t WHERE id = \(author.key)"
      ),
      (
        (
          "INSERT INTO circle_member (circle_id, user_id) VALUES (\(channel), $1)",
          "DELETE FROM circle_member WHERE circle_id = \(channel) AND user_id = $1",
          "FROM circle_member WHERE circle_id = \(channel)"
        ), "member_count FROM exact_circle() t WHERE id = \(channel)"
      ),
      (
        (
          "INSERT INTO vote (post_id, user_id, choice) VALUES (\(outfit), $1, 'WEAR_IT')",
          "DELETE FROM vote WHERE post_id = \(outfit) AND user_id = $1",
          "FROM vote WHERE post_id = \(outfit)"
        ), "wear_it_count FROM exact_votable_post() t WHERE post_id = \(outfit)"
      ),
    ]
    let hasEnded = Mutex(false)
    let passes = DispatchGroup()
    passes.enter()
    Thread {
      defer { passes.leave() }
      guard let session = try? TestCluster.session(database) else { return }
      while !hasEnded.withLock({ $0 }) { _ = try? session.execute("SELECT fold_counts()") }
    }.start()
    let differences = try crowd(of: 32) { index in
      let session = try TestCluster.session(database)
      try session.execute("SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0")
      var differences: [String] = []
      for round in 0..<36 {
        // Four at a time at the same thing, one after the other at all of them.
        let (change, count) = ways[(index / 4 + round / 2) % ways.count]
        while true {
          do {
            try session.transaction {
              try session.execute(round % 2 == 0 ? change.0 : change.1, [people[index].sqlText])
              // One snapshot, with one's own change.
              let rows = try session.execute(
                "SELECT t.counted, (SELECT count(*) \(change.2)) FROM (SELECT t.\(count)) t(counted)"
              )
              if rows[0][0] != rows[0][1] { differences.append("\(count): \(rows[0])") }
            }
            break
          } catch let error as PostgresError where error.kind == .retry {
            // The rows are written here, without the locks that the mutations' functions take first,
            // so two may deadlock; what the server does then is done here too.
          }
        }
      }
      return differences
    }
    hasEnded.withLock { $0 = true }
    passes.wait()
    #expect(differences.flatMap { $0 } == [])
    try foldAll(data)
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
    #expect(try data.run("SELECT * FROM count_slot") == [])
    #expect(
      try data.run("SELECT bool_or(is_hot) FROM post UNION SELECT bool_or(is_hot) FROM app_user")
        == [["f"]])
  }

  /// `SKIP LOCKED` may still wait while it follows a row's versions, so no transaction may wait for
  /// it then. A deadlock victim fails this test.
  @Test func `writers on one subject never wait for each other in a ring`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let data = try GraphData(database)
    let post = try data.post(.outfit, by: data.person(), location: data.location("Place"))
    let people = try (0..<16).map { try data.person("writer\($0)") }
    _ = try crowd(of: 16) { index in
      let session = try TestCluster.session(database)
      try session.execute("SET lock_timeout = 0")
      for _ in 0..<60 {
        try session.execute(
          "INSERT INTO reaction (subject_id, user_id, kind) VALUES (\(post), $1, 'TOP')",
          [people[index].sqlText])
        try session.execute(
          "DELETE FROM reaction WHERE subject_id = \(post) AND user_id = $1",
          [people[index].sqlText])
      }
    }
    try foldAll(data)
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
  }

  @Test func `who finds a row locked waits once, and then nobody does`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let data = try patient(database)
    let post = try data.post(.text, by: data.person())
    let people = try (0..<4).map { try data.person("p\($0)") }
    let second = try patient(database)
    try data.run("BEGIN")
    try react(data, people[0], "HEART", to: post)
    let waiting = try second.run("SELECT pg_backend_pid()")[0][0] ?? ""
    let handed = Handed(second)
    let hasReacted = DispatchGroup()
    hasReacted.enter()
    let late = people[1]
    Thread {
      defer { hasReacted.leave() }
      try? handed.value.add(
        "reaction", ["subject_id": post, "user_id": late.key, "kind": "HEART"])
    }.start()
    let watcher = try GraphData(database)
    try poll {
      try watcher.run("SELECT pg_blocking_pids(\(waiting)) <> '{}'") == [["t"]]
    }
    try data.run("COMMIT")
    hasReacted.wait()
    #expect(try count(data, post) == "2")
    #expect(try data.run("SELECT slot, amount FROM count_slot") == [["1", "0"]])

    // Now there is a slot: whoever meets somebody takes it.
    try data.run("BEGIN")
    try react(data, people[2], "HEART", to: post)
    try react(second, people[3], "HEART", to: post)
    #expect(try data.run("SELECT amount FROM count_slot") == [["1"]])
    #expect(try count(second, post) == "3")
    #expect(try count(data, post) == "4")

    // A pass leaves alone what somebody holds, and comes back to it.
    #expect(try second.run("SELECT fold_counts() > 0") == [["t"]])
    #expect(try second.run("SELECT is_hot FROM post") == [["t"]])
    try data.run("COMMIT")
    #expect(try count(data, post) == "4")
    try foldAll(data)
    #expect(try data.run("SELECT is_hot, heart_count, score FROM post") == [["f", "4", "4"]])
    #expect(try data.run("SELECT * FROM count_slot") == [])
    #expect(try data.run("SELECT score FROM post_rank") == [["4"]])
  }

  @Test func `one's own change is in the answer and in the next one, also when the row is held`()
    throws
  {
    let server = try GraphServer.alone()
    defer { server.stop() }
    let data = try patient(server.database)
    let (author, reader) = (try data.person(), try data.person())
    let post = try data.post(.photo, by: author, "x", location: data.location("Here"))
    try data.run("UPDATE post SET is_hot = true WHERE id = \(post)")
    try data.run("SELECT make_slot(\(post), 'top_count')")
    try data.run("BEGIN")
    try data.run("SELECT pg_advisory_xact_lock(count_lock(\(post)))")
    try data.run("SELECT FROM post WHERE id = \(post) FOR NO KEY UPDATE")
    let payload = try server.mutate(
      "react(subjectId: $id, kind: TOP)", "subject { reactionCount reactions { totalCount } }",
      ["id: ID!": post.json], as: reader)
    #expect(payload.at("subject.reactionCount") == 1)
    #expect(payload.at("subject.reactions.totalCount") == 1)
    for person in [reader, author] {
      let seen = try server.data(
        """
        query($id: ID!) { post(id: $id) { reactionCount(kind: TOP)
          location { popularity } author { posts { nodes { reactionCount } } } } }
        """, ["id": post.json], as: person)
      #expect(seen.at("post.reactionCount") == 1)
      #expect(seen.at("post.location.popularity") == 1)
      #expect(seen.at("post.author.posts.nodes.0.reactionCount") == 1)
    }
    #expect(try data.run("SELECT heart_count + top_count FROM post WHERE id = \(post)") == [["0"]])
    try data.run("ROLLBACK")
    try foldAll(data)
    #expect(try data.run("SELECT top_count, is_hot FROM post WHERE id = \(post)") == [["1", "f"]])
  }

  @Test func `a server brings the orders up to date`() throws {
    let server = try GraphServer(
      database: TestCluster.newDatabase(migrated: true), settings: { $0.runsTasks = true })
    defer { server.stop() }
    let data = try server.data()
    let (author, reader) = (try data.person(), try data.person())
    let place = try data.location("Here")
    let posts = try (0..<3).map {
      try data.post(.photo, by: author, "\($0)", location: place)
    }
    try server.mutate(
      "react(subjectId: $id, kind: TOP)", "__typename", ["id: ID!": posts[1].json], as: reader)
    try server.mutate(
      "react(subjectId: $id, kind: HEART)", "__typename", ["id: ID!": posts[1].json], as: reader)
    try server.mutate(
      "react(subjectId: $id, kind: TOP)", "__typename", ["id: ID!": posts[0].json], as: reader)
    try poll {
      let seen = try server.data(
        """
        query($place: ID!, $author: ID!) {
          node(id: $place) { ... on Location { posts { nodes { body } } } }
          user(by: { id: $author }) { posts(orderBy: TOP) { nodes { body } } }
          posts(orderBy: TOP, first: 3) { nodes { body } } }
        """, ["place": place.json, "author": author.key.json], as: reader)
      let wanted = ["1", "0", "2"]
      return seen.strings("node.posts.nodes", "body") == wanted
        && seen.strings("user.posts.nodes", "body") == wanted
        && seen.strings("posts.nodes", "body") == wanted
    }
  }

  @Test func `a pass that ends half-way leaves nothing behind, and two are one`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let data = try GraphData(database)
    let place = try data.location("Here")
    let post = try data.post(.photo, by: data.person(), location: place)
    let thing = try data.product("Thing")
    let reader = try data.person()
    // What was made is looked at, too.
    try data.run("SELECT fold_counts()")
    for (subject, kind) in [(post, "TOP"), (place, "TOP"), (thing, "HEART")] {
      try react(data, reader, kind, to: subject)
    }
    let pass = try patient(database)
    try pass.run("BEGIN")
    #expect(try pass.run("SELECT fold_counts()") == [["3"]])
    #expect(try pass.run("SELECT score FROM post_rank") == [["1"]])
    #expect(try data.run("SELECT fold_counts()") == [["0"]])
    let process = try pass.run("SELECT pg_backend_pid()")[0][0] ?? ""
    try data.run("SELECT pg_terminate_backend(\(process), 60000)")
    #expect(throws: PostgresError.self) { try pass.run("COMMIT") }
    #expect(try data.run("SELECT score FROM post_rank") == [["0"]])
    #expect(try data.run("SELECT fold_counts()") == [["3"]])
    #expect(try data.run("SELECT score FROM post_rank") == [["1"]])
    #expect(try data.run("SELECT popularity FROM location_rank") == [["2"]])
    #expect(try data.run("SELECT heart_count FROM product_rank") == [["1"]])
    #expect(try data.run("SELECT fold_counts()") == [["0"]])
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
  }

  @Test func `a post that moves takes along what is in its slots`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let data = try patient(database)
    let (here, there) = (try data.location("Here"), try data.location("There"))
    let post = try data.post(.photo, by: data.person(), location: here)
    let people = try (0..<3).map { try data.person("p\($0)") }
    try react(data, people[0], "LIKE", to: post)
    try data.run("UPDATE post SET is_hot = true")
    try data.run("SELECT make_slot(\(post), 'like_count')")
    let second = try patient(database)
    try data.run("BEGIN")
    try data.run("SELECT pg_advisory_xact_lock(count_lock(\(post)))")
    try data.run("SELECT FROM post FOR NO KEY UPDATE")
    try react(second, people[1], "LIKE", to: post)
    try data.run("UPDATE post SET location_id = \(there)")
    try data.run("COMMIT")
    #expect(
      try data.run("SELECT name, post_count, popularity FROM exact_location() ORDER BY 1")
        == [["Here", "0", "0"], ["There", "1", "2"]])
    try foldAll(data)
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
    #expect(try data.run("SELECT location_id = \(there) FROM post_rank") == [["t"]])
    try data.run("DELETE FROM post")
    #expect(try data.run("SELECT * FROM post_rank") == [])
    #expect(
      try data.run("SELECT post_count, popularity FROM exact_location()")
        == [["0", "0"], ["0", "0"]])
  }

  @Test func `raising a count leaves the indexes alone`() throws {
    let data = try GraphData(TestCluster.newDatabase(migrated: true))
    let people = try (0..<3).map { try data.person("p\($0)") }
    let (place, thing) = (try data.location("Here"), try data.product("Thing"))
    let outfit = try data.post(.outfit, by: people[0], location: place)
    let remark = try data.comment(outfit, by: people[0], "x")
    let channel = try data.circle("Channel", kind: "CHANNEL", owner: people[0])
    // In one transaction, whose pages have room: nothing has to be cleared away first.
    try data.run("BEGIN")
    for person in people[1...] {
      for (subject, kind) in [
        (outfit, "HEART"), (outfit, "TOP"), (place, "TOP"), (thing, "HEART"), (remark, "AGREE"),
      ] {
        try react(data, person, kind, to: subject)
      }
      for subject in [outfit, place, channel] {
        _ = try data.insert(
          "comment", ["subject_id": subject, "author_id": person.key, "body": "x"])
      }
      try data.follow(person, people[0])
      try data.join(channel, person)
      try data.vote(person, "WEAR_IT", on: outfit)
    }
    let counts = try data.run(
      """
      SELECT relname, n_tup_upd >= 2, n_tup_hot_upd = n_tup_upd FROM pg_stat_xact_user_tables
      WHERE relname IN ('post', 'votable_post', 'location', 'product', 'comment', 'circle',
        'app_user') ORDER BY 1
      """)
    try data.run("COMMIT")
    #expect(
      counts
        == ["app_user", "circle", "comment", "location", "post", "product", "votable_post"].map {
          [$0, "t", "t"]
        })
    try foldAll(data)
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
  }

  /// An update of a table that has a trigger before it locks each row first, and writes that to the log.
  @Test func `nothing stands before the updates of tables with counts`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let triggers = try session.execute(
      """
      SELECT t.tgrelid::regclass::text, t.tgname FROM pg_trigger t
      WHERE t.tgtype & 19 = 19 AND to_regproc('add_to_' || t.tgrelid::regclass::text) IS NOT NULL
      """)
    #expect(triggers == [])
  }

  // MARK: Support

  /// A session that may keep a transaction open. Blocked for a minute means blocked forever.
  private func patient(_ database: String) throws -> GraphData {
    let data = try GraphData(database)
    try data.run("SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '60s'")
    return data
  }

  /// Without a pass.
  private func react(
    _ data: GraphData, _ person: Person, _ kind: String, to subject: NodeKey
  ) throws {
    try data.add("reaction", ["subject_id": subject, "user_id": person.key, "kind": kind])
  }

  private func count(_ data: GraphData, _ post: NodeKey) throws -> String? {
    try data.run("SELECT heart_count FROM exact_post() WHERE id = \(post)")[0][0]
  }

  /// Folds counts until none are left; another process may be doing it.
  private func foldAll(_ data: GraphData) throws {
    try poll {
      try data.run("SELECT fold_counts()")
      return try data.run("SELECT FROM count_to_fold LIMIT 1") == []
    }
  }

  private func poll(_ isReached: () throws -> Bool) throws {
    for _ in 0..<60_000 {
      if try isReached() { return }
      usleep(10_000)
    }
    throw GraphTestFailure("It did not come to that within a minute.")
  }
}

/// A value that one thread uses at a time.
private struct Handed<Value>: @unchecked Sendable {
  // @unchecked: handed to another thread, which is waited for.
  let value: Value
  init(_ value: Value) { self.value = value }
}
