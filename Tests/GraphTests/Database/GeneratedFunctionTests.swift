import Foundation
import TestSupport
import Testing

/// The functions that `keep_counts` and `count_rows` make, as they come out: each generator by what it makes for the
/// table that uses the most of it. `SOCIOGRAPH_UPDATE_FIXTURES=1` writes the files again: read the difference before
/// you commit it.
@Suite(.usesCluster) struct GeneratedFunctionTests {
  @Test(arguments: [
    "exact_post", "add_to_post", "rank_post", "copy_post", "fold_post", "count_comment",
  ])
  func `a generated function is that of its fixture`(name: String) throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let rows = try session.execute("SELECT pg_get_functiondef($1::regproc)", [name])
    let text = (rows[0][0] ?? "").trimmingCharacters(in: .whitespacesAndNewlines) + "\n"
    let file = TestCluster.packageFolder + "/Tests/Fixtures/counters/\(name).sql"
    if ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] == "1" {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  }
}
