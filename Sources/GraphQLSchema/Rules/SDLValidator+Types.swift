import GraphQLLanguage

// Names of types: known where they are used, and of the right kind where they are extended.
extension SDLValidator {
  /// Checks that a type exists. The built-in types are known in type system definitions, but not in
  /// the executable definitions of such a text, which have no schema to find them in.
  mutating func visit(typeName name: Name, inSDL: Bool) {
    guard rules.contains(.knownTypeNames), definedTypes[name.text] == nil, !findings.isFull
    else { return }
    if inSDL, BuiltIns.types[name.text] != nil { return }
    let near = suggestions.didYouMean(
      name.text, among: inSDL ? knownTypeNames : definedTypeNames)
    findings.report(.knownTypeNames, "Unknown type \"\(name.text)\".\(near)", at: name.position)
  }

  mutating func checkPossibleTypeExtensions(_ type: TypeSystemTypeDefinition) {
    guard rules.contains(.possibleTypeExtensions), type.isExtension, !findings.isFull
    else { return }
    guard let definition = definedTypes[type.name.text] else {
      findings.report(
        .possibleTypeExtensions,
        "Cannot extend type \"\(type.name.text)\" because it is not defined."
          + suggestions.didYouMean(type.name.text, among: definedTypeNames),
        at: type.name.position)
      return
    }
    guard definition.content.kindName != type.content.kindName else { return }
    findings.report(
      .possibleTypeExtensions,
      "Cannot extend non-\(type.content.kindName) type \"\(type.name.text)\".",
      at: [definition.position, type.position])
  }
}

extension SDLValidator {
  /// Checks that a directive that is extended exists: one of the text, or of the specification.
  mutating func checkPossibleExtension(_ directive: DirectiveDefinitionSyntax) {
    guard rules.contains(.possibleTypeExtensions), directive.isExtension, !findings.isFull,
      directives[directive.name.text] == nil
    else { return }
    findings.report(
      .possibleTypeExtensions,
      "Cannot extend directive \"@\(directive.name.text)\" because it is not defined.",
      at: directive.name.position)
  }
}

extension TypeSystemTypeDefinition.Content {
  fileprivate var kindName: String {
    switch self {
    case .scalar: "scalar"
    case .object: "object"
    case .interface: "interface"
    case .union: "union"
    case .enum: "enum"
    case .inputObject: "input object"
    }
  }
}
