import DatabaseSetup
import Foundation
import GraphQLSchema
import JSON
import Postgres
import TestSupport
import Testing

/// Random operations, answered twice: by the server, and by a resolver that fetches one row at a
/// time.
///
/// `SOCIOGRAPH_OPERATIONS=100000` runs longer, `SOCIOGRAPH_SEED=7` other operations, `SOCIOGRAPH_SCALE=10`
/// those of a larger graph.
@Suite(.usesCluster(isFirst: true)) struct SecondOpinionTests {
  @Test func `the server answers random operations as a naive resolver does`() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["SOCIOGRAPH_OPERATIONS"].flatMap { Int($0) } ?? 600
    let seed = environment["SOCIOGRAPH_SEED"].flatMap { UInt64($0) } ?? 1
    let opinions = try SecondOpinion(seed: seed)
    let began = ContinuousClock.now
    var compared = 0
    var failures = 0
    while compared < count {
      let operation = opinions.next()
      compared += 1
      let differences = try opinions.differences(operation)
      guard !differences.isEmpty else { continue }
      failures += 1
      Issue.record(Comment(rawValue: try opinions.report(operation, differences, seed: seed)))
      if failures >= opinions.maximumFailures { break }
    }
    let took = began.duration(to: .now)
    print("second opinion: \(compared) operations, seed \(seed), in \(took); \(opinions.summary)")
    print("fields that came to nothing: \(opinions.unseen.joined(separator: " "))")
  }
}

/// Two opinions about one database.
final class SecondOpinion {
  let server: GraphServer
  let schema: Schema
  let viewers: [String]
  var maximumFailures: Int {
    ProcessInfo.processInfo.environment["SOCIOGRAPH_FAILURES"].flatMap { Int($0) } ?? 3
  }
  private let naive: NaiveDatabase
  private let book = CursorBook()
  private var generator: OperationGenerator
  private var graphs: [String: NaiveGraph] = [:]
  private var refusals = 0
  private var resolved = 0
  private var seen: Set<String> = []
  private var serverTime = Duration.zero
  private var total = Duration.zero

  /// Waits until the log of changes tells of all rows. It waits for every transaction that is under way in the cluster,
  /// those of other tests included, and the two opinions must not be asked before and after the end of one.
  private static func waitForChanges(of server: GraphServer) throws {
    let session = try TestCluster.session(server.database)
    for _ in 0..<60_000 {
      let waiting = try session.execute(
        "SELECT FROM change WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) LIMIT 1")
      if waiting.isEmpty { return }
      usleep(10_000)
    }
    throw GraphTestFailure("the log of changes is held up")
  }

  init(seed: UInt64) throws {
    server = try GraphServer.varied.get()
    schema = try GraphServer.mapping.get().schema
    try Self.waitForChanges(of: server)
    naive = try NaiveDatabase(server.database)
    viewers = try naive.list(
      "SELECT username FROM app_user WHERE username = ANY (\(Self.names)) ORDER BY id"
    ).map { $0.first ?? "" }
    let ids = try naive.ids("SELECT id FROM app_user WHERE username = ANY (\(Self.names))")
    generator = OperationGenerator(
      schema, try ArgumentPool(naive, around: ids), book, seed: seed)
  }

  private static let names = "ARRAY(SELECT username FROM varied_viewer)"

  func next() -> RandomOperation { generator.next(viewers: [nil, nil] + viewers) }

  private func graph(_ viewer: String?) throws -> NaiveGraph {
    if let known = graphs[viewer ?? ""] { return known }
    var id: Int64 = 0
    if let viewer {
      id = try naive.ids("SELECT id FROM app_user WHERE username = '\(viewer)'").first ?? 0
    }
    let graph = try NaiveGraph(naive, book, viewer: id)
    graphs[viewer ?? ""] = graph
    return graph
  }

