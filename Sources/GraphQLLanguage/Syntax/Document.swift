/// The syntax tree of one GraphQL source text: executable and type system definitions in order.
///
/// Nodes that validation compares by identity (fields, fragments, operations) are immutable final
/// classes: walking them costs one retain, and `ObjectIdentifier` is a key. The rest are structs.
/// Every node has its `Position`; lines and columns are computed only when an error needs them.
///
/// GraphQL September 2025, 2.2 Document.
package struct Document: Sendable {
  package let definitions: [Definition]
  package let source: Source

  package init(definitions: [Definition], source: Source) {
    self.definitions = definitions
    self.source = source
  }

  package var operations: [OperationDefinition] {
    definitions.compactMap { if case .operation(let operation) = $0 { operation } else { nil } }
  }

  package var fragments: [FragmentDefinition] {
    definitions.compactMap { if case .fragment(let fragment) = $0 { fragment } else { nil } }
  }
}

/// A byte offset into the UTF-8 of a source text.
package struct Position: Sendable, Hashable {
  package let offset: Int32

  package init(offset: Int32) { self.offset = offset }
}

/// A name as it is written, with the place of its first character.
package struct Name: Sendable {
  package let text: String
  package let position: Position

  package init(text: String, position: Position) {
    self.text = text
    self.position = position
  }
}

package enum Definition: Sendable {
  case operation(OperationDefinition)
  case fragment(FragmentDefinition)
  case schema(SchemaDefinition)
  case type(TypeSystemTypeDefinition)
  case directive(DirectiveDefinitionSyntax)
}

// MARK: - Executable definitions

package enum OperationKind: String, Sendable, CaseIterable {
  case query, mutation, subscription
}

package final class OperationDefinition: Sendable {
  package let kind: OperationKind
  package let description: StringLiteral?
  package let name: Name?
  package let variables: [VariableDefinition]
  package let directives: [Directive]
  package let selectionSet: SelectionSet
  /// The position of the first token: the description, the keyword, or `{` in the shorthand form.
  package let position: Position

  package init(
    kind: OperationKind, description: StringLiteral?, name: Name?,
    variables: [VariableDefinition], directives: [Directive], selectionSet: SelectionSet,
    position: Position
  ) {
    self.kind = kind
    self.description = description
    self.name = name
    self.variables = variables
    self.directives = directives
    self.selectionSet = selectionSet
    self.position = position
  }
}

package struct VariableDefinition: Sendable {
  package let description: StringLiteral?
  package let name: Name
  package let type: TypeSyntax
  package let defaultValue: Value?
  package let directives: [Directive]
  /// The position of the first token: the description or `$`.
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

package struct SelectionSet: Sendable {
  package let selections: [Selection]
  package let position: Position

  package init(selections: [Selection], position: Position) {
    self.selections = selections
    self.position = position
  }
}

package enum Selection: Sendable {
  case field(Field)
  case fragmentSpread(FragmentSpread)
  case inlineFragment(InlineFragment)
}

package final class Field: Sendable {
  package let alias: Name?
  package let name: Name
  package let arguments: [Argument]
  package let directives: [Directive]
  package let selectionSet: SelectionSet?

  package init(
    alias: Name?, name: Name, arguments: [Argument], directives: [Directive],
    selectionSet: SelectionSet?
  ) {
    self.alias = alias
    self.name = name
    self.arguments = arguments
    self.directives = directives
    self.selectionSet = selectionSet
  }

  /// The key of this field in the response: its alias, or its name.
  package var responseName: String { (alias ?? name).text }
  package var position: Position { (alias ?? name).position }
}

package final class FragmentSpread: Sendable {
  package let name: Name
  package let directives: [Directive]
  /// The position of `...`.
  package let position: Position

  package init(name: Name, directives: [Directive], position: Position) {
    self.name = name
    self.directives = directives
    self.position = position
  }
}

package final class InlineFragment: Sendable {
  package let typeCondition: Name?
  package let directives: [Directive]
  package let selectionSet: SelectionSet
  /// The position of `...`.
  package let position: Position

  package init(
    typeCondition: Name?, directives: [Directive], selectionSet: SelectionSet, position: Position
  ) {
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.position = position
  }
}

package final class FragmentDefinition: Sendable {
  package let description: StringLiteral?
  package let name: Name
  package let typeCondition: Name
  package let directives: [Directive]
  package let selectionSet: SelectionSet
  /// The position of the first token: the description or the keyword.
  package let position: Position

  package init(
    description: StringLiteral?, name: Name, typeCondition: Name, directives: [Directive],
    selectionSet: SelectionSet, position: Position
  ) {
    self.description = description
    self.name = name
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.position = position
  }
}

package struct Argument: Sendable {
  package let name: Name
  package let value: Value
  package var position: Position { name.position }

  package init(name: Name, value: Value) {
    self.name = name
    self.value = value
  }
}

package struct Directive: Sendable {
  package let name: Name
  package let arguments: [Argument]
  /// The position of `@`.
  package let position: Position

  package init(name: Name, arguments: [Argument], position: Position) {
    self.name = name
    self.arguments = arguments
    self.position = position
  }
}

// MARK: - Values and types

/// A value as it is written. Numbers keep their text, so no precision is lost before the type is
/// known.
package struct Value: Sendable {
  package enum Content: Sendable {
    case variable(String)
    case int(String)
    case float(String)
    case string(StringLiteral)
    case boolean(Bool)
    case null
    case `enum`(String)
    case list([Value])
    case object([ObjectField])
  }

  package let content: Content
  package let position: Position

  package init(_ content: Content, position: Position) {
    self.content = content
    self.position = position
  }
}

package struct StringLiteral: Sendable {
  /// The text after escapes are replaced, or after the common indent of a block string is removed.
  package let text: String
  package let isBlock: Bool
  package let position: Position

  package init(text: String, isBlock: Bool, position: Position) {
    self.text = text
    self.isBlock = isBlock
    self.position = position
  }
}

package struct ObjectField: Sendable {
  package let name: Name
  package let value: Value
  package var position: Position { name.position }

  package init(name: Name, value: Value) {
    self.name = name
    self.value = value
  }
}

/// A type reference as it is written: `[User!]!`.
package enum TypeSyntax: Sendable {
  case named(Name)
  indirect case list(TypeSyntax, position: Position)
  indirect case nonNull(TypeSyntax)

  package var position: Position {
    switch self {
    case .named(let name): name.position
    case .list(_, let position): position
    case .nonNull(let inner): inner.position
    }
  }
}
