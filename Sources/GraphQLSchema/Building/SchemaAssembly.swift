import GraphQLLanguage

/// Turns a draft into a schema: names into indices, literals into coerced defaults.
///
/// It runs the same code twice. The first pass makes every definition but leaves out coerced
/// defaults. Once all types are known, the defaults can be coerced, and the second pass inserts
/// them. Both passes visit input values in the same order, so a running number connects the two.
struct SchemaAssembly {
  private let draft: TypeSystemDraft
  private var coercedDefaults: [InputValue?]?
  private var inputValues: [InputValueDefinition] = []
  private var problems: [(message: String, position: Position)] = []

  init(_ draft: TypeSystemDraft) { self.draft = draft }

  /// Returns the schema; nil, with findings, if a type is unknown.
  mutating func schema(_ findings: inout Findings) -> Schema? {
    let first = assemble()
    for problem in problems {
      findings.report(.typeSystem, problem.message, at: problem.position)
    }
    guard findings.isEmpty else { return nil }
    guard inputValues.contains(where: { $0.defaultValue != nil }) else { return first }
    let defaults = DefaultValues(first)
    coercedDefaults = inputValues.map { defaults.value(of: $0) }
    return assemble()
  }

  private mutating func assemble() -> Schema {
    inputValues = []
    let types = draft.types.indices.map { type($0) }
    let directives = draft.directives.map { directive($0) }
    var roots: [OperationKind: TypeID] = [:]
    for part in [draft.schemaDefinition].compactMap({ $0 }) + draft.schemaExtensions {
      for operation in part.operationTypes { roots[operation.kind] = id(of: operation.type) }
    }
    if draft.schemaDefinition == nil {
      for (kind, name) in [
        (OperationKind.query, "Query"), (.mutation, "Mutation"), (.subscription, "Subscription"),
      ] {
        if let id = draft.ids[name] { roots[kind] = id }
      }
    }
    return Schema(
      description: draft.schemaDefinition?.description?.text, types: types,
      directives: directives, queryType: roots[.query], mutationType: roots[.mutation],
      subscriptionType: roots[.subscription],
      appliedDirectives: (draft.schemaDefinition?.directives ?? [])
        + draft.schemaExtensions.flatMap(\.directives),
      possibleTypes: possibleTypes(types))
  }

  private func possibleTypes(_ types: [TypeDefinition]) -> [[TypeID]] {
    var possible = [[TypeID]](repeating: [], count: types.count)
    for type in types {
      switch type.kind {
      case .object:
        possible[Int(type.id.index)].append(type.id)
        for interface in Set(type.interfaces) where types[Int(interface.index)].isAbstract {
          possible[Int(interface.index)].append(type.id)
        }
      case .union(let members): possible[Int(type.id.index)] = members
      case .interface, .scalar, .enum, .inputObject: break
      }
    }
    return possible
  }

  private mutating func type(_ index: Int) -> TypeDefinition {
    let type = draft.types[index]
    let fields = type.fields.map { field($0) }
    let interfaces = type.interfaces.map { id(of: $0) }
    let kind: TypeDefinition.Kind =
      switch type.definition.content {
      case .scalar: .scalar(specifiedByURL: specifiedByURL(type))
      case .object: .object
      case .interface: .interface
      case .union: .union(members: type.members.map { id(of: $0) })
      case .enum: .enum(type.values.map { enumValue($0) })
      case .inputObject:
        .inputObject(
          type.inputs.map { inputValue($0) },
          isOneOf: type.definition.directives.contains { $0.name.text == "oneOf" })
      }
    return TypeDefinition(
      id: TypeID(index: Int32(index)), name: type.name,
      description: type.definition.description?.text, kind: kind, fields: fields,
      interfaces: interfaces,
      appliedDirectives: type.definition.directives + type.extensions.flatMap(\.directives),
      isBuiltIn: type.isBuiltIn)
  }

  private mutating func field(_ field: TypeSystemDraft.DraftField) -> FieldDefinition {
    FieldDefinition(
      name: field.syntax.name.text, description: field.syntax.description?.text,
      arguments: field.arguments.map { inputValue($0) }, type: reference(field.syntax.type),
      deprecationReason: deprecationReason(field.syntax.directives),
      appliedDirectives: field.syntax.directives)
  }

  private mutating func inputValue(_ input: InputValueDefinitionSyntax) -> InputValueDefinition {
    let definition = InputValueDefinition(
      name: input.name.text, description: input.description?.text, type: reference(input.type),
      defaultValue: input.defaultValue, coercedDefault: coercedDefaults?[inputValues.count],
      deprecationReason: deprecationReason(input.directives),
      appliedDirectives: input.directives)
    inputValues.append(definition)
    return definition
  }

  private mutating func enumValue(_ value: EnumValueDefinitionSyntax) -> EnumValueDefinition {
    EnumValueDefinition(
      name: value.name.text, description: value.description?.text,
      deprecationReason: deprecationReason(value.directives), appliedDirectives: value.directives)
  }

  private mutating func directive(
    _ directive: TypeSystemDraft.DraftDirective
  ) -> DirectiveDefinition {
    DirectiveDefinition(
      name: directive.syntax.name.text, description: directive.syntax.description?.text,
      arguments: directive.arguments.map { inputValue($0) },
      isRepeatable: directive.syntax.isRepeatable,
      locations: directive.syntax.locations.compactMap { DirectiveLocation(rawValue: $0.text) },
      deprecationReason: deprecationReason(directive.directives),
      appliedDirectives: directive.directives,
      isBuiltIn: directive.isBuiltIn)
  }

  private mutating func reference(_ syntax: TypeSyntax) -> TypeReference {
    switch syntax {
    case .named(let name): .named(id(of: name))
    case .list(let inner, _): .list(reference(inner))
    case .nonNull(let inner): .nonNull(reference(inner))
    }
  }

  private mutating func id(of name: Name) -> TypeID {
    if let id = draft.ids[name.text] { return id }
    problems.append(("Unknown type: \"\(name.text)\".", name.position))
    return TypeID(index: 0)
  }

  // MARK: - What the type system reads of directives

  private mutating func deprecationReason(_ directives: [Directive]) -> String? {
    guard let directive = directives.first(where: { $0.name.text == "deprecated" }) else {
      return nil
    }
    return string("reason", of: directive) ?? Self.defaultDeprecationReason
  }

  /// The reason of a `@deprecated` without one.
  static let defaultDeprecationReason = "No longer supported"

  private mutating func specifiedByURL(_ type: TypeSystemDraft.DraftType) -> String? {
    var url: String?
    for part in [type.definition] + type.extensions {
      if let directive = part.directives.first(where: { $0.name.text == "specifiedBy" }) {
        url = string("url", of: directive) ?? url
      }
    }
    return url
  }

  private mutating func string(_ name: String, of directive: Directive) -> String? {
    // As in a list of repeated arguments elsewhere, the last one counts.
    guard let argument = directive.arguments.last(where: { $0.name.text == name }) else {
      return nil
    }
    switch argument.value.content {
    case .string(let literal): return literal.text
    case .null:
      problems.append(
        (
          "Argument \"\(name)\" of non-null type \"String!\" must not be null.",
          argument.value.position
        ))
    case .variable, .int, .float, .boolean, .enum, .list, .object:
      problems.append(
        (
          "Argument \"\(name)\" has invalid value \(Printer.print(argument.value)).",
          argument.value.position
        ))
    }
    return nil
  }
}
