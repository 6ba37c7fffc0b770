// The type system definitions and extensions of a document, as they are written.
//
// GraphQL September 2025, 3 Type System.

package struct SchemaDefinition: Sendable {
  package let isExtension: Bool
  package let description: StringLiteral?
  package let directives: [Directive]
  package let operationTypes: [OperationTypeDefinition]
  package let position: Position

  package init(
    isExtension: Bool, description: StringLiteral?, directives: [Directive],
    operationTypes: [OperationTypeDefinition], position: Position
  ) {
    self.isExtension = isExtension
    self.description = description
    self.directives = directives
    self.operationTypes = operationTypes
    self.position = position
  }
}

package struct OperationTypeDefinition: Sendable {
  package let kind: OperationKind
  package let type: Name
  package let position: Position

  package init(kind: OperationKind, type: Name, position: Position) {
    self.kind = kind
    self.type = type
    self.position = position
  }
}

/// A definition or, with `isExtension`, an extension of a named type.
package final class TypeSystemTypeDefinition: Sendable {
  package enum Content: Sendable {
    case scalar
    case object(interfaces: [Name], fields: [FieldDefinitionSyntax])
    case interface(interfaces: [Name], fields: [FieldDefinitionSyntax])
    case union(members: [Name])
    case `enum`(values: [EnumValueDefinitionSyntax])
    case inputObject(fields: [InputValueDefinitionSyntax])
  }

  package let isExtension: Bool
  package let description: StringLiteral?
  package let name: Name
  package let directives: [Directive]
  package let content: Content
  /// The position of the first token: the description, `extend` or the keyword.
  package let position: Position

  package init(
    isExtension: Bool, description: StringLiteral?, name: Name, directives: [Directive],
    content: Content, position: Position
  ) {
    self.isExtension = isExtension
    self.description = description
    self.name = name
    self.directives = directives
    self.content = content
    self.position = position
  }
}

package struct FieldDefinitionSyntax: Sendable {
  package let description: StringLiteral?
  package let name: Name
  package let arguments: [InputValueDefinitionSyntax]
  package let type: TypeSyntax
  package let directives: [Directive]
  package let position: Position

  package init(
    description: StringLiteral?, name: Name, arguments: [InputValueDefinitionSyntax],
    type: TypeSyntax, directives: [Directive], position: Position
  ) {
    self.description = description
    self.name = name
    self.arguments = arguments
    self.type = type
    self.directives = directives
    self.position = position
  }
}

/// An argument of a field or directive, or a field of an input object.
package struct InputValueDefinitionSyntax: Sendable {
  package let description: StringLiteral?
  package let name: Name
  package let type: TypeSyntax
  package let defaultValue: Value?
  package let directives: [Directive]
  package let position: Position

  package init(
    description: StringLiteral?, name: Name, type: TypeSyntax, defaultValue: Value?,
    directives: [Directive], position: Position
  ) {
    self.description = description
    self.name = name
    self.type = type
    self.defaultValue = defaultValue
    self.directives = directives
    self.position = position
  }
}

package struct EnumValueDefinitionSyntax: Sendable {
  package let description: StringLiteral?
  package let name: Name
  package let directives: [Directive]
  package let position: Position

  package init(
    description: StringLiteral?, name: Name, directives: [Directive], position: Position
  ) {
    self.description = description
    self.name = name
    self.directives = directives
    self.position = position
  }
}

/// A definition of a directive, or an extension, which has only a name and directives.
package struct DirectiveDefinitionSyntax: Sendable {
  package let isExtension: Bool
  package let description: StringLiteral?
  package let name: Name
  package let arguments: [InputValueDefinitionSyntax]
  package let directives: [Directive]
  package let isRepeatable: Bool
  package let locations: [Name]
  package let position: Position

  package init(
    isExtension: Bool = false, description: StringLiteral?, name: Name,
    arguments: [InputValueDefinitionSyntax], directives: [Directive], isRepeatable: Bool,
    locations: [Name], position: Position
  ) {
    self.isExtension = isExtension
    self.description = description
    self.name = name
    self.arguments = arguments
    self.directives = directives
    self.isRepeatable = isRepeatable
    self.locations = locations
    self.position = position
  }
}
