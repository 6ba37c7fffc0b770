import GraphQLLanguage
import GraphQLSchema

// The rules for arguments of fields and directives.
extension ValidationWalk {
  /// Reports an argument that the field does not have (GraphQL September 2025, 5.4.1 Argument
  /// Names).
  mutating func reportUnknown(
    _ argument: Argument, of field: FieldDefinition, on parent: TypeDefinition
  ) {
    let name = argument.name.text
    report(
      .knownArgumentNames, at: [argument.position],
      "Unknown argument \"\(name)\" on field \"\(parent.name).\(field.name)\"."
        + didYouMean(name, among: field.arguments.map(\.name)))
  }

  mutating func checkArgumentNames(of directive: Directive, _ definition: DirectiveDefinition?) {
    let known: [String]
    if let written = definedDirectives[directive.name.text] {
      known = written.arguments.map(\.name.text)
    } else if let definition {
      if directive.arguments.allSatisfy({ definition.argument(named: $0.name.text) != nil }) {
        return
      }
      known = definition.arguments.map(\.name)
    } else {
      return
    }
    for argument in directive.arguments where !known.contains(argument.name.text) {
      report(
        .knownArgumentNames, at: [argument.position],
        """
        Unknown argument "\(argument.name.text)" on directive "@\(directive.name.text)".\
        \(didYouMean(argument.name.text, among: known))
        """)
    }
  }

  /// Reports repeated arguments (GraphQL September 2025, 5.4.2 Argument Uniqueness).
  mutating func checkUnique(_ arguments: [Argument]) {
    guard arguments.count > 1 else { return }
    reportRepeated(.uniqueArgumentNames, arguments.map(\.name)) {
      "There can be only one argument named \"\($0)\"."
    }
  }

  /// Reports missing arguments (GraphQL September 2025, 5.4.3 Required Arguments).
  mutating func checkRequired(_ field: Field, _ definition: FieldDefinition) {
    for argument in definition.arguments where argument.isRequired {
      if field.arguments.contains(where: { $0.name.text == argument.name }) { continue }
      report(
        .providedRequiredArguments, at: [field.position],
        """
        Field "\(definition.name)" argument "\(argument.name)" of type \
        "\(text(argument.type))" is required, but it was not provided.
        """)
    }
  }

  mutating func checkRequired(_ directive: Directive, _ definition: DirectiveDefinition?) {
    var required: [(name: String, type: String)] = []
    if let written = definedDirectives[directive.name.text] {
      for argument in written.arguments where argument.defaultValue == nil {
        guard case .nonNull = argument.type else { continue }
        required.append((argument.name.text, text(argument.type)))
      }
    } else if let definition {
      for argument in definition.arguments where argument.isRequired {
        if directive.arguments.contains(where: { $0.name.text == argument.name }) { continue }
        required.append((argument.name, text(argument.type)))
      }
    }
    for (name, type) in required
    where !directive.arguments.contains(where: { $0.name.text == name }) {
      report(
        .providedRequiredArguments, at: [directive.position],
        """
        Directive "@\(directive.name.text)" argument "\(name)" of type "\(type)" is \
        required, but it was not provided.
        """)
    }
  }

  /// Reports each name that occurs more than once, in the order of their first occurrences.
  mutating func reportRepeated(
    _ rule: ValidationRule, _ names: [Name], _ message: (String) -> String
  ) {
    // Most lists are short, and then comparing is cheaper than hashing.
    if names.count <= 8 {
      var isRepeated = false
      for (index, name) in names.enumerated()
      where names[..<index].contains(where: { $0.text == name.text }) {
        isRepeated = true
      }
      if !isRepeated { return }
    }
    var order: [String] = []
    var groups: [String: [Position]] = [:]
    for name in names {
      if groups[name.text] == nil { order.append(name.text) }
      groups[name.text, default: []].append(name.position)
    }
    for name in order {
      guard let positions = groups[name], positions.count > 1 else { continue }
      report(rule, at: positions, message(name))
    }
  }
}
