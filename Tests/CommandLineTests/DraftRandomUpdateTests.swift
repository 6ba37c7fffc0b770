import Foundation
import OracleSupport
import Postgres
import TestSupport
import Testing

/// `sociograph draft --update` after random changes of a database.
@Suite(.usesCluster) struct DraftRandomUpdateTests {
  /// A random statement of DDL, which may fail.
  private static func change(_ random: inout SeededGenerator) -> String {
    func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
    let table = pick(["a", "b", "c", "d"])
    let other = pick(["a", "b", "c", "d"])
    let column = pick(["x", "y", "z"])
    let type = pick(["int", "text", "date", "numeric", "size", "jsonb", "bool[]"])
    return switch Int.random(in: 0..<16, using: &random) {
    case 0, 1, 2: "CREATE TABLE \(table) (id int PRIMARY KEY, \(column) \(type))"
    case 3, 4: "DROP TABLE \(table) CASCADE"
    case 5: "ALTER TABLE \(table) RENAME TO \(other)"
    case 6: "ALTER TABLE \(table) ADD \(column) \(type)"
    case 7: "ALTER TABLE \(table) DROP \(column) CASCADE"
    case 8: "ALTER TABLE \(table) RENAME \(column) TO \(pick(["x", "y", "z"]))"
    case 9: "ALTER TABLE \(table) ALTER \(column) TYPE text USING \(column)::text"
    case 10: "ALTER TABLE \(table) DROP CONSTRAINT \(pick(["a", "b", "c", "d"]))_pkey CASCADE"
    case 11: "ALTER TABLE \(table) ADD PRIMARY KEY (id)"
    case 12: "ALTER TABLE \(table) ADD \(other)_id int REFERENCES \(other)"
    // Several foreign keys may have the same columns, and a column may refer to itself.
    case 13, 14: "ALTER TABLE \(table) ADD FOREIGN KEY (id) REFERENCES \(other)"
    default: "ALTER TABLE \(table) ADD UNIQUE (\(column))"
    }
  }

  @Test(arguments: [
    ["--mutations"], ["--mutations", "--nested", "--aggregates", "--nodes"],
  ])
  func `after each change of the database the updated schema holds`(_ options: [String]) throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(
      "CREATE TYPE size AS ENUM ('S', 'M'); CREATE TABLE a (id int PRIMARY KEY, x text); "
        + "CREATE TABLE fixed (line text)")
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    let draft = try ProgramRun.complete(["draft", path, "--database", database] + options)
    try #require(draft.status == 0, "\(draft.errors)")
    var random = SeededGenerator(seed: 38)
    var done: [String] = []
    for statement in ["DROP TABLE a", "CREATE TABLE b (id int PRIMARY KEY)"] {
      try session.execute(statement)
      try update(path, database, [statement])
    }
    for _ in 0..<25 {
      for _ in 0..<3 {
        let statement = Self.change(&random)
        if (try? session.execute(statement)) != nil { done.append(statement) }
      }
      try update(path, database, done)
      done = []
    }
  }

  @Test func `fields that read the same keep their names`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(
      """
      CREATE TABLE u (id int PRIMARY KEY);
      CREATE TABLE m (id int PRIMARY KEY, from_user_id int REFERENCES u);
      CREATE TABLE ct (id int PRIMARY KEY, b int UNIQUE REFERENCES ct (b));
      """)
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    let draft = try ProgramRun.complete(["draft", path, "--mutations", "--database", database])
    try #require(draft.status == 0, "\(draft.errors)")
    let check = try ProgramRun.complete(["draft", path, "--check", "--database", database])
    #expect(check.status == 0, "\(check.output) \(check.errors)")
    for statement in [
      "ALTER TABLE m ADD FOREIGN KEY (from_user_id) REFERENCES u",
      "ALTER TABLE m ADD CONSTRAINT third FOREIGN KEY (from_user_id) REFERENCES u",
      "ALTER TABLE m DROP CONSTRAINT third",
      // The fields of a type may be in another order then.
      "ALTER TABLE ct ADD c int, ADD FOREIGN KEY (b) REFERENCES ct (b)",
      "ALTER TABLE ct RENAME c TO k", "DROP TABLE ct",
    ] {
      try session.execute(statement)
      try update(path, database, [statement])
    }
  }

  @Test(arguments: [
    ("requests", "request_payloads"), ("requests", "request_inputs"), ("users", "user_filters"),
    ("users", "user_orders"), ("users", "user_aggregates"), ("users", "nodes"),
  ])
  func `a name that was taken stays as it became when the other one is gone`(
    _ table: String, _ other: String
  ) throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute(
      "CREATE TABLE \(table) (id int PRIMARY KEY); CREATE TABLE \(other) (id int PRIMARY KEY)")
    let folder = try TemporaryFolder()
    let path = folder.path + "/graph"
    let draft = try ProgramRun.complete(
      ["draft", path, "--mutations", "--aggregates", "--nodes", "--database", database])
    try #require(draft.status == 0, "\(draft.errors)")
    try session.execute("DROP TABLE \(other)")
    for _ in 0..<2 { try update(path, database, []) }
  }

  private func update(_ path: String, _ database: String, _ done: [String]) throws {
    let update = try ProgramRun.complete(["draft", path, "--update", "--database", database])
    try #require(update.status == 0, "\(done): \(update.output) \(update.errors)")
    let again = try ProgramRun.complete(["draft", path, "--check", "--database", database])
    try #require(again.status == 0, "\(done): \(again.output) \(again.errors)")
  }
}
