import DatabaseSetup
import Foundation
import GraphQLExecution
import JSON
import Postgres
import TestSupport
import Testing

@testable import Server

/// `sociograph explain --documents --budget`: what published operations take, and what they took.
@Suite(.usesCluster) struct BudgetTests {
  /// The showcase reads with their variables; of the read that continues from a token the variables
  /// are left out, so that it is planned only.
  private func showcase() throws -> (
    documents: [(id: String, text: String)], variables: [String: [JSONValue.Member]]
  ) {
    var documents: [(id: String, text: String)] = []
    var variables: [String: [JSONValue.Member]] = [:]
    for name in ShowcaseTests.names {
      let folder = "\(ShowcaseTests.folder)/\(name)"
      let text = try String(contentsOfFile: "\(folder)/operation.graphql", encoding: .utf8)
      documents.append((name, text))
      let bytes = try Data(contentsOf: URL(filePath: "\(folder)/variables.json"))
      let operation = text.firstMatch(of: /query (\w+)/).map { String($0.1) }
      guard !name.hasPrefix("Q19"), let operation,
        case .object(let members) = try JSONParser.parse(Array(bytes))
      else { continue }
      variables[operation] = members
    }
    return (documents, variables)
  }

  private func statement(
    _ part: String = "", buffers: Int?, cost: Double = 1, indexes: [String] = [],
    scans: [OperationBudget.Scan] = []
  ) -> OperationBudget.Statement {
    OperationBudget.Statement(
      name: "s_1", part: part, cost: cost, buffers: buffers, rows: buffers, indexes: indexes,
      scans: scans, fields: [OperationBudget.FieldPages(field: "viewer.feed", pages: 7)])
  }

  private func budget(_ statements: OperationBudget.Statement...) -> OperationBudget {
    OperationBudget(operations: [OperationBudget.Operation(name: "Feed", statements: statements)])
  }

  @Test func `pages, new scans and lost indexes are errors, another plan is a note`() throws {
    let old = budget(
      statement(buffers: 100, indexes: ["a", "b"]), statement("later 1", buffers: nil, cost: 50))
    func lines(
      _ now: OperationBudget, missing: Set<String> = []
    ) -> [String] {
      BudgetCheck(now, against: old, missing: missing).findings.map(\.line)
    }
    #expect(lines(old) == [])
    #expect(lines(budget(statement(buffers: 120, indexes: ["a", "b"]))) == [])
    #expect(
      lines(budget(statement(buffers: 121, indexes: ["a", "b"]))) == [
        "error Feed: 121 pages in place of 100, most of them for viewer.feed"
      ])
    #expect(
      lines(budget(statement("later 1", buffers: nil, cost: 61))) == [
        "error Feed: an estimated cost of 61.0 in place of 50.0 (later 1)"
      ])
    let scans = [
      OperationBudget.Scan(table: "graph.post", rows: 1_000),
      OperationBudget.Scan(table: "graph.small", rows: 999),
    ]
    #expect(
      lines(budget(statement(buffers: 100, indexes: ["a"], scans: scans)), missing: ["b"]) == [
        "error Feed: a sequential scan of graph.post, which has 1000 rows",
        "error Feed: the index b is gone",
      ])
    #expect(
      lines(budget(statement(buffers: 100, indexes: ["a", "c"]))) == [
        "note Feed: other indexes: without b, with c"
      ])
    let empty = OperationBudget(operations: [])
    #expect(lines(empty) == ["note Feed: it is not published any more"])
    #expect(
      BudgetCheck(budget(statement(buffers: 1, scans: scans)), against: empty, missing: [])
        .findings.map(\.isError) == [false, true])
  }

  @Test func `a budget is read as it was written`() throws {
    let budget = budget(
      statement(
        buffers: 100, cost: 12.25, indexes: ["a"],
        scans: [OperationBudget.Scan(table: "graph.post", rows: 7)]),
      statement("later 1", buffers: nil))
    #expect(try OperationBudget(json: budget.json) == budget)
    #expect(throws: CommandFailure.self) { try OperationBudget(json: Array("{}".utf8)) }
  }

  @Test func `each of twenty dropped indexes is reported with every operation it hits`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    var configuration = try PostgresConfiguration(database)
    configuration.namespaces = ["graph"]
    _ = try Seeder.read(TestCluster.packageFolder + "/sql/demo", scale: 1, seed: 1)
      .run(configuration) { _ in }
    configuration.statementTimeout = .seconds(600)
    let session = try PostgresSession(configuration)
    try session.execute("VACUUM ANALYZE")
    // The demo graph is so small that it would read many tables completely.
    try session.execute("SET enable_seqscan = off")
    let (documents, variables) = try showcase()
    let viewer = try session.execute("SELECT viewer_named('marisol')")[0][0].flatMap { Int64($0) }
    let recorder = BudgetRecorder(
      mapping: try GraphServer.mapping.get(), session: session, settings: ExecutionSettings(),
      viewer: try #require(viewer), variables: variables)
    let budget = try recorder.record(documents)
    let measured = budget.operations.flatMap(\.statements).count { $0.buffers != nil }
    #expect(measured == 19)
    #expect(
      BudgetCheck(try recorder.record(documents), against: budget, missing: []).findings == [])

    let own = Set(
      try session.execute(
        """
        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT EXISTS (SELECT FROM pg_constraint x WHERE x.conindid = i.indexrelid)
        """
      ).compactMap { $0[0] })
    let used = Set(budget.operations.flatMap { $0.statements.flatMap(\.indexes) })
      .intersection(own).sorted()
    try #require(used.count >= 20, "\(used)")
    let before = try plans(of: budget, session)
    for index in used.prefix(20) {
      try session.execute("BEGIN")
      try session.execute("DROP INDEX \(index)")
      let after = try plans(of: budget, session)
      let check = BudgetCheck(
        try recorder.record(documents), against: budget,
        missing: try recorder.missingIndexes(of: budget))
      try session.execute("ROLLBACK")
      let hit = Set(before.keys.filter { uses(before[$0] ?? [], index) })
      #expect(!hit.isEmpty && hit.allSatisfy { before[$0] != after[$0] }, "\(index): \(hit)")
      let named = check.findings.filter { $0.text.hasPrefix("the index \(index) is gone") }
      #expect(named.allSatisfy { $0.isError } && Set(named.map(\.operation)) == hit, "\(index)")
    }
    #expect(try plans(of: budget, session) == before)
  }

  /// Returns whether the text of a plan has the name of an index.
  private func uses(_ plan: [[String?]], _ index: String) -> Bool {
    plan.contains { row in
      (row.first ?? nil)?.split(separator: " ").contains { $0 == index } ?? false
    }
  }

  /// PostgreSQL's plans of all statements as text, by operation.
  private func plans(
    of budget: OperationBudget, _ session: PostgresSession
  ) throws -> [String: [[String?]]] {
    var plans: [String: [[String?]]] = [:]
    for operation in budget.operations {
      for statement in operation.statements {
        let types = try session.execute(
          "SELECT unnest(parameter_types) FROM pg_prepared_statements WHERE name = $1",
          [statement.name])
        let nulls = types.map { _ in "NULL" }.joined(separator: ", ")
        plans[operation.name, default: []] += try session.execute(
          "EXPLAIN (COSTS OFF) EXECUTE \(statement.name)" + (nulls.isEmpty ? "" : "(\(nulls))"))
      }
    }
    return plans
  }
}
