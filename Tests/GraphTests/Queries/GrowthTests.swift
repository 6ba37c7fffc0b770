import DatabaseSetup
import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// Pages and counts that once read more the larger the graph was, on graphs of 1,000 and 4,000
/// people. The number of buffers that PostgreSQL reads decides, which is the same on every machine.
/// `script/growth` measures all pages that way, at larger scales.
@Suite(.usesCluster(isFirst: true)) struct GrowthTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    /// A selection of the root; it may use `$id`.
    let selection: String
    /// Finds the node that has most; its id is `$id`.
    var subject: String?
    /// The path of the page's rows.
    let rows: String
    /// The path of the count, if there is one.
    var count: String?

    var testDescription: String { name }
  }

  private static let year = #"from: "2024-01-01T00:00:00.000Z", to: "2034-01-01T00:00:00.000Z""#
  private static let person = "SELECT id FROM app_user ORDER BY follower_count DESC, id LIMIT 1"
  private static let place =
    "SELECT id FROM location WHERE level = 'PLACE' ORDER BY post_count DESC, id LIMIT 1"
  private static let city = """
    SELECT l.parent_id FROM location l JOIN location c ON c.id = l.parent_id
    WHERE c.level = 'CITY' GROUP BY 1 ORDER BY sum(l.post_count) DESC, 1 LIMIT 1
    """
  private static let post =
    "SELECT subject_id FROM reaction WHERE subject_id & 240 = 16 GROUP BY 1 "
    + "ORDER BY count(*) DESC, 1 LIMIT 1"

  static let cases = [
    Case(
      name: "followers by name",
      selection: "node(id: $id) { ... on User { followers { nodes { id } } } }", subject: person,
      rows: "node.followers.nodes"),
    Case(
      name: "followers of a name that nobody has",
      selection: #"node(id: $id) { ... on User { followers(search: "zzyzx") { nodes { id } } } }"#,
      subject: person, rows: "node.followers.nodes"),
    Case(
      name: "members by name",
      selection: "node(id: $id) { ... on Circle { members { nodes { id } } } }",
      subject: "SELECT id FROM circle ORDER BY member_count DESC, id LIMIT 1",
      rows: "node.members.nodes"),
    Case(
      name: "the calendar of years",
      selection: "schedule(filter: {\(year)}, first: 20) { nodes { id } }", rows: "schedule.nodes"),
    Case(
      name: "what explore never has", selection: "explore(kinds: [OUTFIT]) { nodes { id } }",
      rows: "explore.nodes"),
    Case(
      name: "posts of people followed in a city",
      selection: "posts(filter: {by: FOLLOWING, withinId: $id}) { nodes { id } }", subject: city,
      rows: "posts.nodes"),
    Case(
      name: "posts in a city", selection: "posts(filter: {withinId: $id}) { nodes { id } }",
      subject: city, rows: "posts.nodes"),
    Case(
      name: "posts at a place",
      selection: "node(id: $id) { ... on Location { posts(orderBy: NEWEST) { nodes { id } } } }",
      subject: place, rows: "node.posts.nodes"),
    Case(
      name: "reactions of every kind",
      selection: "node(id: $id) { ... on Post { reactions { nodes { id } } } }", subject: post,
      rows: "node.reactions.nodes"),
    Case(
      name: "a word that nobody wrote",
      selection: #"search(query: "zzyzx") { nodes { ... on Node { id } } }"#, rows: "search.nodes"),
    Case(
      name: "how many are closed", selection: "posts(filter: {isOpen: false}) { totalCount }",
      rows: "", count: "posts.totalCount"),
  ]

  private static let large = Result {
    let database = try TestCluster.newDatabase(migrated: true)
    _ = try Seeder.read(TestCluster.packageFolder + "/sql/demo", scale: 4, seed: 1)
      .run(PostgresConfiguration(database)) { _ in }
    return try GraphServer(database: database)
  }

  @Test(arguments: cases)
  func `a page of a graph four times as large reads no more`(_ example: Case) throws {
    let small = try reading(example, of: GraphServer.seeded)
    let large = try reading(example, of: Self.large.get())
    // 40 a row, or 800 for each hundred that are counted, or hardly more than before.
    let allowed =
      large.count.map { 800 * ($0 / 100 + 1) } ?? max(2 * small.buffers, 40 * max(1, large.rows))
    #expect(large.buffers <= allowed, "\(small.buffers) buffers, then \(large.buffers)")
    #expect(large.rows >= small.rows)
  }

  // MARK: - What PostgreSQL counts

  private func reading(
    _ example: Case, of server: GraphServer
  ) throws -> (buffers: Int, rows: Int, count: Int?) {
    let data = try server.data()
    let name = GraphData.unique("Growth")
    var variables: JSONValue?
    if let subject = example.subject {
      guard let row = try data.run(subject).first, let id = Int64(row[0] ?? "") else {
        throw GraphTestFailure("there is no node for \(example.name)")
      }
      variables = ["id": NodeKey(id).json]
    }
    let query =
      (example.subject == nil ? "query \(name) { " : "query \(name)($id: ID!) { ")
      + example.selection + " }"
    // A connection looks things up the first time that it is used, and any of them may be.
    var least = Int.max
    var counts: [Int] = [0]
    var found: JSONValue?
    for call in 1...9 {
      let answer = try server.execute(query, variables, token: "demo-marisol")
      #expect(answer["errors"] == nil, "\(answer)")
      found = answer["data"]
      counts.append(try counted(name, in: data, calls: call))
      least = min(least, counts[call] - counts[call - 1])
    }
    return (
      least, found?.at(example.rows)?.array?.count ?? 0,
      example.count.flatMap { found?.at($0)?.int }
    )
  }

  /// Returns the buffers of all executions of an operation so far, once there are this many:
  /// PostgreSQL counts one when its transaction has ended, which may be after the response.
  private func counted(_ name: String, in data: GraphData, calls: Int) throws -> Int {
    let database = try data.run("SELECT current_database()")[0][0] ?? ""
    let statistics = try TestCluster.session(TestCluster.connectionString())
    for _ in 0..<60_000 {
      let row = try statistics.execute(
        """
        SELECT coalesce(sum(calls), 0), coalesce(sum(shared_blks_hit + shared_blks_read), 0)
        FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
        WHERE d.datname = $1 AND s.query LIKE '/*action=''' || $2 || '''%'
        """, [database, name])
      if let row = row.first, row.count == 2, Int(row[0] ?? "") ?? 0 >= calls {
        return Int(row[1] ?? "") ?? 0
      }
      usleep(10_000)
    }
    throw GraphTestFailure("PostgreSQL has not counted \(name)")
  }
}