  func differences(_ operation: RandomOperation) throws -> [String] {
    let began = ContinuousClock.now
    defer { total += began.duration(to: .now) }
    var response: JSONValue = .null
    // A busy machine may take too long; that is no fault of the answer.
    for _ in 0..<20 {
      response = try server.execute(
        operation.text, operation.variableValues, token: operation.viewer.map { "demo-" + $0 })
      guard let code = Self.code(response), Self.late.contains(code) else { break }
      usleep(500_000)
    }
    serverTime += began.duration(to: .now)
    if let errors = response["errors"] {
      refusals += 1
      return ["errors: \(errors)"]
    }
    do {
      let expected = try answer(operation)
      var comparison = Comparison(book)
      comparison.compare(response["data"], expected)
      return comparison.differences
    } catch let failure as GraphTestFailure {
      return ["the naive graph fails: \(failure)"]
    }
  }

  private static let late: Set<String> = ["TIMEOUT", "SERVICE_OVERLOADED", "DATABASE_UNAVAILABLE"]

  /// Returns the code of the first error of a response.
  private static func code(_ response: JSONValue) -> String? {
    response["errors"]?.array?.first?.at("extensions.code")?.string
  }

  func answer(_ operation: RandomOperation) throws -> Expected {
    var executor = try NaiveExecutor(operation, schema: schema)
    executor.visit = { [self] field, hasValue in
      resolved += 1
      if hasValue { seen.insert(field) }
    }
    return try executor.execute(graph(operation.viewer).query)
  }

  /// Fields of what can be read that came to nothing in all operations so far.
  var unseen: [String] {
    var reachable: [String] = []
    var types: Set<String> = []
    func visit(_ type: TypeDefinition) {
      guard type.isComposite, types.insert(type.name).inserted else { return }
      for object in schema.possibleTypes[Int(type.id.index)] where schema[object].name != type.name
      {
        visit(schema[object])
      }
      for field in type.fields {
        if !type.isAbstract { reachable.append("\(type.name).\(field.name)") }
        visit(schema[field.type.namedType])
      }
    }
    if let query = schema.queryType { visit(schema[query]) }
    return reachable.filter { !seen.contains($0) }
  }

  var summary: String {
    "\(resolved) fields, \(book.places.count) cursors, \(refusals) refusals, \(serverTime) of \(total) in the server"
  }

  /// The smallest operation found that still shows a difference, with both answers.
  func report(
    _ operation: RandomOperation, _ differences: [String], seed: UInt64
  ) throws -> String {
    var smallest = operation
    var found = differences
    let kind = Self.kind(differences)
    var attempts = 0
    search: while attempts < 400 {
      for candidate in smallest.reductions {
        attempts += 1
        let remaining = try self.differences(candidate)
        if !remaining.isEmpty, Self.kind(remaining) == kind {
          smallest = candidate
          found = remaining
          continue search
        }
        if attempts >= 400 { break }
      }
      break
    }
    let token = smallest.viewer.map { "demo-" + $0 }
    let response = try server.send(smallest.text, smallest.variableValues, token: token)
    let expected = (try? answer(smallest).description) ?? "none"
    return """
      seed \(seed), viewer \(smallest.viewer ?? "anonymous")
      \(smallest.text)variables \(smallest.variableValues)
      \(found.prefix(6).joined(separator: "\n"))
      server: \(response.text.prefix(1500))
      naive:  \(expected.prefix(1500))
      """
  }

