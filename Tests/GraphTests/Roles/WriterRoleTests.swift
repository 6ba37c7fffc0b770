import DatabaseSetup
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Server

/// Mutations run under a role that may read and call functions, and cannot do more.
@Suite(.usesCluster) struct WriterRoleTests {
  private let role = "writer_\(UInt32.random(in: 0 ... .max))"

  @Test func `a role that may call functions runs every mutation, and writes nothing by itself`()
    throws
  {
    let database = try TestCluster.newDatabase(migrated: true)
    try ServerRole.allow(role, isNew: true, mutations: true, in: PostgresConfiguration(database))
    let asRole = database.replacing(/user=[^ ]+/, with: "user=\(role)")
    let configuration = try PostgresConfiguration(asRole)
    #expect(
      try MutationCheck(mapping: GraphServer.mapping.get()).run(PostgresSession(configuration))
        == [])

    let server = try GraphServer(
      database: database,
      settings: {
        $0.writerDatabase = configuration
        $0.sessionDatabase = configuration
      })
    defer { server.stop() }
    let anna = try server.data().person("anna")
    let post = try server.mutate(
      "createTextPost(input: {body: \"mine\"})", "textPost { id }", as: anna, key: "k")
    #expect(
      try server.payload(
        "createTextPost(input: {body: \"mine\"})", "textPost { id }", as: anna, key: "k") == post)

    let session = try TestCluster.session(asRole)
    for statement in [
      "INSERT INTO circle_member VALUES (1, 1)", "DELETE FROM post", "UPDATE app_user SET bio = ''",
      "SELECT hash FROM password", "SELECT token_hash FROM session",
      "SELECT FROM one_time_token", "SELECT FROM outbox", "SELECT answer FROM sociograph_request",
      "TRUNCATE sociograph_request", "CREATE TABLE graph.other (id bigint)",
      "SET log_min_messages = debug1",
    ] {
      let error = #expect(throws: PostgresError.self, "\(statement)") {
        try session.execute(statement)
      }
      #expect(error?.sqlState == "42501", "\(statement): \(error as Any)")
    }
    #expect(try session.execute("SHOW log_min_messages") == [["fatal"]])
  }

  @Test func `a function that does not fit is named before anybody calls it`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let owner = try TestCluster.session(database)
    func problems() throws -> [String] {
      try MutationCheck(mapping: GraphServer.mapping.get()).run(TestCluster.session(database))
    }
    #expect(try problems() == [])
    try owner.execute("GRANT EXECUTE ON FUNCTION graph.unreact TO PUBLIC")
    try owner.execute("ALTER FUNCTION graph.react STABLE")
    try owner.execute("ALTER FUNCTION graph.delete_post RENAME TO erase_post")
    try owner.execute("DROP FUNCTION graph.cast_vote")
    try owner.execute(
      """
      CREATE FUNCTION graph.cast_vote(viewer bigint, post_id bigint, choice text) RETURNS text
      LANGUAGE sql AS $$ SELECT '' $$
      """)
    let found = try problems()
    #expect(
      found.map { String($0.prefix { $0 != " " }) }.sorted() == [
        "Mutation.castVote:", "Mutation.deletePost:", "Mutation.react:", "Mutation.unreact:",
      ], "\(found)")
    func problem(_ field: String) -> String? { found.first { $0.hasPrefix("Mutation.\(field):") } }
    #expect(problem("deletePost")?.contains("delete_post") == true)
    #expect(problem("castVote")?.contains("must return bigint, not text") == true)
  }
}
