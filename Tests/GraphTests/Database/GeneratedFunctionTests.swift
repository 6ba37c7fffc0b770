import DatabaseSetup
import Foundation
import Postgres
import TestSupport
import Testing

/// The functions that generators make, as they come out: those of `keep_counts` and `count_rows` for the table that
/// uses the most of them, and those that take all nouns together. `SOCIOGRAPH_UPDATE_FIXTURES=1` writes the files again:
/// read the difference before you commit it.
@Suite(.usesCluster) struct GeneratedFunctionTests {
  @Test(arguments: [
    "counters/exact_post", "counters/add_to_post", "counters/rank_post", "counters/copy_post",
    "counters/fold_post", "counters/count_comment",
    "catalog/is_event", "catalog/node_table", "catalog/is_commentable", "catalog/reactions_to",
    "catalog/sees", "catalog/lock_subject", "catalog/owner_of", "catalog/is_counted_there",
    "catalog/search",
  ])
  func `a generated function is that of its fixture`(name: String) throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let function = String(name.split(separator: "/")[1])
    let rows = try session.execute("SELECT pg_get_functiondef($1::regproc)", [function])
    let text = (rows[0][0] ?? "").trimmingCharacters(in: .whitespacesAndNewlines) + "\n"
    let file = TestCluster.packageFolder + "/Tests/Fixtures/\(name).sql"
    if ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1" {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  }

  @Test func `functions that are applied again leave the tables as they are`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    func tables() throws -> [[String?]] {
      try session.execute(
        """
        SELECT c.oid, a.adrelid, a.xmin::text FROM pg_constraint c
          FULL JOIN pg_attrdef a ON a.adrelid = c.conrelid AND c.contype = 'c'
        WHERE c.connamespace = 'graph'::regnamespace OR c.oid IS NULL ORDER BY 1, 2, 3
        """)
    }
    let before = try tables()
    #expect(before.count > 200)
    try session.execute("UPDATE sociograph_functions SET sha256 = 'of others', files = ''")
    let outcome = try Migrations.read(TestCluster.packageFolder + "/sql")
      .apply(to: PostgresConfiguration(database))
    #expect(outcome.functions && outcome.tables == 0)
    #expect(try tables() == before)
  }
}
