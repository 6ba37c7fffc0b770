import DatabaseSetup
import Foundation
import Pictures
import Postgres
import StorageChecking
import TestSupport
import Testing

@testable import Server

/// A server whose role may read and note sessions serves everything, and cannot do more.
@Suite(.usesCluster) struct ServerRoleTests {
  private let role = "server_\(UInt32.random(in: 0 ... .max))"

  @Test func `a role that may only read serves the graph, and writes nothing`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let owner = try TestCluster.session(database)
    try owner.execute("CREATE ROLE \(role) LOGIN")
    let asRole = database.replacing(/user=[^ ]+/, with: "user=\(role)")
    let denied = #expect(throws: PostgresError.self) {
      try TestCluster.session(asRole).execute("SELECT count(*) FROM graph.app_user")
    }
    #expect(denied?.sqlState == "42501")

    // What an earlier version granted is taken back.
    try owner.execute("GRANT SELECT ON graph.outbox, graph.session TO \(role)")
    try owner.execute("GRANT UPDATE (last_used_at, expires_at) ON graph.session TO \(role)")
    try ServerRole.allow(role, in: PostgresConfiguration(database))
    let configuration = try PostgresConfiguration(asRole)
    let plan = try Migrations.read(TestCluster.packageFolder + "/sql").plan(for: configuration)
    #expect(!plan.isPending && plan.remark == nil)
    #expect(try ServerSecret.read(from: PostgresSession(configuration)) != nil)
    #expect(try !StorageCheck(mapping: GraphServer.mapping.get()).run(configuration).hasErrors)

    let server = try GraphServer(database: database, as: role)
    defer { server.stop() }
    let data = try GraphData(database)
    let (anna, ben) = (try data.person("anna"), try data.person("ben"))
    try data.follow(anna, ben)
    _ = try data.post(.text, by: ben)
    try owner.execute("UPDATE session SET last_used_at = NULL")
    let answer = try server.data(
      "{ viewer { feed(first: 1) { nodes { author { username } } } } changes { token } }", as: anna)
    #expect(answer.at("viewer.feed.nodes.0.author.username") == .string(ben.username))
    for _ in 0..<60_000
    where try owner.execute("SELECT FROM session WHERE last_used_at IS NOT NULL").isEmpty {
      usleep(10_000)
    }
    #expect(try !owner.execute("SELECT FROM session WHERE last_used_at IS NOT NULL").isEmpty)

    let session = try TestCluster.session(asRole)
    // Streams end with their sessions.
    let rest = "SELECT rest_of_session(sha256(convert_to($1, 'UTF8'))) > 0"
    #expect(try session.execute(rest, [anna.token]) == [["t"]])
    #expect(try session.execute(rest, ["another"]) == [[nil]])
    for statement in [
      "DELETE FROM post", "UPDATE app_user SET bio = ''", "UPDATE session SET user_id = user_id",
      "UPDATE sociograph_secret SET secret = ''", "UPDATE session SET expires_at = now()",
      "SELECT hash FROM password", "SELECT token_hash FROM session",
      "SELECT access_token FROM identity", "SELECT FROM one_time_token", "SELECT FROM outbox",
      "SELECT answer FROM sociograph_request", "SELECT answer FROM sociograph_request_0",
      "SELECT password_of_name('anna')", "SELECT sign_up_again('{}', '', '', '')",
      "TRUNCATE post CASCADE", "CREATE TABLE other (id bigint)", "SELECT nextval('node_seq')",
    ] {
      let error = #expect(throws: PostgresError.self, "\(statement)") {
        try session.execute(statement)
      }
      #expect(error?.sqlState == "42501", "\(statement): \(error as Any)")
    }
    // A slow statement is logged without its values.
    #expect(try session.execute("SHOW log_parameter_max_length") == [["0"]])
  }

  @Test func `a picture is uploaded, registered and fetched under the roles of serve`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let owner = try TestCluster.session(database)
    let writer = "writer_of_\(role)"
    try owner.execute("CREATE ROLE \(role) LOGIN")
    try ServerRole.allow(role, in: PostgresConfiguration(database))
    try ServerRole.allow(
      writer, isNew: true, mutations: true, in: PostgresConfiguration(database))
    let writers = try PostgresConfiguration(TestCluster.connectionString(database, as: writer))
    let server = try GraphServer(
      database: database, as: role,
      settings: {
        $0.writerDatabase = writers
        $0.sessionDatabase = writers
      })
    defer { server.stop() }

    let anna = try GraphData(database).person("anna")
    let url = try server.upload(TestPicture.png(width: 800, height: 600), as: anna)
    let photo = try server.mutate(
      "createPhoto(input: {url: $url})", "photo { url square: url(shape: SQUARE) }",
      ["url: URL!": .string(url)], as: anna)
    let authorization = [("Authorization", "Bearer \(anna.token)")]
    for (path, width) in [("photo.url", 800), ("photo.square", 600)] {
      let response = try server.photo(
        at: #require(photo.at(path)?.string), headers: authorization)
      #expect(response.status == 200, "\(path): \(response.text)")
      #expect(PictureSize(of: response.body, .png) == PictureSize(width: width, height: 600))
    }
  }

  @Test func `every table and column that is withheld is there`() throws {
    let owner = try TestCluster.session(TestCluster.newDatabase(migrated: true))
    let missing = try owner.execute(
      """
      SELECT w.relation, w.attribute FROM graph.withheld w
      WHERE NOT EXISTS (SELECT FROM pg_attribute a
        WHERE a.attrelid = to_regclass('graph.' || w.relation) AND a.attnum > 0
          AND a.attname = coalesce(w.attribute, a.attname))
      """)
    #expect(missing.isEmpty, "\(missing)")
  }
}
