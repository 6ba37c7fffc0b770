import Foundation
import Postgres
import TestSupport
import Testing

/// `sociograph draft` over tables and types whose names or kinds mean something to the program.
@Suite(.usesCluster) struct DraftNameTests {
  private func ask(_ text: String, _ server: DraftedServer) throws -> String {
    try post("{\"query\": \"\(text)\"}", port: server.port).body
  }

  @Test func `tables with the names of the program's own types are served`() throws {
    let database = try TestCluster.newDatabase()
    let names = [
      "write_error", "write_error_code", "int_aggregates_filter", "float_aggregates_order",
      "string_list_filter", "page_info", "sort_direction", "time_grouping", "relation_order",
      "query",
      "mutation", "subscription", "node", "boolean_aggregates", "id_filter",
    ]
    let tables = names.map { "CREATE TABLE \($0) (\($0)_id int PRIMARY KEY, name text);" }
    try TestCluster.session(database).execute(tables.joined(separator: "\n"))
    let server = try DraftedServer(
      database, ["--mutations", "--nested", "--aggregates", "--nodes"])
    let answer = try ask("{ __schema { mutationType { fields { name } } } }", server)
    #expect(answer.components(separatedBy: "\"insert").count == names.count + 1, "\(answer)")
  }

  @Test func `columns are named like key words of SQL, and of filters`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE goal (id int PRIMARY KEY, name text);
      CREATE TABLE word (id int PRIMARY KEY, "and" int REFERENCES goal, "or" int REFERENCES goal,
        "not" int, between int REFERENCES goal, "case" int, "end" int, "select" text);
      INSERT INTO goal VALUES (1, 'A');
      """)
    let server = try DraftedServer(database, ["--mutations", "--nested", "--aggregates"])
    let answer = try ask(
      "mutation { insertGoals(input: [{id: 2, wordsByBetween: [{id: 5, case: 3}]}]) "
        + "{ rows { wordsByBetween { nodes { between case } } } } }", server)
    #expect(
      answer
        == #"{"data":{"insertGoals":{"rows":[{"wordsByBetween":{"nodes":[{"between":2,"case":3}]}}]}}}"#
    )
  }

  @Test func `unique columns have any name, and tables those of the parts of a page`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE odd ("2x" int PRIMARY KEY, "1" int NOT NULL UNIQUE, "_" int UNIQUE, "true" int UNIQUE);
      CREATE TABLE node (id int PRIMARY KEY); CREATE TABLE cursor (id int PRIMARY KEY);
      CREATE TABLE link (id int PRIMARY KEY, b int REFERENCES cursor, c int REFERENCES node);
      INSERT INTO node VALUES (1); INSERT INTO cursor VALUES (2); INSERT INTO link VALUES (3, 2, 1);
      """)
    let server = try DraftedServer(database, ["--mutations", "--aggregates"])
    #expect(
      try ask(
        "{ links { nodes { id b c cursor { id } node { id } } aggregates { count } } }", server)
        == #"{"data":{"links":{"nodes":[{"id":3,"b":2,"c":1,"cursor":{"id":2},"node":{"id":1}}],"aggregates":{"count":1}}}}"#
    )
    for key in ["KEY_2X", "KEY_1", "TRUE"] {
      let answer = try ask(
        "mutation { insertOdds(input: [{_2x: 1, _1: 1, true: 1}], updateOnConflict: \(key)) { count } }",
        server)
      #expect(answer == #"{"data":{"insertOdds":{"count":1}}}"#, "\(key) \(answer)")
    }
  }

  @Test func `a table that is too wide for aggregates is left without them, and says what helps`()
    throws
  {
    let database = try TestCluster.newDatabase()
    let columns = (0..<840).map { "c\($0) int" }.joined(separator: ", ")
    try TestCluster.session(database).execute(
      "CREATE TABLE wide (id int PRIMARY KEY, \(columns)); CREATE TABLE other (id int PRIMARY KEY)")
    let folder = try TemporaryFolder()
    let draft = try ProgramRun.complete(
      ["draft", folder.path + "/graph", "--database", database, "--aggregates"])
    #expect(draft.status == 0, "\(draft.errors)")
    #expect(
      draft.errors.contains("left out WideConnection.groups")
        && draft.errors.contains("a view of the columns"), "\(draft.errors)")
    let (wide, other) = (
      try String(contentsOfFile: folder.path + "/graph/wide.graphql", encoding: .utf8),
      try String(contentsOfFile: folder.path + "/graph/other.graphql", encoding: .utf8)
    )
    #expect(wide.contains("  c839: Int\n") && !wide.contains("@aggregates"))
    #expect(other.contains("@aggregates(of: \"Other\")"))
  }

  @Test func `a domain over an enum and int2vector leave their table its list`() throws {
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN kind AS mood CHECK (VALUE <> 'sad');
      CREATE TABLE person (id int PRIMARY KEY, mood kind UNIQUE, places int2vector, moods kind[]);
      INSERT INTO person VALUES (1, 'glad', '1 2');
      """)
    let server = try DraftedServer(database, ["--mutations", "--aggregates"])
    let answer = try ask(
      "mutation { insertPeople(input: [{id: 2, mood: null}]) { count } "
        + "updatePeople(filter: {id: {eq: 1}}, set: {mood: glad}) { rows { id mood places } } }",
      server)
    #expect(
      answer.hasPrefix(
        #"{"data":{"insertPeople":{"count":1},"updatePeople":{"rows":[{"id":1,"mood":"glad","places":"1 2"}]}}"#
      ), "\(answer)")
    let refused = try ask(
      "mutation { updatePeople(filter: {id: {eq: 1}}, set: {mood: sad}) { userErrors { code } } }",
      server)
    #expect(refused.contains("INVALID"), "\(refused)")
  }

  @Test func `the graph is not installed where others have their tables`() throws {
    let database = try TestCluster.newDatabase()
    let session = try TestCluster.session(database)
    try session.execute("CREATE SCHEMA other; CREATE TABLE other.film (id int PRIMARY KEY)")
    let count = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace >= 16384"
    let before = try session.execute(count)
    for command in ["serve", "seed"] {
      let listen = command == "serve" ? ["--listen", "127.0.0.1:0"] : []
      let run = try ProgramRun.complete([command, "--database", database] + listen)
      #expect(run.status != 0)
      #expect(run.errors.contains("a table of others (other.film)"), "\(run.errors)")
      #expect(run.errors.contains("sociograph draft"), "\(run.errors)")
      #expect(try session.execute(count) == before)
    }
  }
}
