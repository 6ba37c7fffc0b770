import Glibc
import Postgres

extension PostgresSession {
  /// Waits until all changes so far are delivered: they are delayed while any older transaction of
  /// the cluster runs, including those of other tests' databases. Ten minutes at most.
  func waitForChanges() throws {
    let end = try execute("SELECT pg_snapshot_xmax(pg_current_snapshot())")[0][0] ?? ""
    for _ in 0..<60_000 {
      let isTold = try execute("SELECT pg_snapshot_xmin(pg_current_snapshot()) >= '\(end)'::xid8")
      if isTold == [["t"]] { return }
      usleep(10_000)
    }
    throw GraphTestFailure("changes are held back for too long")
  }
}

extension GraphData {
  /// Returns the token of the log of changes, from its start, for a session; nil is an anonymous
  /// client.
  func firstToken(of session: String?) throws -> String {
    try run(
      """
      SELECT change_token(coalesce((
        SELECT s.user_id FROM session s WHERE s.token_hash = sha256(convert_to($1, 'UTF8'))), 0), '0', 0)
      """, [session ?? ""])[0][0] ?? ""
  }
}
