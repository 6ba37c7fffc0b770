import Glibc
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing
import TokenSupport

/// The user of a token, while that changes.
@Suite(.usesCluster) struct SessionLookUpTests {
  /// Finds whose session it is and, where `condition` holds, says so when a lock is free.
  private static func slowed(where condition: String) -> String {
    """
    CREATE OR REPLACE FUNCTION viewer_of_session(token_hash bytea)
    RETURNS TABLE (user_id bigint, is_unnoted boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT ROWS 1 AS $$
    BEGIN
      RETURN QUERY SELECT s.user_id, false FROM session s
        WHERE s.token_hash = viewer_of_session.token_hash AND s.expires_at > now();
      IF FOUND AND \(condition) THEN
        PERFORM pg_advisory_xact_lock_shared(77);
      END IF;
    END $$
    """
  }

  private static func hash(of token: String) -> String {
    "sha256(convert_to('\(token)', 'UTF8'))"
  }

  /// Returns the number of sessions that wait for the lock. The cluster and this view are shared
  /// with other tests.
  private static func waiting(_ session: PostgresSession) throws -> Int {
    try session.execute(
      """
      SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE d.datname = current_database() AND l.objid = 77 AND NOT l.granted
      """
    ).count
  }

  private static func post(_ body: String, as token: String) -> String {
    "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      + "Authorization: Bearer \(token)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// A server of one loop, one person with two sessions, and the id of the second.
  private static func signedInTwice() throws -> (GraphServer, Person, other: Person, id: JSONValue)
  {
    let server = try GraphServer(
      database: TestCluster.newDatabase(migrated: true),
      settings: { $0.loopCount = 1 })
    let ada = try server.signUp("ada")
    let other = try server.signInAgain(ada)
    // The latest stands first.
    let id = try #require(
      try server.data("{ viewer { sessions { id } } }", as: ada).at("viewer.sessions.0.id"))
    return (server, ada, other, id)
  }

  @Test func `what was looked up before a session ended is not believed by who comes after`() throws
  {
    let (server, ada, other, id) = try Self.signedInTwice()
    let session = try TestCluster.session(server.database)
    try session.execute(
      Self.slowed(where: "token_hash = \(Self.hash(of: other.token))"))
    try session.execute("SELECT pg_advisory_lock(77)")
    let first = try RawClient(port: server.port)
    first.send(Self.post(#"{"query":"{ viewer { email } }"}"#, as: other.token))
    #expect(try eventually { try Self.waiting(session) == 1 })

    try server.mutate("revokeSession(sessionId: $id)", ["id: ID!": id], as: ada)
    func isSignedIn() throws -> Bool {
      try server.execute("{ viewer { user { id } } }", as: other).at("data.viewer.user.id") != nil
    }
    #expect(try !isSignedIn())
    // It was asked anew.
    #expect(try Self.waiting(session) == 1)
    try session.execute("SELECT pg_advisory_unlock(77)")
    #expect(first.answer().status == 200)
    #expect(try !isSignedIn())
  }

  @Test func `sessions in use are looked up together, and what that found is as little believed`()
    throws
  {
    let (server, ada, other, id) = try Self.signedInTwice()
    let session = try TestCluster.session(server.database)
    // Of one at a time it says so at once. Whoever is asked for last has all others asked for before.
    try session.execute(
      Self.slowed(
        where: """
          current_query() LIKE '%ORDINALITY%'
            AND set_config('test.asked', coalesce(current_setting('test.asked', true), '') || 'x', true) = 'xx'
          """))
    try session.execute("SELECT pg_advisory_lock(77)")
    // Who comes while it is held may have to wait for it, so no answer is waited for.
    let using = try RawClient(port: server.port)
    var count = 0
    while count < 3_000, try Self.waiting(session) == 0 {
      for token in [ada.token, other.token] {
        using.send(Self.post(#"{"query":"{ viewer { email } }"}"#, as: token))
        count += 1
      }
      usleep(100_000)
    }
    #expect(try Self.waiting(session) == 1)

    let third = try server.signInAgain(ada)
    try server.mutate("revokeSession(sessionId: $id)", ["id: ID!": id], as: third)
    func isSignedIn(_ person: Person) throws -> Bool {
      try server.execute("{ viewer { user { id } } }", as: person).at("data.viewer.user.id") != nil
    }
    #expect(try !isSignedIn(other))
    #expect(try Self.waiting(session) == 1)
    try session.execute("SELECT pg_advisory_unlock(77)")
    for _ in 0..<count { #expect([200, 401].contains(using.answer().status)) }
    #expect(try !isSignedIn(other))
    #expect(try isSignedIn(ada))
  }

  @Test func `a graph without viewer_of_session accepts no token`() throws {
    let (server, ada, _, _) = try Self.signedInTwice()
    try TestCluster.session(server.database).execute("DROP FUNCTION viewer_of_session")
    let answer = try server.execute("{ __typename }", as: server.signInAgain(ada))
    #expect(answer.at("errors.0.extensions.code") == "UNAUTHENTICATED")
  }
}