  /// So that cutting down does not turn one difference into another.
  private static func kind(_ differences: [String]) -> String {
    guard let first = differences.first else { return "" }
    if first.hasPrefix("errors") {
      return "errors " + (first.firstMatch(of: #/"code":"(\w+)"/#).map { String($0.1) } ?? "")
    }
    return first.hasPrefix("the naive") ? "naive" : "difference"
  }
}

extension GraphServer {
  /// The demo data with more of what is rare in it: blocks, photos not approved, reactions at the
  /// same moment, changes.
  static let varied = Result {
    // Lists within lists may have few elements each; how many they could have is not the question.
    try GraphServer(database: variedDatabase(), maximumElements: .max)
  }

  /// Another one of these, without a server.
  static func variedDatabase() throws -> String {
    try TestCluster.newDatabase(copying: variedTemplate.get())
  }

  private static let variedTemplate = Result {
    let database = try TestCluster.newDatabase(migrated: true)
    let scale = ProcessInfo.processInfo.environment["SOCIOGRAPH_SCALE"].flatMap { Int($0) } ?? 1
    _ = try Seeder.read(TestCluster.packageFolder + "/sql/demo", scale: scale, seed: 1)
      .run(PostgresConfiguration(database)) { _ in }
    let session = try TestCluster.session(database)
    for statement in variations { try session.execute(statement) }
    return database
  }

  private static let variations = [
    // No use is noted while two answers are compared.
    "UPDATE session SET last_used_at = now() + interval '1 day'",
    // Whom operations are sent as: those with names, and some each of trainers, owners of groups,
    // people with bookings, invitations and answers to give, and others.
    """
    CREATE TABLE varied_viewer (username text PRIMARY KEY);
    INSERT INTO varied_viewer
    SELECT username FROM app_user WHERE username IN ('marisol', 'tom', 'ines', 'aurora', 'staff', 'campus_bot')
    UNION (SELECT username FROM app_user WHERE 'TRAINER' = ANY (roles) ORDER BY id LIMIT 2)
    UNION (SELECT u.username FROM app_user u JOIN circle c ON c.owner_id = u.id AND c.kind = 'GROUP' ORDER BY u.id LIMIT 2)
    UNION (SELECT u.username FROM booking b JOIN app_user u ON u.id = b.user_id ORDER BY b.id LIMIT 1)
    UNION (SELECT u.username FROM invitation i JOIN app_user u ON u.id = i.invitee_id WHERE event_id IS NOT NULL ORDER BY i.id LIMIT 2)
    UNION (SELECT u.username FROM follow_up f JOIN app_user u ON u.id = f.sender_id ORDER BY f.id LIMIT 1)
    UNION (SELECT u.username FROM info_request r JOIN app_user u ON u.id = r.owner_id ORDER BY r.id LIMIT 1)
    UNION (SELECT u.username FROM block b JOIN app_user u ON u.id = b.blocked_id ORDER BY b.blocked_id LIMIT 2)
    """,
    // In a larger graph not everybody has a session.
    """
    INSERT INTO session (token_hash, user_id, expires_at, last_used_at)
    SELECT sha256(convert_to('demo-' || u.username, 'UTF8')), u.id, now() + interval '1 year', now() + interval '1 day'
    FROM varied_viewer v JOIN app_user u USING (username)
    ON CONFLICT (token_hash) DO NOTHING
    """,
    // Viewers block, and are blocked by, people they have something to do with.
    """
    INSERT INTO block (blocker_id, blocked_id)
    SELECT u.id, f.followee_id FROM varied_viewer v JOIN app_user u USING (username)
      CROSS JOIN LATERAL (SELECT followee_id FROM follow WHERE follower_id = u.id
        ORDER BY hashint8extended(followee_id, u.id) LIMIT 2) f
    WHERE u.username NOT IN ('staff', 'campus_bot', 'ines')
    UNION
    SELECT f.follower_id, u.id FROM varied_viewer v JOIN app_user u USING (username)
      CROSS JOIN LATERAL (SELECT follower_id FROM follow WHERE followee_id = u.id
        ORDER BY hashint8extended(follower_id, u.id) LIMIT 2) f
    WHERE u.username NOT IN ('staff', 'campus_bot', 'tom')
    ON CONFLICT DO NOTHING
    """,
    // Blocks within what people cannot leave at once: circles, conversations, classes, cards.
    """
    INSERT INTO block (blocker_id, blocked_id)
    SELECT a.user_id, b.user_id FROM circle_member a JOIN circle_member b USING (circle_id)
      JOIN app_user u ON u.id = a.user_id JOIN varied_viewer v USING (username) JOIN circle c ON c.id = a.circle_id
    WHERE a.user_id <> b.user_id AND c.kind = 'GROUP' AND hashint8extended(b.user_id, 5) % 4 = 0
    ON CONFLICT DO NOTHING;
    INSERT INTO block (blocker_id, blocked_id, created_at)
    SELECT b.user_id, a.user_id, coalesce((SELECT min(m.created_at) + (max(m.created_at) - min(m.created_at)) / 2
      FROM message m WHERE m.conversation_id = a.conversation_id), now())
    FROM conversation_member a JOIN conversation_member b USING (conversation_id)
      JOIN app_user u ON u.id = a.user_id JOIN varied_viewer v USING (username)
    WHERE a.user_id <> b.user_id AND hashint8extended(b.user_id, 6) % 3 = 0
    ON CONFLICT DO NOTHING;
    INSERT INTO block (blocker_id, blocked_id)
    SELECT DISTINCT b.user_id, s.trainer_id FROM booking b JOIN class_session s ON s.id = b.session_id
    WHERE b.user_id <> s.trainer_id AND hashint8extended(b.id, 7) % 6 = 0
    ON CONFLICT DO NOTHING
    """,
    // Photos that wait or were refused, among them avatars of viewers.
    """
    UPDATE photo SET moderation = (ARRAY['PENDING', 'REJECTED']::moderation_state[])[1 + abs(hashint8(id)) % 2]
    WHERE hashint8extended(id, 11) % 12 = 0
    """,
    // Two reactions of one person at one moment, and many at the same time.
    """
    INSERT INTO reaction (subject_id, user_id, kind, created_at)
    SELECT subject_id, user_id, CASE kind WHEN 'LIKE' THEN 'TOP' ELSE 'LIKE' END::reaction_kind, created_at
    FROM reaction WHERE subject_id & 240 = 16 AND hashint8extended(subject_id, user_id) % 20 = 0
    ON CONFLICT DO NOTHING;
    UPDATE reaction SET created_at = date_trunc('day', created_at) WHERE subject_id & 3 = 0
    """,
    // Posts at the same moment, events called off, things without a price.
    """
    UPDATE post SET created_at = date_trunc('day', created_at) WHERE hashint8extended(id, 2) % 3 = 0;
    UPDATE event SET cancelled_at = now() WHERE hashint8extended(post_id, 2) % 10 = 0;
    UPDATE product SET price = NULL, currency = NULL WHERE hashint8extended(id, 2) % 4 = 0;
    UPDATE product SET price = 10, currency = 'EUR' WHERE hashint8extended(id, 3) % 4 = 0;
    INSERT INTO flag (subject_id, user_id, reason)
    SELECT p.id, u.id, 'SPAM' FROM varied_viewer v JOIN app_user u USING (username)
      CROSS JOIN LATERAL (SELECT id FROM post WHERE author_id <> u.id ORDER BY hashint8extended(id, 8) LIMIT 30) p
    ON CONFLICT DO NOTHING;
    UPDATE flag SET note = 'look', resolved_at = CASE WHEN id & 256 = 0 THEN created_at END,
      resolved_by_id = CASE WHEN id & 256 = 0 THEN (SELECT id FROM app_user WHERE username = 'staff') END,
      resolution = CASE WHEN id & 256 = 0 THEN 'gone' END
    """,
    // Posts of every kind in groups, many of them in groups of viewers, answers and votes of viewers, meals, cards and mail of theirs.
    """
    UPDATE post p SET visibility = 'CIRCLE', circle_id = m.circle_id
    FROM circle_member m JOIN circle c ON c.id = m.circle_id AND c.kind = 'GROUP'
    WHERE m.user_id = p.author_id AND p.visibility = 'PUBLIC' AND p.kind NOT IN (22, 23)
      AND hashint8extended(p.id, 21) % 3 = 0;
    UPDATE post p SET visibility = 'CIRCLE', circle_id = g.id
    FROM (SELECT c.id, row_number() OVER (ORDER BY c.id) - 1 AS number, count(*) OVER () AS count
      FROM circle c WHERE c.kind = 'GROUP' AND EXISTS (SELECT FROM circle_member m JOIN app_user u ON u.id = m.user_id
        JOIN varied_viewer v USING (username) WHERE m.circle_id = c.id)) g
    WHERE p.visibility = 'PUBLIC' AND p.kind <> 22 AND p.circle_id IS NULL AND hashint8extended(p.id, 23) % 12 = 0
      AND abs(hashint8extended(p.id, 24)) % g.count = g.number;
    UPDATE event e SET circle_id = p.circle_id FROM post p WHERE p.id = e.post_id AND e.circle_id IS DISTINCT FROM p.circle_id;
    INSERT INTO vote (post_id, user_id, choice)
    SELECT p.post_id, u.id, CASE WHEN u.id & 256 = 0 THEN 'WEAR_IT' ELSE 'CHANGE_IT' END
    FROM varied_viewer v JOIN app_user u USING (username) CROSS JOIN LATERAL (
      SELECT b.post_id FROM votable_post b JOIN post p ON p.id = b.post_id
      WHERE voting_enabled AND p.author_id <> u.id ORDER BY hashint8extended(b.post_id, u.id) LIMIT 8) p
    ON CONFLICT DO NOTHING;
    INSERT INTO reaction (subject_id, user_id, kind)
    SELECT c.id, u.id, 'AGREE'::reaction_kind FROM varied_viewer v JOIN app_user u USING (username) CROSS JOIN LATERAL (
      SELECT id FROM comment ORDER BY hashint8extended(id, u.id) LIMIT 6) c
    UNION ALL
    SELECT p.id, u.id, 'HEART' FROM varied_viewer v JOIN app_user u USING (username) CROSS JOIN LATERAL (
      SELECT id FROM post ORDER BY hashint8extended(id, u.id) LIMIT 20) p
    ON CONFLICT DO NOTHING;
    INSERT INTO invitation (inviter_id, event_id, invitee_id, contact, channel, status)
    SELECT u.id, NULL, NULL, 'friend' || u.id || '@example.org', 'EMAIL', 'PENDING'
    FROM varied_viewer v JOIN app_user u USING (username);
    INSERT INTO invitation (inviter_id, event_id, invitee_id, status)
    SELECT e.author_id, e.id, u.id, (ARRAY['PENDING', 'ACCEPTED', 'DECLINED', 'WITHDRAWN'])[1 + abs(hashint8(e.id)) % 4]
    FROM varied_viewer v JOIN app_user u USING (username) CROSS JOIN LATERAL (
      SELECT id, author_id FROM post WHERE kind = 23 AND author_id <> u.id
      ORDER BY hashint8extended(id, u.id) LIMIT 8) e
    ON CONFLICT DO NOTHING;
    UPDATE session SET device = 'browser';
    UPDATE notification SET action_kind = 'OPEN_URL', action_url = 'https://example.org/',
      action_performed_at = created_at WHERE hashint8extended(id, 5) % 5 = 0;
    UPDATE event_venue SET opens_at = NULL, closes_at = NULL, note = 'soup' WHERE hashint8extended(location_id, 5) % 3 = 0
    """,
    // Products no longer sold, archived programs, described photos, muted conversations, suspended people.
    """
    UPDATE product SET is_available = false WHERE hashint8extended(id, 31) % 6 = 0;
    UPDATE program SET is_archived = true WHERE hashint8extended(id, 31) % 4 = 0;
    UPDATE photo SET alt_text = 'Picture ' || id WHERE hashint8extended(id, 31) % 3 = 0;
    UPDATE conversation_member SET is_muted = true WHERE hashint8extended(conversation_id, user_id) % 3 = 0;
    UPDATE app_user SET suspended_until = (ARRAY['infinity', '2100-01-01Z', '2020-01-01Z']::timestamptz[])[1 + abs(hashint8(id)) % 3]
    WHERE hashint8extended(id, 31) % 9 = 0
    """,
    // Something in the log of changes.
    """
    DELETE FROM comment WHERE hashint8extended(id, 2) % 40 = 0;
    UPDATE post SET body = body || ' again' WHERE hashint8extended(id, 4) % 40 = 0
    """,
    """
    SELECT pg_advisory_lock(hashtext('fold_counts'));
    SELECT fold_counts(1000000);
    SELECT pg_advisory_unlock(hashtext('fold_counts'))
    """,
    "VACUUM ANALYZE",
  ]
}
