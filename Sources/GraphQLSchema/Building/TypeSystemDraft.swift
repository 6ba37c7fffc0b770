import GraphQLLanguage

/// The definitions of a document with their extensions, and every type numbered, before references
/// are resolved.
///
/// It is parallel to the `Schema` made from it: `types[i]` is the syntax of `schema.types[i]`, its
/// `fields[j]` that of the definition's field `j`. Validity needs both: the schema for the checks,
/// the syntax for the positions. If a document defines a name twice (possible only without the rule
/// against that), the last definition counts, at the place of the first.
struct TypeSystemDraft {
  struct DraftType {
    let name: String
    let definition: TypeSystemTypeDefinition
    let extensions: [TypeSystemTypeDefinition]
    let isBuiltIn: Bool
    let fields: [DraftField]
    let interfaces: [Name]
    let members: [Name]
    let values: [EnumValueDefinitionSyntax]
    let inputs: [InputValueDefinitionSyntax]

    /// The positions that an error about the whole type names: its definition and its extensions.
    var positions: [Position] {
      isBuiltIn ? [] : [definition.position] + extensions.map(\.position)
    }
  }

  struct DraftField {
    let syntax: FieldDefinitionSyntax
    let arguments: [InputValueDefinitionSyntax]
  }

  struct DraftDirective {
    let syntax: DirectiveDefinitionSyntax
    /// Those applied to the definition, and to its extensions.
    let directives: [Directive]
    let arguments: [InputValueDefinitionSyntax]
    let isBuiltIn: Bool
  }

  private(set) var types: [DraftType] = []
  private(set) var ids: [String: TypeID] = [:]
  private(set) var directives: [DraftDirective] = []
  private(set) var schemaDefinition: SchemaDefinition?
  private(set) var schemaExtensions: [SchemaDefinition] = []

  init(_ document: Document) {
    var order: [String] = []
    var definitions: [String: TypeSystemTypeDefinition] = [:]
    var extensions: [String: [TypeSystemTypeDefinition]] = [:]
    var directiveDefinitions: [DirectiveDefinitionSyntax] = []
    var directiveExtensions: [String: [Directive]] = [:]
    for definition in document.definitions {
      switch definition {
      case .operation, .fragment: continue
      case .schema(let schema):
        if schema.isExtension { schemaExtensions.append(schema) } else { schemaDefinition = schema }
      case .type(let type):
        if type.isExtension {
          extensions[type.name.text, default: []].append(type)
        } else if definitions.updateValue(type, forKey: type.name.text) == nil {
          order.append(type.name.text)
        }
      case .directive(let directive):
        if directive.isExtension {
          directiveExtensions[directive.name.text, default: []] += directive.directives
        } else {
          directiveDefinitions.append(directive)
        }
      }
    }
    for name in order {
      guard let definition = definitions[name] else { continue }
      // A definition under a name of the specification is taken for the specification's own.
      if let builtIn = BuiltIns.types[name] {
        add(builtIn, extensions: [], isBuiltIn: true)
      } else {
        add(definition, extensions: extensions[name] ?? [], isBuiltIn: false)
      }
    }
    directives = distinct(directiveDefinitions, by: \.name.text).map {
      DraftDirective(
        syntax: $0, directives: $0.directives + (directiveExtensions[$0.name.text] ?? []),
        arguments: distinct($0.arguments, by: \.name.text), isBuiltIn: false)
    }
    let own = Set(directives.map(\.syntax.name.text))
    directives += BuiltIns.directives.filter { !own.contains($0.name.text) }.map {
      DraftDirective(syntax: $0, directives: [], arguments: $0.arguments, isBuiltIn: true)
    }
    // Scalars where there should be object types are wrong, but known.
    for part in [schemaDefinition].compactMap({ $0 }) + schemaExtensions {
      addScalars(part.operationTypes.map(\.type))
    }
    for directive in directives { addScalars(directive.arguments.map(\.type.namedType)) }
    for name in BuiltIns.introspectionTypeNames {
      if let type = BuiltIns.types[name] { add(type, extensions: [], isBuiltIn: true) }
    }
  }

  /// Appends a type and, after it, the built-in scalars that it is the first to mention, as the
  /// reference implementation orders types.
  private mutating func add(
    _ definition: TypeSystemTypeDefinition, extensions: [TypeSystemTypeDefinition], isBuiltIn: Bool
  ) {
    guard ids[definition.name.text] == nil else { return }
    ids[definition.name.text] = TypeID(index: Int32(types.count))
    let type = DraftType(definition, extensions: extensions, isBuiltIn: isBuiltIn)
    types.append(type)
    addScalars(type.members + type.interfaces)
    for field in type.fields {
      addScalars([field.syntax.type.namedType] + field.arguments.map(\.type.namedType))
    }
    addScalars(type.inputs.map(\.type.namedType))
  }

  private mutating func addScalars(_ names: [Name]) {
    for name in names.map(\.text) {
      if ids[name] == nil, BuiltInScalar(rawValue: name) != nil, let type = BuiltIns.types[name] {
        add(type, extensions: [], isBuiltIn: true)
      }
    }
  }
}

extension TypeSystemDraft.DraftType {
  fileprivate init(
    _ definition: TypeSystemTypeDefinition, extensions: [TypeSystemTypeDefinition], isBuiltIn: Bool
  ) {
    name = definition.name.text
    self.definition = definition
    self.extensions = extensions
    self.isBuiltIn = isBuiltIn
    var fields: [FieldDefinitionSyntax] = []
    var interfaces: [Name] = []
    var members: [Name] = []
    var values: [EnumValueDefinitionSyntax] = []
    var inputs: [InputValueDefinitionSyntax] = []
    for part in [definition] + extensions {
      switch (definition.content, part.content) {
      case (.object, .object(let moreInterfaces, let moreFields)),
        (.interface, .interface(let moreInterfaces, let moreFields)):
        interfaces += moreInterfaces
        fields += moreFields
      case (.union, .union(let more)): members += more
      case (.enum, .enum(let more)): values += more
      case (.inputObject, .inputObject(let more)): inputs += more
      default: break  // Scalars, and extensions of another kind, add nothing.
      }
    }
    self.fields = distinct(fields, by: \.name.text).map {
      TypeSystemDraft.DraftField(
        syntax: $0, arguments: distinct($0.arguments, by: \.name.text))
    }
    self.interfaces = interfaces
    self.members = members
    self.values = distinct(values, by: \.name.text)
    self.inputs = distinct(inputs, by: \.name.text)
  }
}

extension TypeSyntax {
  /// The name inside every list and non-null.
  var namedType: Name {
    switch self {
    case .named(let name): name
    case .list(let inner, _), .nonNull(let inner): inner.namedType
    }
  }
}

/// Returns the elements in order; of those with the same key the last, at the place of the first.
func distinct<Element>(_ elements: [Element], by key: KeyPath<Element, String>) -> [Element] {
  if elements.count < 2 { return elements }
  var places: [String: Int] = [:]
  places.reserveCapacity(elements.count)
  var result: [Element] = []
  result.reserveCapacity(elements.count)
  for element in elements {
    if let place = places[element[keyPath: key]] {
      result[place] = element
    } else {
      places[element[keyPath: key]] = result.count
      result.append(element)
    }
  }
  return result
}
