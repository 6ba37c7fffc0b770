import Foundation
import HTTPTestSupport
import Postgres
import Synchronization
import TestSupport
import Testing

/// Commands that only the owner of a database may run: roles, background tasks.
@Suite(.usesCluster) struct OwnerCommandTests {
  private func database(with names: [String]) throws -> (String, PostgresSession) {
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    for name in names {
      try session.execute(
        "INSERT INTO app_user (username, display_name, name_key) VALUES ($1, $1, $1)", [name])
    }
    return (database, session)
  }

  @Test func `user role makes the first of the staff, and the last one stays`() throws {
    let (database, session) = try database(with: ["ada", "ben"])
    func change(_ words: String...) throws -> (status: Int32?, output: String, errors: String) {
      try ProgramRun.complete(["user", "role"] + words + ["--database", database])
    }
    let first = try change("Ada", "+STAFF", "+trainer")
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.output == "Ada: MEMBER STAFF TRAINER\n")
    #expect(
      try session.execute("SELECT roles FROM app_user WHERE username = 'ada'")
        == [["{MEMBER,STAFF,TRAINER}"]])
    #expect(
      try session.execute("SELECT act, detail, actor_id FROM audit_log")
        == [["SET_ROLES", "MEMBER,STAFF,TRAINER", nil]])
    let last = try change("ada", "-STAFF")
    #expect(last.status == 1 && last.errors.contains("The last of the staff stays"))
    #expect(try change("ben", "+STAFF").status == 0)
    let other = try change("ada", "-STAFF", "-MEMBER")
    #expect(other.output == "ada: MEMBER TRAINER\n", "\(other.errors)")
    // The same again changes nothing, and is not noted.
    #expect(try change("ada", "-STAFF").output == "ada: MEMBER TRAINER\n")
    #expect(try session.execute("SELECT count(*) FROM audit_log") == [["3"]])
    let nobody = try change("nobody", "+STAFF")
    #expect(nobody.status == 1 && nobody.errors.contains("there is no user \"nobody\"."))
    let unknown = try change("ben", "+KING")
    #expect(unknown.status == 1 && unknown.errors.contains("There is no role KING"))
    for words in [["ben"], ["ben", "STAFF"], ["ben", "+"], ["ben", "+{}"], ["ben", "-S T"]] {
      let run = try ProgramRun.complete(["user", "role"] + words + ["--database", database])
      #expect(run.status == 2, "\(words): \(run.errors)")
    }
  }

  @Test func `load acts for people of the database, and ends their sessions after the run`() throws
  {
    let (database, session) = try database(with: ["ada", "ben", "eve"])
    let mix = try TemporaryFolder()
    _ = try mix.write("Q.graphql", "query Q { a }")
    let count =
      "SELECT count(*), count(DISTINCT user_id) FROM session WHERE device = 'sociograph load'"
    struct Seen {
      var tokens: Set<String> = []
      var sessions: [[String?]]?
    }
    let seen = Mutex(Seen())
    let server = try HTTPServerFixture.answering { request, exchange in
      seen.withLock { seen in
        seen.tokens.insert(request.header("authorization") ?? "")
        if seen.sessions == nil {
          seen.sessions = try? TestCluster.session(database).execute(count)
        }
      }
      exchange.respond(contentType: "application/json", body: Array(#"{"data":{"a":1}}"#.utf8))
    }
    let run = try ProgramRun.complete([
      "load", mix.path, "--url", "http://127.0.0.1:\(server.port)/graphql", "--rate", "200",
      "--duration", "300ms", "--warm-up", "0s", "--people", "2", "--database", database,
    ])
    #expect(run.status == 0 || run.status == 3, "\(run.errors)")
    #expect(run.errors.contains("created 2 sessions named \"sociograph load\""))
    seen.withLock { seen in
      #expect(
        seen.tokens.count == 2 && seen.tokens.allSatisfy { $0.hasPrefix("Bearer sociograph_") })
      #expect(seen.sessions == [["2", "2"]])
    }
    #expect(try session.execute(count) == [["0", "0"]])
  }

  @Test(arguments: [
    ["session", "create", "ada"], ["user", "role", "ada", "+STAFF"], ["maintain"],
  ])
  func `of a database without the graph its owner is told what to run`(arguments: [String]) throws {
    let database = try TestCluster.newDatabase()
    let run = try ProgramRun.complete(arguments + ["--database", database])
    #expect(run.status == 1)
    #expect(
      run.errors.hasPrefix(
        "sociograph: the database has no graph, or that of an earlier program; run "
          + "\"sociograph migrate\" with the same --database first ("), "\(run.errors)")
    #expect(run.errors.filter(\.isNewline).count == 1)
  }

  @Test func `maintain runs every task once, and says which one failed`() throws {
    let (database, session) = try database(with: [])
    try session.execute(
      """
      INSERT INTO sociograph_request (viewer_id, key, day, slot, body_hash, statement)
      SELECT 0, 'old', current_date - 2, (current_date - 2 - date '2000-01-01') % 4, '', 0
      """)
    let run = try ProgramRun.complete(["maintain", "--database", database])
    #expect(run.status == 0, "\(run.errors)")
    let names = try session.execute("SELECT task FROM sociograph_tasks() ORDER BY 1").map { $0[0] }
    #expect(names.count >= 5)
    #expect(
      run.output.split(separator: "\n").map { String($0.prefix { $0 != ":" }) } == names)
    #expect(run.output.contains("sociograph_forget_requests: done in "))
    #expect(try session.execute("SELECT FROM sociograph_request").isEmpty)
    #expect(
      try session.execute("SELECT count(*)::int FROM sociograph_task") == [["\(names.count)"]])

    try session.execute("DROP FUNCTION keep_partitions()")
    let broken = try ProgramRun.complete(["maintain", "--database", database])
    #expect(broken.status == 1 && broken.errors.contains("keep_partitions failed"))
    #expect(broken.output.contains("forget_changes: done"))
  }

  @Test func `what is over is forgotten, and nothing else`() throws {
    let (database, session) = try database(with: ["ada"])
    try session.execute(
      """
      INSERT INTO session (token_hash, user_id, expires_at)
      SELECT sha256(d.days::text::bytea), (SELECT id FROM app_user), now() + d.days * interval '1 day'
      FROM (VALUES (-2), (0.5), (30)) d (days);
      INSERT INTO one_time_token (token_hash, purpose, user_id, expires_at)
      SELECT sha256(d.hours::text::bytea), 'VERIFY_EMAIL', (SELECT id FROM app_user),
        now() + d.hours * interval '1 hour' FROM (VALUES (-1), (1)) d (hours);
      INSERT INTO audit_log (at, act)
      SELECT now() - d.days * interval '1 day', d.days::text FROM (VALUES (400), (300), (0)) d (days);
      INSERT INTO outbox (channel, body, delivered_at, failed_at) VALUES
        ('EMAIL', 'old', now() - interval '8 days', NULL), ('EMAIL', 'given up', NULL,
          now() - interval '8 days'), ('EMAIL', 'new', now(), NULL), ('EMAIL', 'waits', NULL, NULL);
      """)
    #expect(try ProgramRun.complete(["maintain", "--database", database]).status == 0)
    #expect(
      try session.execute("SELECT count(*) FROM session WHERE expires_at > now()") == [["2"]])
    #expect(try session.execute("SELECT count(*) FROM session") == [["2"]])
    #expect(try session.execute("SELECT count(*) FROM one_time_token") == [["1"]])
    #expect(try session.execute("SELECT act FROM audit_log ORDER BY id") == [["300"], ["0"]])
    #expect(try session.execute("SELECT body FROM outbox ORDER BY id") == [["new"], ["waits"]])
  }
}
