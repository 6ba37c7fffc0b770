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

  /// The arguments that the field reads.
  var read: [String] { action == .insert ? needed + ["updateOnConflict"] : needed }

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
  /// The type of the rows.
  let type: TypeID
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

/// The members of the arguments of a field that writes rows, by their tables and columns.
package struct WrittenMembers: Sendable {
  let mapping: StorageMapping
  let write: WriteStorage

  /// The name of the table without its namespace.
  package var table: String { write.table?.lastName ?? "" }

  /// The inputs that are searched; an error's path is near the argument.
  private static let maximumInputs = 1_000

  /// Returns the shortest path of a member that is written to one of the columns; nil if none is.
  ///
  /// - Parameters:
  ///   - columns: their names in the catalog.
  ///   - table: the table of the columns; nil, or one that no input has, such as a partition, for that
  ///     of `input` or `set`.
  package func path(ofColumns columns: [String], in table: String?) -> [String]? {
    let schema = mapping.schema
    let own = write.table?.lastName ?? ""
    var queue = write.field.arguments.filter { ["input", "set"].contains($0.name) }.map {
      (input: $0.type.namedType, path: [$0.name], table: own)
    }
    // An input that contains itself is searched once.
    var known = Set(queue.map(\.input))
    var hasTable = false
    var place = 0
    while place < queue.count {
      let next = queue[place]
      place += 1
      guard case .inputObject(let fields, _) = schema[next.input].kind else { continue }
      hasTable = hasTable || next.table == table
      var found: (column: Int, path: [String])?
      for member in fields {
        let path = next.path + [member.name]
        if let inside = mapping.nestedInsert(of: member) {
          let input = member.type.namedType
          if known.count < Self.maximumInputs, known.insert(input).inserted {
            queue.append((input, path, inside.table.lastName))
          }
        } else if next.table == table ?? own,
          let column = columns.firstIndex(
            of: SQLQuoting.catalogName(WriteStorage.column(of: member))),
          column < found?.column ?? .max
        {
          found = (column, path)
        }
      }
      if let found { return found.path }
    }
    return table == nil || hasTable ? nil : path(ofColumns: columns, in: nil)
  }
}
