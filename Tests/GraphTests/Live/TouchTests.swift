import Postgres
import TestSupport
import Testing

/// The rows that notify subscribers: one for each transaction, written at its end.
@Suite(.usesCluster) struct TouchTests {
  @Test func `a transaction leaves one row of all it touched, at its end`() throws {
    let data = try GraphData(TestCluster.newDatabase(migrated: true))
    let (author, reader) = (try data.person(), try data.person())
    let place = try data.location("Here")
    let post = try data.post(.photo, by: author, location: place)
    let before = try data.run("SELECT count(*) FROM touch")
    try data.run("BEGIN")
    try data.run("SELECT react(\(reader.key), \(post), 'TOP')")
    try data.run("SELECT add_comment(\(reader.key), \(post), 'Lovely.')")
    #expect(try data.run("SELECT count(*) FROM touch") == before)
    let transaction = try data.run("SELECT pg_current_xact_id()")[0][0] ?? ""
    try data.run("COMMIT")
    #expect(try data.run("SELECT count(*) FROM touch WHERE xid = '\(transaction)'") == [["1"]])
    let nodes = try data.run(
      "SELECT key FROM touched WHERE xid = '\(transaction)' AND topic = 'node' ORDER BY key")
    #expect(nodes.compactMap { $0[0] } == [place, post].map { "\($0)" })
    #expect(
      try data.run(
        """
        SELECT topic, key FROM touched WHERE xid = '\(transaction)' AND topic <> 'node' ORDER BY 1, 2
        """) == [
          ["change", "\(author.key)"], ["change", "\(reader.key)"], ["comment", "\(post)"],
          ["notification", "\(author.key)"], ["notification", "\(author.key)"],
        ])
  }

  @Test func `what is undone to a savepoint was not touched`() throws {
    let data = try GraphData(TestCluster.newDatabase(migrated: true))
    try data.run("BEGIN")
    try data.run("SAVEPOINT first")
    try data.run("SELECT touch_nodes('node', '{1}', '{1}')")
    try data.run("ROLLBACK TO first")
    try data.run("SELECT touch_nodes('node', '{2}', '{2}')")
    try data.run("SAVEPOINT second")
    try data.run("SELECT touch_nodes('node', '{3,4}', '{3,4}')")
    try data.run("ROLLBACK TO second")
    try data.run("SELECT touch_nodes('comment', '{2,NULL,5}', '{6,7,NULL}')")
    try data.run("COMMIT")
    #expect(
      try data.run("SELECT topic, key, node FROM touched ORDER BY topic")
        == [["comment", "2", "6"], ["node", "2", "2"]])
    try data.run("BEGIN")
    try data.run("SELECT touch_nodes('node', '{8}', '{8}')")
    try data.run("ROLLBACK")
    #expect(try data.run("SELECT FROM touched WHERE key = 8") == [])
  }

  @Test func `a statement with many rows tells of each`() throws {
    let data = try GraphData(TestCluster.newDatabase(migrated: true))
    let ids = try data.run("SELECT array_agg(n) FROM generate_series(1, 1050) n")[0][0] ?? ""
    let few = "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20}"
    try data.run("BEGIN")
    for topic in 0..<40 {
      try data.run("SELECT touch_nodes('topic\(topic)', '\(few)', '\(few)')")
    }
    try data.run("SELECT touch_nodes('node', '\(ids)', '\(ids)')")
    try data.run("COMMIT")
    #expect(
      try data.run(
        "SELECT topic = 'node', count(DISTINCT (topic, key)), count(*) FROM touched GROUP BY 1 ORDER BY 1"
      )
        == [["f", "800", "800"], ["t", "1050", "1050"]])
    #expect(try data.run("SELECT max(length(news)) < 2000 FROM touch") == [["t"]])
  }
}
