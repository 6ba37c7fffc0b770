import DatabaseSetup
import Foundation
import Postgres
import TestSupport
import Testing

/// Privileges that the roles of `serve` lack: reported by `schema --check`, and repaired.
@Suite(.usesCluster) struct ServingRightsTests {
  @Test
  func `a right that an embedded database lacks is named, and granted with nothing to migrate`()
    throws
  {
    let folder = try TemporaryFolder()
    let data = folder.path + "/data"
    func run(
      _ arguments: String...
    ) throws -> (status: Int32?, output: String, errors: String) {
      try ProgramRun.complete([arguments[0], "--data", data] + arguments.dropFirst())
    }
    #expect(try run("migrate").status == 0)
    // As an earlier program granted.
    let revoked = "REVOKE EXECUTE ON FUNCTION photo_audience FROM \(ServerRole.reader)"
    let revoke = try run("psql", "--", "-Atc", "SET search_path = graph; \(revoked)")
    #expect(revoke.status == 0, "\(revoke.errors)")

    let error =
      "error: photo_audience(bigint, text): the role sociograph_server may not call it, so that "
      + "GET /photos/... fails. Run `sociograph migrate --server-role sociograph_server` as the owner "
      + "of the graph.\n"
    let bad = try run("schema", "--check")
    #expect(bad.status == 1 && bad.output.contains(error), "\(bad.output)")
    let again = try run("migrate")
    #expect(again.status == 0 && again.output.contains("Nothing to apply."))
    let good = try run("schema", "--check")
    #expect(good.status == 0 && !good.output.contains("error:"), "\(good.output)")
  }

  @Test func `a start under a role that lacks a right ends with what repairs it`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let owner = try TestCluster.session(database)
    let number = UInt32.random(in: 0 ... .max)
    let (reader, writer) = ("reader_\(number)", "writer_\(number)")
    try owner.execute("CREATE ROLE \(reader) LOGIN; CREATE ROLE \(writer) LOGIN")
    let grant = [
      "migrate", "--database", database, "--server-role", reader, "--writer-role", writer,
    ]
    #expect(try ProgramRun.complete(grant).status == 0)
    try owner.execute(
      """
      REVOKE EXECUTE ON FUNCTION graph.rest_of_session FROM \(reader);
      REVOKE EXECUTE ON FUNCTION graph.outbox_end, graph.note_upload FROM \(writer)
      """)
    let start = try ProgramRun.complete([
      "serve", "--listen", "127.0.0.1:0",
      "--database", TestCluster.connectionString(database, as: reader),
      "--writer-database", TestCluster.connectionString(database, as: writer),
    ])
    #expect(start.status == 1)
    for (function, role, option) in [
      ("rest_of_session(bytea)", reader, "--server-role"),
      ("outbox_end(bigint, boolean, boolean, boolean)", writer, "--writer-role"),
      ("note_upload(bigint, jsonb)", writer, "--writer-role"),
    ] {
      #expect(
        start.errors.contains("error: \(function): the role \(role) may not call it")
          && start.errors.contains("sociograph migrate \(option) \(role)"), "\(start.errors)")
    }
    // What was granted again is found to be there.
    #expect(try ProgramRun.complete(grant).status == 0)
    let check = try ProgramRun.complete([
      "schema", "--check", "--database", TestCluster.connectionString(database, as: writer),
    ])
    #expect(!check.output.contains("error:"), "\(check.output)")
  }
}
