import GraphQLLanguage
import GraphQLPlanning
import GraphQLSchema
import Postgres
import TestSupport

@testable import StorageChecking

/// A small graph and tables of its own, and what the check finds in it.
struct CheckedGraph {
  let mapping: StorageMapping
  let database: String

  /// - Parameters:
  ///   - sdl: besides `Node`, `PageInfo` and the storage directives.
  ///   - sql: run in a new database.
  init(_ sdl: String, _ sql: String) throws {
    let text =
      StorageDirectives.sdl + """

        interface Node { id: ID! }
        type PageInfo {
          hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
        }

        """ + sdl
    mapping = try StorageMapping(
      SchemaBuilder.build(Parser.parse(Source(text), limits: .unlimited)))
    database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(sql)
  }

  /// One type over one table, reached in two ways.
  static func thing(_ fields: String, _ columns: String, more: String = "") throws -> CheckedGraph {
    try CheckedGraph(
      """
      type Query { things: [Thing!]! @list(orderBy: "this.id") }
      type Thing @table(name: "thing") { \(fields) }
      \(more)
      """, "CREATE TABLE thing (id bigint PRIMARY KEY, \(columns))")
  }

  /// The database's.
  var name: String {
    database.firstMatch(of: /dbname=([^ ]+)/).map { String($0.1) } ?? ""
  }

  func findings(
    _ change: (inout StorageCheck) -> Void = { _ in }, as role: String? = nil
  ) throws -> [String] {
    var check = StorageCheck(mapping: mapping)
    change(&check)
    let name = role.map { database.replacing(/user=[^ ]+/, with: "user=\($0)") } ?? database
    return try check.run(PostgresConfiguration(name)).map(\.description)
  }
}
