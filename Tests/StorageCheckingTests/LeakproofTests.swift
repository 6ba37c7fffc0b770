import GraphQLPlanning
import Postgres
import TestSupport
import Testing

@Suite(.usesCluster) struct LeakproofTests {
  @Test func `the types whose comparisons pass a rule are those that PostgreSQL calls leakproof`()
    throws
  {
    let session = try TestCluster.session(try TestCluster.newDatabase())
    let names = ParameterType.leakproof.sorted()
    let list = names.map { "('\($0)')" }.joined(separator: ", ")
    let others = try session.execute(
      """
      SELECT name FROM (VALUES \(list)) AS list(name)
      WHERE 6 <> (SELECT count(*) FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
        WHERE o.oprname IN ('=', '<>', '<', '<=', '>', '>=') AND p.proleakproof
          AND o.oprleft = o.oprright AND o.oprleft =
            CASE name WHEN 'cidr' THEN 'inet' ELSE name END::regtype)
        AND (name NOT LIKE 'xid' OR NOT EXISTS (SELECT FROM pg_proc WHERE proname = 'xideq' AND proleakproof))
      """)
    #expect(others.isEmpty, "\(others)")
  }
}
