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
