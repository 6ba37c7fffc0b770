import Glibc
import HTTPTestSupport
import JSON
import Postgres
import TestSupport
import Testing
import TokenSupport

/// Whose a token is, while that changes.
@Suite struct SessionLookUpTests {
  /// Finds whose session it is and, for one token, says so when a lock is free.
  private static func slowed(_ token: String) -> String {
    """
    CREATE OR REPLACE FUNCTION viewer_of_session(token_hash bytea)
    RETURNS TABLE (user_id bigint, is_unnoted boolean)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT ROWS 1 AS $$
    BEGIN
      RETURN QUERY SELECT s.user_id, false FROM session s
        WHERE s.token_hash = viewer_of_session.token_hash AND s.expires_at > now();
      IF FOUND AND token_hash = sha256(convert_to('\(token)', 'UTF8')) THEN
        PERFORM pg_advisory_xact_lock_shared(77);
      END IF;
    END $$
    """
  }

  @Test func `what was looked up before a session ended is not believed by who comes after`() throws
  {
    let server = try GraphServer(
      database: TestCluster.newDatabase(migrated: true), lockTimeout: .seconds(60),
      settings: { $0.loopCount = 1 })
    let ada = try server.signUp("ada")
    let other = try server.signInAgain(ada)
    // The latest stands first.
    let id = try #require(
      try server.data("{ viewer { sessions { id } } }", as: ada).at("viewer.sessions.0.id"))

    let session = try TestCluster.session(server.database)
    try session.execute(Self.slowed(other.token))
    try session.execute("SELECT pg_advisory_lock(77)")
    func waiting() throws -> Int {
      // The cluster is shared with other tests, and so is this view.
      try session.execute(
        """
        SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.objid = 77 AND NOT l.granted
        """
      ).count
    }
    let first = try RawClient(port: server.port)
    let body = #"{"query":"{ viewer { email } }"}"#
    first.send(
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Authorization: Bearer \(other.token)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
    for _ in 0..<6_000 where try waiting() == 0 { usleep(10_000) }
    #expect(try waiting() == 1)

    try server.mutate("revokeSession(sessionId: $id)", ["id: ID!": id], as: ada)
    func isSignedIn() throws -> Bool {
      try server.execute("{ viewer { user { id } } }", as: other).at("data.viewer.user.id") != nil
    }
    #expect(try !isSignedIn())
    // It was asked anew.
    #expect(try waiting() == 1)
    try session.execute("SELECT pg_advisory_unlock(77)")
    #expect(first.answer().status == 200)
    #expect(try !isSignedIn())
  }
}
