import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// Objects that refer to "any of several types" are deleted with their subject, and none is added
/// after.
@Suite(.usesCluster) struct NodeDeletionTests {
  /// Ways to add to a subject; `$1` is it, `$2` who adds.
  private typealias Addition = (
    table: String, statement: String, fits: @Sendable (Int) -> Bool
  )

  private static let additions: [Addition] = [
    (
      "flag", "INSERT INTO flag (subject_id, user_id, reason) VALUES ($1, $2, 'SPAM')",
      { _ in true }
    ),
    (
      "notification",
      """
      INSERT INTO notification (about_id, recipient_id, reason, phrase, destination)
      VALUES ($1, $2, 'TAGGED', 'x', 'y')
      """, { _ in true }
    ),
    (
      "comment", "INSERT INTO comment (subject_id, author_id, body) VALUES ($1, $2, 'x')",
      { $0 & 240 == 16 || $0 == 3 || $0 == 5 }
    ),
    (
      "reaction", "INSERT INTO reaction (subject_id, user_id, kind) VALUES ($1, $2, 'TOP')",
      { $0 & 240 == 16 || $0 == 3 }
    ),
    (
      "reaction", "INSERT INTO reaction (subject_id, user_id, kind) VALUES ($1, $2, 'HEART')",
      { $0 & 240 == 16 || $0 == 4 }
    ),
    (
      "reaction", "INSERT INTO reaction (subject_id, user_id, kind) VALUES ($1, $2, 'AGREE')",
      { $0 == 32 }
    ),
  ]

