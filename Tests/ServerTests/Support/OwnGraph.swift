import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import JSON
import Postgres
import Server
import StorageChecking
import TestSupport

/// A server over a schema and tables of a test's own.
struct OwnGraph {
  let server: TestServer
  let mapping: StorageMapping
  /// The findings of the check of the schema against its database.
  let findings: [String]

  /// - Parameters:
  ///   - sql: run in a new database.
  ///   - isSubgraph: whether a gateway can ask it.
  init(
    _ sdl: String, _ sql: String, isSubgraph: Bool = false,
    _ change: (inout RunningServer.Settings) -> Void = { _ in }
  ) throws {
    let alone = try Self.mapping(sdl)
    mapping =
      isSubgraph ? try Self.mapping(sdl + "\n" + SubgraphSchema.additions(to: alone)) : alone
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(sql)
    findings = try StorageCheck(mapping: mapping).run(PostgresConfiguration(database))
      .map(\.description)
    server = try TestServer(mapping, database: database, change)
  }

  static func mapping(_ sdl: String) throws -> StorageMapping {
    let source = Source(StorageDirectives.sdl + "\n" + sdl)
    let document = try Parser.parse(source, limits: .unlimited)
    return try StorageMapping(SchemaBuilder.build(SchemaCompletion.complete(document)))
  }

  /// The first column of the only row that a query returns.
  func value(_ query: String) throws -> String? { try rows(query).first?.first ?? nil }

  func rows(_ query: String) throws -> [[String?]] {
    try TestCluster.session(server.database).execute(query)
  }

  /// The response's body.
  func body(_ query: String, _ variables: JSONValue = .object([])) throws -> String {
    try server.execute(query, variables).body
  }
}
