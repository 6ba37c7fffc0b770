import GraphQLLanguage
import GraphQLSchema
import SQL

/// Looks for words in templates that nothing gives a meaning. Such a word is NULL in the statement,
/// and a rule of who sees what that says `:viewr` would hold without anybody noticing.
struct StorageWords {
  let schema: Schema
  /// Arguments reach the fields of edges and pages below their connection, so that all count.
  private let arguments: [String: [InputValueDefinition]]

  init(schema: Schema) {
    self.schema = schema
    arguments = Dictionary(
      grouping: schema.types.flatMap(\.fields).flatMap(\.arguments), by: \.name)
  }

  /// One line for each, naming its coordinate.
  var problems: [String] {
    var problems: [String] = []
    for type in schema.types where !type.isBuiltIn {
      check(type.appliedDirectives, type.name, &problems)
      for field in type.fields {
        let coordinate = "\(type.name).\(field.name)"
        check(field.appliedDirectives, coordinate, &problems)
        for argument in field.arguments {
          check(argument.appliedDirectives, "\(coordinate)(\(argument.name):)", &problems)
        }
      }
      switch type.kind {
      case .inputObject(let fields, _):
        for field in fields {
          check(field.appliedDirectives, "\(type.name).\(field.name)", &problems)
        }
      case .enum(let values):
        for value in values {
          check(value.appliedDirectives, "\(type.name).\(value.name)", &problems)
        }
      case .scalar, .object, .interface, .union: continue
      }
    }
    return problems
  }

  private func check(
    _ directives: [Directive], _ coordinate: String, _ problems: inout [String]
  ) {
    for directive in directives where StorageDirectives.names.contains(directive.name.text) {
      for argument in directive.arguments {
        guard case .string(let text) = argument.value.content else { continue }
        for path in SQLTemplate(text.text).variables where !isKnown(path) {
          problems.append(
            "\(coordinate): \":\(path.joined(separator: "."))\" in @\(directive.name.text) "
              + "names no argument.")
        }
      }
    }
  }

  private func isKnown(_ path: [String]) -> Bool {
    let name = path[0]
    if let given = arguments[name] {
      return given.contains { leads(path.dropFirst(), from: $0.type) }
    }
    // Of the value a condition belongs to only the condition knows the type.
    if name == "value" { return true }
    guard path.count == 1 else { return false }
    return ["viewer", "limit", "totalCount", "field"].contains(name)
      || name.hasPrefix("key") && Int(name.dropFirst(3)) != nil
  }

  private func leads(_ path: ArraySlice<String>, from type: TypeReference) -> Bool {
    var type = type
    for step in path {
      guard let field = schema[type.namedType].inputField(named: step) else { return false }
      type = field.type
    }
    return true
  }
}