  @Test func `each kind of node goes under sixteen writers, and leaves nothing behind`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let data = try GraphData(database)
    let writers = try (0..<16).map { try data.person("writer\($0)") }
    let sessions = try (0..<16).map { _ in try Writer(TestCluster.session(database)) }
    try data.run("SET lock_timeout = 0; SET deadlock_timeout = '20ms'")
    let nodes = try oneOfEachKind(data)
    #expect(nodes.count == 27)
    for node in nodes {
      let tag = Int(node.number & 255)
      let fitting = Self.additions.filter { $0.fits(tag) }
      let added = DispatchGroup()
      let ended = DispatchGroup()
      let failures = Mutex<[String]>([])
      for (index, writer) in writers.enumerated() {
        let addition = fitting[index % fitting.count]
        added.enter()
        ended.enter()
        let session = sessions[index]
        Thread {
          defer { ended.leave() }
          let last = session.add(addition.statement, node, by: writer, first: added.leave)
          if last != "23503 \(addition.table)_subject_exists" {
            failures.withLock { $0.append("\(tag): \(addition.table): \(last)") }
          }
        }.start()
      }
      added.wait()
      var isDeleted = false
      while !isDeleted {
        do {
          isDeleted = try data.run("SELECT delete_node(\(node))") == [["t"]]
          #expect(isDeleted, "\(tag)")
          break
        } catch let error as PostgresError where error.kind == .retry {}
      }
      ended.wait()
      #expect(failures.withLock { $0 } == [])
      #expect(try data.run("SELECT * FROM verify_subjects()") == [], "\(tag)")
    }
    #expect(try data.run("SELECT * FROM verify_counters()") == [])
  }

  @Test func `what is about a node is refused when there is none, and stays where it is`() throws {
    let data = try GraphServer.shared.data()
    let (writer, place) = (try data.person(), try data.location("Here"))
    for (table, statement, _) in Self.additions.prefix(3) {
      let error = #expect(throws: PostgresError.self) {
        try data.run(statement, [NodeKey(1 << 50 | 3), writer.key])
      }
      #expect(error?.sqlState == "23503" && error?.constraint == "\(table)_subject_exists")
      #expect(error?.table == table)
    }
    let comment = try data.comment(place, by: writer, "x")
    let error = #expect(throws: PostgresError.self) {
      try data.run(
        "UPDATE comment SET subject_id = \(data.location("There")) WHERE id = \(comment)")
    }
    #expect(error?.constraint == "comment_subject_kept")
  }

  @Test func `a subject is held from when somebody asks whether it is there`() throws {
    let data = try GraphServer.shared.data()
    let place = try data.location("Here")
    #expect(try data.run("SELECT lock_subject(\(1 << 40 | 3)), lock_subject(255)") == [["f", "f"]])
    try data.run("BEGIN")
    #expect(try data.run("SELECT lock_subject(\(place))") == [["t"]])
    let other = try GraphServer.shared.data()
    try other.run("SET lock_timeout = '20ms'")
    let error = #expect(throws: PostgresError.self) {
      try other.run("SELECT delete_node(\(place))")
    }
    #expect(error?.kind == .lock)
    try data.run("COMMIT")
    #expect(try other.run("SELECT delete_node(\(place))") == [["t"]])
    #expect(try other.run("SELECT delete_node(\(place))") == [["f"]])
  }

  @Test func `constraints have names that somebody chose`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let generated = try session.execute(
      """
      SELECT conrelid::regclass || ' ' || conname FROM pg_constraint c
      WHERE connamespace = 'graph'::regnamespace AND conname ~ '_(pkey|f?key|check|excl)[0-9]*$'
        AND conrelid <> 0 AND NOT (SELECT relispartition FROM pg_class WHERE oid = c.conrelid)
        AND conrelid::regclass::text !~ '^sociograph_'
      UNION ALL
      SELECT indexrelid::regclass::text FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
      WHERE indisunique AND t.relnamespace = 'graph'::regnamespace
        AND indexrelid::regclass::text ~ '_idx[0-9]*$'
      """)
    #expect(generated == [])
    let unknown = try session.execute(
      """
      SELECT c.table_name, c.constraint_name FROM graph.constraint_error c
      WHERE to_regclass(c.constraint_name) IS NULL AND NOT EXISTS (SELECT FROM pg_constraint k
        WHERE k.conname = c.constraint_name AND k.conrelid = to_regclass(c.table_name))
      """)
    #expect(unknown == [])
  }

  /// A node of each type and kind that nothing keeps from being deleted.
  private func oneOfEachKind(_ data: GraphData) throws -> [NodeKey] {
    let (owner, other) = (try data.person("owner"), try data.person("other"))
    let (place, thing) = (try data.location("Place"), try data.product("Thing"))
    var nodes = try PostTag.allCases.map {
      try data.post($0, by: owner, location: place, product: $0 == .product ? thing : nil)
    }
    let kept = try PostTag.allCases.map {
      try data.post($0, by: owner, location: place, product: $0 == .product ? thing : nil)
    }
    func post(_ tag: PostTag) -> NodeKey { kept[tag.rawValue - 16] }
    let trainer = try data.trainer()
    let program = try data.program("Kept", trainers: [trainer])
    let session = try data.classSession(program, by: trainer, at: "2041-01-01 10:00Z")
    let conversation = try data.insert("conversation", ["member_key": "kept"])
    try data.add("conversation_member", ["conversation_id": conversation, "user_id": owner.key])
    nodes += [
      try data.person("gone").key, try data.photo(of: owner), try data.location("Gone"),
      try data.product("Gone"), try data.circle("Gone", owner: owner),
      try data.comment(post(.text), by: owner, "x"),
      try data.invite(owner, other, to: post(.event)),
      try data.infoRequest(post(.cardRequest), of: owner, by: other),
      try data.followUp(post(.cardOffer), from: owner, to: other),
      try data.program("Gone", trainers: [trainer]),
      try data.classSession(program, by: trainer, at: "2041-01-02 10:00Z"),
      try data.book(other, session),
      try data.insert(
        "activity_track",
        [
          "user_id": owner.key, "title": "x", "started_at": "now", "ended_at": "now",
          "distance": 1.0, "path": "[]",
        ]),
      try data.insert(
        "test_result", ["user_id": owner.key, "test": "LEG_PRESS", "value": 1.0]),
      try data.insert("conversation", ["member_key": "gone"]),
      try data.insert(
        "message", ["conversation_id": conversation, "author_id": owner.key, "body": "x"]),
      try data.insert(
        "notification",
        ["recipient_id": owner.key, "reason": "TAGGED", "phrase": "x", "destination": "y"]),
      try data.insert(
        "external_contact",
        [
          "owner_id": owner.key, "provider": "FACEBOOK", "external_id": "x", "name": "x",
          "name_key": "x",
        ]),
    ]
    return nodes
  }
}

/// A session that one thread at a time writes with.
private final class Writer: @unchecked Sendable {
  // @unchecked: handed from thread to thread, which wait for each other.
  private let session: PostgresSession

  init(_ session: PostgresSession) throws {
    self.session = session
    try session.execute("SET lock_timeout = 0; SET deadlock_timeout = '20ms'")
  }

  /// Adds to a node and takes it back, again and again until that fails.
  ///
  /// - Returns: why it failed: SQLSTATE and constraint.
  func add(
    _ statement: String, _ node: NodeKey, by person: Person, first: () -> Void
  ) -> String {
    var isFirst = true
    var count: UInt32 = 0
    defer { if isFirst { first() } }
    while true {
      do {
        // Some have a key that takes one of each.
        for table in ["flag", "reaction"] {
          try session.execute("DELETE FROM \(table) WHERE user_id = $1", [person.sqlText])
        }
        try session.execute(statement, [node.sqlText, person.sqlText])
        if isFirst { first() }
        isFirst = false
        // Lets go of the node now and then, and the longer the more it has added, or nobody could
        // delete it.
        count += 1
        usleep(UInt32.random(in: 0...3_000) + min(count, 1_000) * 200)
      } catch {
        if error.kind == .retry { continue }
        return "\(error.sqlState) \(error.constraint ?? "")"
      }
    }
  }
}
