import GraphQLSchema

/// The rows of a variable that are inserted with one array for each column, however many they are.
///
/// They have the same members, each a scalar or null. A plan for other rows has a value for each of
/// them: a column without a member keeps its default, and rows inside of others are a part of their own.
struct UniformRows: Sendable, Equatable {
  /// The members of the input that are scalars of columns.
  let scalars: Set<String>

  /// Creates the rule for the rows of an argument; nil if it takes no list of rows.
  init?(_ argument: InputValueDefinition, _ mapping: StorageMapping) {
    let input = mapping.schema[argument.type.namedType]
    guard argument.name == "input", case .list = argument.type.nullable,
      case .inputObject(let members, _) = input.kind
    else { return nil }
    scalars = Set(
      members.filter { member in
        guard case .named(let type) = member.type.nullable, case .scalar = mapping.schema[type].kind
        else { return false }
        return mapping.nestedInsert(of: member) == nil
      }.map(\.name))
  }

  /// Returns the members that all rows have, in their order; nil for a single row, for too many, and for
  /// rows that differ.
  func members(of value: InputValue) -> [String]? {
    guard case .list(let rows) = value,
      (2...PlannerLimits().maximumInsertedRows).contains(rows.count),
      case .object(let first)? = rows.first, !first.isEmpty
    else { return nil }
    let names = first.map(\.name)
    guard names.allSatisfy(scalars.contains) else { return nil }
    let areAlike = rows.allSatisfy { row in
      guard case .object(let members) = row, members.count == names.count else { return false }
      return zip(members, names).allSatisfy { $0.name == $1 && $0.value.isScalarOrNull }
    }
    return areAlike ? names : nil
  }
}

extension InputValue {
  fileprivate var isScalarOrNull: Bool {
    switch self {
    case .null, .boolean, .int, .bigInt, .float, .number, .string: true
    case .enum, .list, .object: false
    }
  }
}
