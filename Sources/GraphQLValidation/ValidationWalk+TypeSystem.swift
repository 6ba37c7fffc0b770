import GraphQLLanguage
import GraphQLSchema

// Type system definitions in a document that should be executable. `ExecutableDefinitions` refuses
// all of them, and the rules for types, directives and values still check them.
extension ValidationWalk {
  mutating func walk(_ schema: SchemaDefinition) {
    checkUniqueDirectives(schema.directives, onSchemaOrType: nil)
    walk(schema.directives, on: .schema, field: nil)
    for operationType in schema.operationTypes {
      checkKnown(operationType.type, isTypeSystem: true)
    }
  }

  mutating func walk(_ type: TypeSystemTypeDefinition) {
    checkUniqueDirectives(type.directives, onSchemaOrType: type.name.text)
    switch type.content {
    case .scalar:
      walk(type.directives, on: .scalar, field: nil)
    case .object(let interfaces, let fields):
      for name in interfaces { checkKnown(name, isTypeSystem: true) }
      walk(type.directives, on: .object, field: nil)
      for field in fields { walk(field) }
    case .interface(let interfaces, let fields):
      for name in interfaces { checkKnown(name, isTypeSystem: true) }
      walk(type.directives, on: .interface, field: nil)
      for field in fields { walk(field) }
    case .union(let members):
      walk(type.directives, on: .union, field: nil)
      for name in members { checkKnown(name, isTypeSystem: true) }
    case .enum(let values):
      walk(type.directives, on: .enum, field: nil)
      for value in values {
        checkUniqueDirectives(value.directives)
        walk(value.directives, on: .enumValue, field: nil)
      }
    case .inputObject(let fields):
      walk(type.directives, on: .inputObject, field: nil)
      for field in fields { walk(field, on: .inputFieldDefinition) }
    }
  }

  mutating func walk(_ directive: DirectiveDefinitionSyntax) {
    checkUniqueDirectives(directive.directives)
    for argument in directive.arguments { walk(argument, on: .argumentDefinition) }
    walk(directive.directives, on: .directiveDefinition, field: nil)
  }

  private mutating func walk(_ field: FieldDefinitionSyntax) {
    checkUniqueDirectives(field.directives)
    for argument in field.arguments { walk(argument, on: .argumentDefinition) }
    checkKnown(field.type, isTypeSystem: true)
    walk(field.directives, on: .fieldDefinition, field: nil)
  }

  private mutating func walk(
    _ input: InputValueDefinitionSyntax, on location: DirectiveLocation
  ) {
    checkUniqueDirectives(input.directives)
    checkKnown(input.type, isTypeSystem: true)
    if let value = input.defaultValue { walk(value, type: nil) }
    walk(input.directives, on: location, field: nil)
  }
}
