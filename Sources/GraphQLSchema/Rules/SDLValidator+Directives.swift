import GraphQLLanguage

/// The properties of a directive that the rules check.
struct KnownDirective {
  let locations: Set<String>
  let argumentNames: [String]
  let arguments: Set<String>
  let required: [(name: String, type: String)]
  let isRepeatable: Bool

  init(_ definition: DirectiveDefinitionSyntax) {
    locations = Set(definition.locations.map(\.text))
    argumentNames = definition.arguments.map(\.name.text)
    arguments = Set(argumentNames)
    // If a name is repeated, its last required argument counts, at the position of the first.
    let mustBeGiven = definition.arguments.filter { argument in
      guard case .nonNull = argument.type else { return false }
      return argument.defaultValue == nil
    }
    required = distinct(mustBeGiven, by: \.name.text).map {
      ($0.name.text, Printer.print($0.type))
    }
    isRepeatable = definition.isRepeatable
  }
}

/// An element to which several definitions add directives.
enum DirectiveScope: Hashable {
  case schema
  case type(String)
  case directive(String)
}

// Directives where they are applied: known, in the right place, with the right arguments.
extension SDLValidator {
  mutating func checkKnownDirective(_ directive: Directive, at location: DirectiveLocation) {
    guard let known = directives[directive.name.text] else {
      findings.report(
        .knownDirectives, "Unknown directive \"@\(directive.name.text)\".",
        at: directive.position)
      return
    }
    guard !known.locations.contains(location.rawValue) else { return }
    findings.report(
      .knownDirectives,
      "Directive \"@\(directive.name.text)\" may not be used on \(location.rawValue).",
      at: directive.position)
  }

  mutating func checkKnownArguments(_ directive: Directive) {
    guard rules.contains(.knownArgumentNamesOnDirectives),
      let known = directives[directive.name.text]
    else { return }
    for argument in directive.arguments where !known.arguments.contains(argument.name.text) {
      let name = argument.name.text
      findings.report(
        .knownArgumentNamesOnDirectives,
        "Unknown argument \"\(name)\" on directive \"@\(directive.name.text)\"."
          + suggestions.didYouMean(name, among: known.argumentNames),
        at: argument.position)
    }
  }

  mutating func checkRequiredArguments(_ directive: Directive) {
    guard let known = directives[directive.name.text], !known.required.isEmpty else { return }
    let given = Set(directive.arguments.map(\.name.text))
    for argument in known.required where !given.contains(argument.name) {
      guard !findings.isFull else { return }
      findings.report(
        .providedRequiredArgumentsOnDirectives,
        "Directive \"@\(directive.name.text)\" argument \"\(argument.name)\" of type "
          + "\"\(argument.type)\" is required, but it was not provided.",
        at: directive.position)
    }
  }

  mutating func checkUniqueDirectives(_ directives: [Directive]) {
    guard directives.count > 1 else { return }
    var seen: [String: Position] = [:]
    checkUniqueDirectives(directives, &seen)
  }

  /// Checks that directives are unique. For an extension, those of the definition and of other
  /// extensions count, too.
  mutating func checkUniqueDirectives(_ directives: [Directive], in scope: DirectiveScope) {
    guard !directives.isEmpty else { return }
    var seen = uniqueDirectives.removeValue(forKey: scope) ?? [:]
    checkUniqueDirectives(directives, &seen)
    uniqueDirectives[scope] = seen
  }

  private mutating func checkUniqueDirectives(
    _ applied: [Directive], _ seen: inout [String: Position]
  ) {
    for directive in applied {
      let name = directive.name.text
      guard let known = directives[name], !known.isRepeatable else { continue }
      if let first = seen[name] {
        findings.report(
          .uniqueDirectivesPerLocation,
          "The directive \"@\(name)\" can only be used once at this location.",
          at: [first, directive.position])
      } else {
        seen[name] = directive.position
      }
    }
  }
}
