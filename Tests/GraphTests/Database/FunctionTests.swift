import Postgres
import TestSupport
import Testing

@Suite(.usesCluster) struct FunctionTests {
  /// PostgreSQL parses and plans the text of a function in SQL on each call, unless it inlines it,
  /// which it does not do for a function that returns one value and reads a table.
  @Test func `what gives one value and looks into a table keeps its plans`() throws {
    let session = try TestCluster.session(TestCluster.migratedDatabase())
    let planned = try session.execute(
      """
      SELECT p.proname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
      WHERE p.pronamespace = 'graph'::regnamespace AND l.lanname = 'sql' AND NOT p.proretset
        AND p.prosrc ~* '\\m(from|insert|update|delete|array\\s*\\(\\s*select)\\M|\\(\\s*select\\M'
      ORDER BY 1
      """)
    // The tasks of an operator and of the background.
    #expect(planned == [["fill_ranks"], ["forget_uploads"]])
  }
}
