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
  /// The list whose objects are the rows, if this stands for all of them.
  var list: InputSource?

  /// Returns the rows that it stands for in a request with these variables.
  package func all(in variables: [InputValue?]) -> [WrittenRow] {
    guard let list, case .list(let items) = list.value(in: variables) else { return [self] }
    return items.indices.map { index in
      let item = list.appending(.index(index))
      return WrittenRow(
        path: path + [String(index)], table: table,
        values: values.map { value in
          guard case .array(let element) = value.type else { return value }
          return Value(
            member: value.member, column: value.column,
            source: item.appending(.name(value.member)), type: element, place: value.place)
        })
    }
  }

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
    case .list, .object, .rows: return nil
    }
    return WrittenRow.Value(
      member: member.name, column: SQLQuoting.catalogName(WriteStorage.column(of: member)),
      source: source, type: type,
      place: InputPlace("\(input.name).\(member.name)", place.position))
  }
}
