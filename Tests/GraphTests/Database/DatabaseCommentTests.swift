import Postgres
import TestSupport
import Testing

/// `\d+`, `\df+` and `\dT+` describe the graph to database administrators.
@Suite(.usesCluster) struct DatabaseCommentTests {
  /// Columns that say what they are.
  private static let obvious: Set = [
    "id", "created_at", "updated_at", "name", "title", "description", "body", "text", "note",
    "reason", "url", "username", "display_name", "email", "email_verified", "bio", "website",
    "roles", "card_preference", "provider", "level", "brand", "price", "buy_url", "role",
    "kind", "status", "state", "visibility", "moderation", "starts_at", "ends_at", "opens_at",
    "closes_at", "added_at", "joined_at", "followed_at", "started_at", "ended_at",
    "recorded_at", "last_used_at", "expires_at", "read_at", "delivered_at", "is_open",
    "choice", "position", "training", "duration_minutes", "subject", "avatar_url",
    "support_email", "voting_enabled", "voting_enabled_by_default", "list", "day", "deleted",
  ]

  @Test func `every table, view, sequence, type and function has a comment`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let bare = try session.execute(
      """
      SELECT oid::regclass::text FROM pg_class
      WHERE relnamespace = 'graph'::regnamespace AND obj_description(oid, 'pg_class') IS NULL
        AND (relkind IN ('r', 'p', 'v') AND NOT relispartition
          OR relkind = 'S' AND NOT EXISTS (
            SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'i'))
      UNION ALL
      SELECT oid::regtype::text FROM pg_type
      WHERE typnamespace = 'graph'::regnamespace AND typtype = 'e'
        AND obj_description(oid, 'pg_type') IS NULL
      UNION ALL
      SELECT oid::regprocedure::text FROM pg_proc
      WHERE pronamespace = 'graph'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
      ORDER BY 1
      """)
    #expect(bare == [])
  }

  @Test func `every column has one that does not say by its name or key what it is`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let bare = try session.execute(
      """
      SELECT c.relname || '.' || a.attname, a.attname
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.relnamespace = 'graph'::regnamespace AND c.relkind IN ('r', 'p')
        AND NOT c.relispartition AND c.relname !~ '^sociograph_'
        AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NULL
        AND NOT EXISTS (SELECT FROM pg_constraint k
          WHERE k.conrelid = c.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey))
      ORDER BY 1
      """)
    #expect(bare.compactMap { $0[1] }.filter { !Self.obvious.contains($0) } == [])
  }
}
