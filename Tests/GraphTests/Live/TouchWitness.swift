import Foundation
import Postgres
import TestSupport

/// Takes note of all that happens in the tables of `live_source` and of the touches that it leaves, so that the view can
/// be held against it (Tests/Fixtures/live/witness.sql).
struct TouchWitness {
  private let session: PostgresSession

  init(_ database: String) throws {
    session = try TestCluster.session(database)
    let path = TestCluster.packageFolder + "/Tests/Fixtures/live/witness.sql"
    try session.execute(String(contentsOfFile: path, encoding: .utf8))
  }

  /// Changes that a line of the view says more of than was so.
  var faults: [String] {
    get throws {
      try session.execute(
        """
        SELECT f.line || ' ' || f.operation || ' ' || count(*) || ': ' || min(f.change::text)
        FROM witness_faults() f GROUP BY f.line, f.operation ORDER BY 1
        """
      ).compactMap { $0[0] }
    }
  }

  /// The lines of `live_source` without an observed touch for a change of their table.
  var unseen: [String] {
    get throws {
      try session.execute("SELECT * FROM witness_unseen() ORDER BY 1").compactMap { $0[0] }
    }
  }
}
