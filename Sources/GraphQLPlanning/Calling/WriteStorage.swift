import GraphQLSchema
import SQL

/// The rows that a mutation's field writes: `@insert`, `@update` or `@delete`.
package struct WriteStorage: Sendable {
  package enum Action: String, Sendable {
    case insert, update, delete
  }

  /// The member of the result that is the number of rows.
  static let count = "count"

  package let action: Action
  let target: TypeID?
  let targetName: String
  /// The table, without the rule of its `@table(where:)`; nil if the type has none.
  package let table: SQLTemplate?
  /// The condition of the rows that exist for the viewer.
  let rule: SQLTemplate?
  /// The columns of the key, by which the result names the rows.
  let keys: [String]
  let field: FieldDefinition

  /// The arguments that the field needs.
  private var needed: [String] {
    switch action {
    case .insert: ["input"]
    case .update: ["filter", "set", "atMost"]
    case .delete: ["filter", "atMost"]
    }
  }

  /// The problems, in words that follow the field's coordinate.
  var problems: [String] {
    guard target != nil, table != nil else {
      return ["\(targetName) in @\(action.rawValue) is no type with @table."]
    }
    return needed.filter { field.argument(named: $0) == nil }
      .map { "@\(action.rawValue) needs an argument \($0)." }
  }

  /// Returns the column that a member of `input` or `set` is written to.
  package static func column(of member: InputValueDefinition) -> String {
    member.appliedDirectives.first(named: "column")?.string("name").map(SQLQuoting.written)
      ?? SQLQuoting.snakeCase(member.name)
  }
}

/// Rows that are inserted together with the row around them: an input field with `@insert`.
package struct NestedInsert: Sendable {
  /// The table, without the rule of its `@table(where:)`.
  let table: SQLTemplate
  /// The condition of the rows that exist for the viewer.
  let rule: SQLTemplate?
  /// The columns that are set, and those of the other row whose values they take, as statements write
  /// them.
  let columns: [(set: String, from: String)]
  /// Whether the rows are inserted first, and their values set in the row around them.
  let isFirst: Bool
}

/// The paths of the members that a field writes, by their tables and columns in the catalog.
package struct WrittenMembers: Sendable {
  /// The table of the rows of `input` or `set`.
  private let table: String
  private var paths: [String: [String: [String]]] = [:]

  init(table: String) { self.table = table }

  mutating func add(_ path: [String], table: String, column: String) {
    if paths[table]?[column] == nil { paths[table, default: [:]][column] = path }
  }

  /// Returns the shortest path of a member that is written to one of the columns; nil if none is.
  ///
  /// - Parameter table: the table of the columns; nil or an unknown one for that of `input` or `set`.
  package func path(ofColumns columns: [String], in table: String?) -> [String]? {
    let members = table.flatMap { paths[$0] } ?? paths[self.table]
    return columns.compactMap { members?[$0] }.min { $0.count < $1.count }
  }
}
