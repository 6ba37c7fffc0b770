import GraphQLSchema
import SQL

/// A row that a mutation's field writes, for errors that name the value that PostgreSQL refused.
package struct WrittenRow: Sendable {
  /// A value for a column.
  package struct Value: Sendable {
    /// The member of the input that it was given to.
    package let member: String
    /// The column's name in the catalog.
    package let column: String
    package let source: InputSource
    package let type: ParameterType
    package let place: InputPlace
  }

  /// The argument, and where the row is in it: `input`, `7`, `albums`, `0`.
  package let path: [String]
  /// The table's name without its namespace.
  package let table: String
  package let values: [Value]

  /// The columns that rows have values for.
  static func columns(of rows: [WrittenRow]) -> Set<String> {
    Set(rows.flatMap(\.values).map(\.column))
  }
}

extension StorageMapping {
  /// Returns the value of a member as errors know it; nil for one that is no value of a column.
  func written(
    _ value: ArgumentValue, to member: InputValueDefinition, of input: TypeDefinition,
    _ place: InputPlace
  ) -> WrittenRow.Value? {
    let source: InputSource
    var type = parameterType(of: member.type.namedType)
    switch value {
    case .null: source = .constant(.null)
    case .boolean(let flag): source = .constant(.boolean(flag))
    case .enum(let name): source = .constant(.enum(name))
    case .scalar(let given, _): source = given
    case .scalars(let given, _):
      source = given
      type = .array(type)
    case .list, .object: return nil
    }
    return WrittenRow.Value(
      member: member.name, column: SQLQuoting.catalogName(WriteStorage.column(of: member)),
      source: source, type: type,
      place: InputPlace("\(input.name).\(member.name)", place.position))
  }
}
