import GraphQLLanguage
import GraphQLSchema

/// The elements of a schema that an operation names, and where it names them.
///
/// These are fields, arguments, input fields and enum values of literals, directives with their
/// arguments, and types: of variables and of type conditions. A field counts for the type that it
/// is selected on, which may be an interface. What the specification defines is left out, but for
/// its directives. A variable's value is not looked at, so of an input object in a variable only the
/// type is known.
///
/// - Complexity: O(*n*) in the size of the operation, each fragment once.
package struct CoordinateUses {
  /// The positions of each use, in no particular order.
  package private(set) var positions: [SchemaCoordinate: [Position]] = [:]

  private let schema: Schema
  private let fragments: [String: FragmentDefinition]
  private var visited: Set<String> = []

  package init(of operation: OperationDefinition, in document: ValidDocument) {
    schema = document.schema
    fragments = document.fragments
    for variable in operation.variables { walk(variable) }
    walk(operation.directives)
    guard let root = schema.rootType(for: operation.kind) else { return }
    walk(operation.selectionSet, on: schema[root])
  }

  private mutating func use(_ coordinate: SchemaCoordinate, at position: Position) {
    positions[coordinate, default: []].append(position)
  }

  private mutating func use(type name: Name) {
    guard let type = schema.type(named: name.text), !type.isBuiltIn else { return }
    use(.type(type.name), at: name.position)
  }

  private mutating func walk(_ variable: VariableDefinition) {
    let name = variable.type.name
    use(type: name)
    walk(variable.directives)
    guard let value = variable.defaultValue, let type = schema.typesByName[name.text] else {
      return
    }
    walk(value, type: schema[type])
  }

  private mutating func walk(_ set: SelectionSet, on parent: TypeDefinition) {
    for selection in set.selections {
      switch selection {
      case .field(let field): walk(field, on: parent)
      case .fragmentSpread(let spread):
        walk(spread.directives)
        guard visited.insert(spread.name.text).inserted,
          let fragment = fragments[spread.name.text]
        else { continue }
        walk(fragment.directives)
        walk(fragment.selectionSet, on: condition(fragment.typeCondition) ?? parent)
      case .inlineFragment(let inline):
        walk(inline.directives)
        walk(inline.selectionSet, on: inline.typeCondition.flatMap { condition($0) } ?? parent)
      }
    }
  }

  private mutating func condition(_ name: Name) -> TypeDefinition? {
    use(type: name)
    return schema.type(named: name.text)
  }

  private mutating func walk(_ field: Field, on parent: TypeDefinition) {
    walk(field.directives)
    guard !field.name.text.hasPrefix("__"),
      let definition = parent.field(named: field.name.text)
    else { return }
    use(.member(type: parent.name, name: definition.name), at: field.position)
    for argument in field.arguments {
      guard let input = definition.argument(named: argument.name.text) else { continue }
      use(
        .argument(type: parent.name, field: definition.name, name: input.name),
        at: argument.position)
      walk(argument.value, type: schema[input.type.namedType])
    }
    guard let set = field.selectionSet else { return }
    walk(set, on: schema[definition.type.namedType])
  }

  private mutating func walk(_ directives: [Directive]) {
    for directive in directives {
      guard let definition = schema.directivesByName[directive.name.text] else { continue }
      use(.directive(definition.name), at: directive.position)
      for argument in directive.arguments {
        guard let input = definition.argument(named: argument.name.text) else { continue }
        use(
          .directiveArgument(directive: definition.name, name: input.name), at: argument.position)
        walk(argument.value, type: schema[input.type.namedType])
      }
    }
  }

  /// Walks a literal of a type, however many lists are around the type.
  private mutating func walk(_ value: Value, type: TypeDefinition) {
    switch value.content {
    case .variable, .int, .float, .string, .boolean, .null: break
    case .enum(let name):
      guard let member = type.enumValue(named: name), !type.isBuiltIn else { return }
      use(.member(type: type.name, name: member.name), at: value.position)
    case .list(let items):
      for item in items { walk(item, type: type) }
    case .object(let fields):
      for field in fields {
        guard let input = type.inputField(named: field.name.text) else { continue }
        use(.member(type: type.name, name: input.name), at: field.position)
        walk(field.value, type: schema[input.type.namedType])
      }
    }
  }
}

extension TypeSyntax {
  /// The named type inside every list and non-null.
  fileprivate var name: Name {
    switch self {
    case .named(let name): name
    case .list(let inner, _), .nonNull(let inner): inner.name
    }
  }
}
