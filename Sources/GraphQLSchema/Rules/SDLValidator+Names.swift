import GraphQLLanguage

// One definition per name: schema, operation types, types, fields, arguments, values, directives.
extension SDLValidator {
  mutating func checkLoneSchemaDefinition(_ schema: SchemaDefinition) {
    guard !schema.isExtension else { return }
    if schemaDefinitions > 0 {
      findings.report(
        .loneSchemaDefinition, "Must provide only one schema definition.", at: schema.position)
    }
    schemaDefinitions += 1
  }

  mutating func checkUniqueOperationTypes(_ schema: SchemaDefinition) {
    for operation in schema.operationTypes {
      if let first = operationTypes[operation.kind] {
        findings.report(
          .uniqueOperationTypes,
          "There can be only one \(operation.kind.rawValue) type in schema.",
          at: [first, operation.position])
      } else {
        operationTypes[operation.kind] = operation.position
      }
    }
  }

  mutating func checkUniqueTypeNames(_ type: TypeSystemTypeDefinition) {
    guard !type.isExtension else { return }
    if let first = typeNames[type.name.text] {
      findings.report(
        .uniqueTypeNames, "There can be only one type named \"\(type.name.text)\".",
        at: [first, type.name.position])
    } else {
      typeNames[type.name.text] = type.name.position
    }
  }

  mutating func checkUniqueEnumValueNames(_ type: TypeSystemTypeDefinition) {
    guard case .enum(let values) = type.content else { return }
    var seen = enumValueNames.removeValue(forKey: type.name.text) ?? [:]
    for value in values {
      let name = value.name.text
      if let first = seen[name] {
        findings.report(
          .uniqueEnumValueNames,
          "Enum value \"\(type.name.text).\(name)\" can only be defined once.",
          at: [first, value.name.position])
      } else {
        seen[name] = value.name.position
      }
    }
    enumValueNames[type.name.text] = seen
  }

  mutating func checkUniqueFieldDefinitionNames(_ type: TypeSystemTypeDefinition) {
    let names: [Name] =
      switch type.content {
      case .object(_, let fields), .interface(_, let fields): fields.map(\.name)
      case .inputObject(let fields): fields.map(\.name)
      case .scalar, .union, .enum: []
      }
    var seen = fieldNames.removeValue(forKey: type.name.text) ?? [:]
    for name in names {
      if let first = seen[name.text] {
        findings.report(
          .uniqueFieldDefinitionNames,
          "Field \"\(type.name.text).\(name.text)\" can only be defined once.",
          at: [first, name.position])
      } else {
        seen[name.text] = name.position
      }
    }
    fieldNames[type.name.text] = seen
  }

  mutating func checkUniqueArgumentDefinitionNames(_ type: TypeSystemTypeDefinition) {
    switch type.content {
    case .object(_, let fields), .interface(_, let fields):
      for field in fields {
        checkUniqueArguments(field.arguments, of: "\(type.name.text).\(field.name.text)")
      }
    case .scalar, .union, .enum, .inputObject: break
    }
  }

  mutating func checkUniqueArguments(_ arguments: [InputValueDefinitionSyntax], of parent: String) {
    for (name, positions) in repeated(arguments.map(\.name)) {
      findings.report(
        .uniqueArgumentDefinitionNames,
        "Argument \"\(parent)(\(name):)\" can only be defined once.", at: positions)
    }
  }

  mutating func checkUniqueDirectiveNames(_ directive: DirectiveDefinitionSyntax) {
    if directive.isExtension { return }
    let name = directive.name
    if let first = directiveNames[name.text] {
      findings.report(
        .uniqueDirectiveNames, "There can be only one directive named \"@\(name.text)\".",
        at: [first, name.position])
    } else {
      directiveNames[name.text] = name.position
    }
  }

  mutating func checkUniqueArguments(_ arguments: [Argument]) {
    for (name, positions) in repeated(arguments.map(\.name)) {
      findings.report(
        .uniqueArgumentNames, "There can be only one argument named \"\(name)\".", at: positions)
    }
  }

  mutating func checkUniqueInputField(_ field: ObjectField, _ seen: inout [String: Position]) {
    if let first = seen[field.name.text] {
      findings.report(
        .uniqueInputFieldNames, "There can be only one input field named \"\(field.name.text)\".",
        at: [first, field.name.position])
    } else {
      seen[field.name.text] = field.name.position
    }
  }
}

/// Returns the names that occur more than once with all their positions, in the order of their
/// first.
private func repeated(_ names: [Name]) -> [(String, [Position])] {
  guard names.count > 1 else { return [] }
  var order: [String] = []
  var positions: [String: [Position]] = [:]
  for name in names {
    if positions[name.text] == nil { order.append(name.text) }
    positions[name.text, default: []].append(name.position)
  }
  guard order.count < names.count else { return [] }
  return order.compactMap { name in
    guard let places = positions[name], places.count > 1 else { return nil }
    return (name, places)
  }
}
