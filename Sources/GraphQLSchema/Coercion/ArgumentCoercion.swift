import GraphQLLanguage
import GraphQLResponse

/// The coerced arguments of a field or directive, given or defaulted, in the order of their
/// definitions.
package struct CoercedArguments: Sendable, Equatable {
  package private(set) var members: [InputValue.Member] = []

  package init() {}

  package init(_ members: [InputValue.Member]) { self.members = members }

  /// The value of an argument; nil if it is absent, which differs from null.
  package subscript(_ name: String) -> InputValue? {
    for member in members where member.name == name { return member.value }
    return nil
  }
}

/// Coerces the arguments of fields and directives.
///
/// GraphQL September 2025, 6.4.1 Coercing Field Arguments.
package struct ArgumentCoercion: Sendable {
  private let schema: Schema
  private let source: Source
  private let variables: CoercedVariables

  package init(_ schema: Schema, source: Source, variables: CoercedVariables) {
    self.schema = schema
    self.source = source
    self.variables = variables
  }

  /// Coerces arguments.
  ///
  /// - Parameter position: the position of the field or directive, to report a missing argument at.
  package func coerce(
    _ arguments: [Argument], as definitions: [InputValueDefinition], at position: Position
  ) throws(GraphQLError) -> CoercedArguments {
    guard !definitions.isEmpty else { return CoercedArguments() }
    var members: [InputValue.Member] = []
    members.reserveCapacity(definitions.count)
    let literals = LiteralCoercion(schema, variables: variables)
    for definition in definitions {
      let given = arguments.last { $0.name.text == definition.name }?.value
      if let value = try coerce(given, as: definition, literals, at: position) {
        members.append(InputValue.Member(name: definition.name, value: value))
      }
    }
    return CoercedArguments(members)
  }

  /// Coerces one argument; returns nil if it is absent and has no default.
  package func coerce(
    _ value: Value?, as definition: InputValueDefinition, at position: Position
  ) throws(GraphQLError) -> InputValue? {
    try coerce(
      value, as: definition, LiteralCoercion(schema, variables: variables), at: position)
  }

  private func coerce(
    _ value: Value?, as definition: InputValueDefinition, _ literals: LiteralCoercion,
    at position: Position
  ) throws(GraphQLError) -> InputValue? {
    guard let value else {
      if let value = definition.coercedDefault { return value }
      guard definition.type.isNonNull else { return nil }
      throw error(
        "Argument \"\(definition.name)\" of required type "
          + "\"\(schema.text(of: definition.type))\" was not provided.", position)
    }
    var isNull = false
    switch value.content {
    case .null: isNull = true
    case .variable(let name):
      guard let given = variables[name] else {
        if let value = definition.coercedDefault { return value }
        guard definition.type.isNonNull else { return nil }
        throw error(
          "Argument \"\(definition.name)\" of required type "
            + "\"\(schema.text(of: definition.type))\" was provided the variable \"$\(name)\" "
            + "which was not provided a runtime value.", value.position)
      }
      isNull = given == .null
      if !isNull { return given }
    case .int, .float, .string, .boolean, .enum, .list, .object: break
    }
    if isNull {
      guard definition.type.isNonNull else { return .null }
      throw error(
        "Argument \"\(definition.name)\" of non-null type "
          + "\"\(schema.text(of: definition.type))\" must not be null.", value.position)
    }
    if let coerced = literals.coerce(value, to: definition.type) { return coerced }
    throw error(
      "Argument \"\(definition.name)\" has invalid value \(Printer.print(value)).", value.position)
  }

  private func error(_ message: String, _ position: Position) -> GraphQLError {
    GraphQLError(message, locations: [source.location(of: position)], code: .badUserInput)
  }
}
