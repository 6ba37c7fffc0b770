import GraphQLLanguage

/// The element that a schema coordinate refers to.
package enum SchemaElement: Sendable {
  case type(TypeDefinition)
  case field(TypeDefinition, FieldDefinition)
  case inputField(TypeDefinition, InputValueDefinition)
  case enumValue(TypeDefinition, EnumValueDefinition)
  case argument(TypeDefinition, FieldDefinition, InputValueDefinition)
  case directive(DirectiveDefinition)
  case directiveArgument(DirectiveDefinition, InputValueDefinition)
}

/// The error of a coordinate whose containing element does not exist or cannot contain it.
package struct SchemaCoordinateError: Error, Sendable, Equatable {
  package let message: String
}

extension Schema {
  /// Returns the element of a coordinate; nil if only its last name is unknown.
  ///
  /// GraphQL September 2025, 3.14.3 Resolving Schema Coordinates.
  package func element(
    at coordinate: SchemaCoordinate
  ) throws(SchemaCoordinateError) -> SchemaElement? {
    switch coordinate {
    case .type(let name): return type(named: name).map { .type($0) }
    case .member(let typeName, let name):
      let type = try existingType(typeName)
      switch type.kind {
      case .enum: return type.enumValue(named: name).map { .enumValue(type, $0) }
      case .inputObject: return type.inputField(named: name).map { .inputField(type, $0) }
      case .object, .interface: return type.field(named: name).map { .field(type, $0) }
      case .scalar, .union:
        throw SchemaCoordinateError(
          message: "Expected \"\(typeName)\" to be an Enum, Input Object, Object or Interface type."
        )
      }
    case .argument(let typeName, let fieldName, let name):
      let type = try existingType(typeName)
      switch type.kind {
      case .object, .interface: break
      case .scalar, .union, .enum, .inputObject:
        throw SchemaCoordinateError(
          message: "Expected \"\(typeName)\" to be an object type or interface type.")
      }
      guard let field = type.field(named: fieldName) else {
        throw SchemaCoordinateError(
          message: "Expected \"\(fieldName)\" to exist as a field of type \"\(typeName)\" "
            + "in the schema.")
      }
      return field.argument(named: name).map { .argument(type, field, $0) }
    case .directive(let name): return directivesByName[name].map { .directive($0) }
    case .directiveArgument(let directiveName, let name):
      guard let directive = directivesByName[directiveName] else {
        throw SchemaCoordinateError(
          message: "Expected \"\(directiveName)\" to be defined as a directive in the schema.")
      }
      return directive.argument(named: name).map { .directiveArgument(directive, $0) }
    }
  }

  private func existingType(_ name: String) throws(SchemaCoordinateError) -> TypeDefinition {
    guard let type = type(named: name) else {
      throw SchemaCoordinateError(
        message: "Expected \"\(name)\" to be defined as a type in the schema.")
    }
    return type
  }
}
