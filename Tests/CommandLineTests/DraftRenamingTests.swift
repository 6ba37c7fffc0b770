import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// `sociograph draft --update` of tables and columns that the database renames.
@Suite(.usesCluster) struct DraftRenamingTests {
  private static let tables = """
    CREATE TABLE lingua (lingua_id int PRIMARY KEY, name text NOT NULL UNIQUE, speakers int);
    CREATE TABLE film (film_id int PRIMARY KEY, title text, lingua_id int NOT NULL REFERENCES lingua,
      active bool);
    CREATE TABLE staff (name text, place text, PRIMARY KEY (name, place));
    INSERT INTO lingua VALUES (1, 'Deutsch', 100);
    INSERT INTO film VALUES (1, 'M', 1, true);
    """

  private static let renamings = """
    ALTER TABLE lingua RENAME TO language;
    ALTER TABLE language RENAME lingua_id TO language_id;
    ALTER TABLE language RENAME speakers TO "Number of speakers";
    ALTER TABLE film RENAME lingua_id TO spoken;
    ALTER TABLE film RENAME active TO is_active;
    ALTER TABLE staff RENAME place TO town;
    """

  /// A folder with a draft, over a database of its own.
  private struct Project {
    let database: String
    let session: PostgresSession
    let folder: TemporaryFolder
    var path: String { folder.path + "/graph" }

    init() throws {
      database = try TestCluster.newDatabase()
      session = try TestCluster.session(database)
      folder = try TemporaryFolder()
      try session.execute(DraftRenamingTests.tables)
      try draft(["--mutations", "--anonymous-writes", "--nested", "--aggregates"])
    }

    @discardableResult func draft(_ options: [String], status: Int32 = 0) throws -> String {
      let run = try ProgramRun.complete(["draft", path, "--database", database] + options)
      try #require(run.status == status, "\(run.output) \(run.errors)")
      return run.output
    }

    func file(_ name: String) throws -> String {
      try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    /// The schema as clients see it.
    func schema() throws -> String {
      let run = try ProgramRun.complete(["schema", "--schema", path])
      try #require(run.status == 0, "\(run.errors)")
      return run.output
    }
  }

  @Test func `clients keep the names of what the database renames`() throws {
    let project = try Project()
    let before = try project.schema()
    try project.session.execute(Self.renamings)
    try project.draft(["--update"])
    #expect(try project.schema() == before)
    let film = try project.file("film.graphql")
    #expect(film.contains(#"active: Boolean @column(name: "is_active")"#), "\(film)")
    let lingua = try project.file("lingua.graphql")
    #expect(
      lingua.contains(#"type Lingua @table(name: "language", key: "language_id")"#), "\(lingua)")
    #expect(lingua.contains(#"@column(name: "\"Number of speakers\"")"#), "\(lingua)")
    // It is served, and stays, also after another change and a second renaming.
    try project.draft(["--check"])
    try project.session.execute(
      "ALTER TABLE film RENAME is_active TO shown; ALTER TABLE film ADD year int")
    let printed = try project.draft(["--update"])
    #expect(
      Set(printed.split(separator: "\n").map(String.init))
        .isSuperset(of: ["changed Film.active", "added Film.year"]), "\(printed)")
    let server = try DraftedServer(folder: project.path, project.database)
    let document = """
      mutation { insertFilms(input: [{filmId: 2, active: false, lingua: {linguaId: 2, name: "Ido"}}],
        updateOnConflict: FILM_ID) { rows { title active lingua { name speakers films { totalCount } } }
        userErrors { message } } }
      """
    let answer = try post(
      "{\"query\": \(JSONValue.string(document))}", port: server.port
    ).body
    #expect(
      answer
        == #"{"data":{"insertFilms":{"rows":[{"title":null,"active":false,"lingua":{"name":"Ido","#
        + #""speakers":null,"films":{"totalCount":1}}}],"userErrors":[]}}}"#, "\(answer)")
  }

  @Test func `with --follow-names clients have the new names`() throws {
    let project = try Project()
    try project.session.execute(Self.renamings)
    // Also after an update that kept the old ones.
    try project.draft(["--update"])
    try project.draft(["--check", "--follow-names"], status: 1)
    try project.draft(["--update", "--follow-names"])
    let updated = try project.schema()
    let fresh = try TemporaryFolder()
    let run = try ProgramRun.complete(
      [
        "draft", fresh.path + "/graph", "--database", project.database, "--mutations",
        "--anonymous-writes", "--nested", "--aggregates",
      ])
    try #require(run.status == 0, "\(run.errors)")
    let other = try ProgramRun.complete(["schema", "--schema", fresh.path + "/graph"])
    // In whatever order.
    func definitions(_ text: String) -> [String] { text.components(separatedBy: "\n\n").sorted() }
    #expect(definitions(updated) == definitions(other.output))
  }

  @Test func `a table or column that takes the place of another one is not the other one`() throws {
    let project = try Project()
    try project.session.execute(
      """
      ALTER TABLE film RENAME title TO old_title;
      ALTER TABLE film ADD title text;
      ALTER TABLE film DROP active;
      ALTER TABLE film ADD shown bool;
      ALTER TABLE staff RENAME TO person;
      CREATE TABLE staff (id int PRIMARY KEY);
      """)
    let printed = try project.draft(["--update"])
    let lines = Set(printed.split(separator: "\n").map(String.init))
    #expect(
      lines.isSuperset(of: ["added Film.oldTitle", "removed Film.active", "added Film.shown"]),
      "\(printed)")
    #expect(try project.file("staff.graphql").contains("id: Int!"))
    #expect(try project.file("person.graphql").contains("type Person @table(name: \"person\""))
  }

  @Test func `a copy of the database whose tables have other numbers is not mistaken`() throws {
    let project = try Project()
    let copy = try TestCluster.newDatabase()
    try TestCluster.session(copy).execute(
      "CREATE TABLE a (x int); CREATE TABLE b (x int); CREATE TABLE c (x int);" + Self.tables)
    let check = try ProgramRun.complete(["draft", project.path, "--check", "--database", copy])
    #expect(!check.output.contains("changed"), "\(check.output)")
    #expect(check.output.contains("added A"), "\(check.output)")
  }
}
