import GraphQLLanguage
import GraphQLSchema
import SQL

/// Finds words in templates that have no meaning. Such a word would be NULL in the statement, and a
/// visibility rule with `:viewr` would hold unnoticed.
struct TemplateVariables {
  let schema: Schema
  /// The arguments; those of a connection count for the fields of its edges and pages, too.
  private let arguments: [String: [InputValueDefinition]]
  /// The interfaces in which directives of fields are written, by the directives' positions: types
  /// that inherit a field have its directives from there.
  private var origins: [Position: String] = [:]

  init(schema: Schema) {
    self.schema = schema
    arguments = Dictionary(
      grouping: schema.types.flatMap(\.fields).flatMap(\.arguments), by: \.name)
    // An interface comes after those it inherits from.
    for type in schema.types.sorted(by: { $0.interfaces.count < $1.interfaces.count }) {
      guard case .interface = type.kind else { continue }
      for field in type.fields {
        for directive in field.appliedDirectives + field.arguments.flatMap(\.appliedDirectives)
        where origins[directive.position] == nil {
          origins[directive.position] = type.name
        }
      }
    }
  }

  /// The problems, one line for each, which names its coordinate.
  var problems: [String] {
    var problems: [String] = []
    check(schema.appliedDirectives, "schema", &problems)
    let payloads = payloads
    for type in schema.types where !type.isBuiltIn {
      check(type.appliedDirectives, type.name, &problems)
      let words: Set<String> =
        type.id == schema.mutationType
        ? ["arguments", "secret", "secretHash", "sessionHash", "device", "result"]
        : payloads.contains(type.id)
          ? ["result"] : type.id == schema.subscriptionType ? ["event", "told", "ended"] : []
      for field in type.fields {
        let coordinate = "\(type.name).\(field.name)"
        check(field.appliedDirectives, coordinate, &problems, besides: words)
        for argument in field.arguments {
          check(
            argument.appliedDirectives, "\(coordinate)(\(argument.name):)", &problems,
            besides: words)
        }
      }
      switch type.kind {
      case .inputObject(let fields, _):
        for field in fields {
          check(
            field.appliedDirectives, "\(type.name).\(field.name)", &problems, besides: ["result"])
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

  /// The types that mutations return, or could.
  private var payloads: Set<TypeID> {
    let returned = schema.mutationType.map { schema[$0].fields.map(\.type.namedType) } ?? []
    let refusable = schema.types.filter { type in
      type.fields.contains { $0.appliedDirectives.first(named: "userErrors") != nil }
    }
    return Set(returned + refusable.map(\.id))
  }

  private func check(
    _ directives: [Directive], _ coordinate: String, _ problems: inout [String],
    besides words: Set<String> = []
  ) {
    for directive in directives where StorageDirectives.names.contains(directive.name.text) {
      if let origin = origins[directive.position], !coordinate.hasPrefix("\(origin).") { continue }
      for argument in directive.arguments {
        guard case .string(let literal) = argument.value.content else { continue }
        let place = "\(directive.name.text)(\(argument.name.text):)"
        do {
          for template in try Self.templates(in: literal.text, of: place) {
            for path in template.variables
            where !isKnown(path) && !words.contains(path[0]) && !isRenewed(path) {
              problems.append(
                "\(coordinate): \":\(path.joined(separator: "."))\" in @\(directive.name.text) "
                  + "names no argument.")
            }
          }
        } catch {
          problems.append("\(coordinate): @\(place) does not hold: \(error)")
        }
      }
    }
  }

  /// Returns the SQL in an argument of a directive; none if it is a name or a word.
  static func templates(
    in text: String, of place: String
  ) throws(SQLSyntaxError) -> [SQLTemplate] {
    switch place {
    case "scalar(type:)", "value(sql:)", "value(type:)", "where(unless:)", "result(key:)",
      "call(signsIn:)", "event(topic:)", "orderBy(given:)", "orderBy(otherwise:)",
      "identityToken(provider:)":
      return []
    case "filter(of:)", "order(of:)", "insert(into:)", "update(of:)", "delete(of:)": return []
    case "table(key:)":
      _ = try SQLQuoting.names(in: text)
      return []
    case "column(type:)":
      try SQLQuoting.checkType(text)
      return []
    case "join(name:)", "column(name:)", "column(of:)", "column(collation:)", "reference(column:)":
      try SQLQuoting.checkName(text)
      return []
    case "orderBy(by:)": return try SQLSortKey.list(text, isRequired: true).map(\.expression)
    case "connection(orderBy:)", "list(orderBy:)":
      return try SQLSortKey.list(text).map(\.expression)
    default: return [try SQLTemplate(text)]
    }
  }

  /// Returns whether the path is that of a known password's new hash, `:password.renewed`, or of
  /// what is to be encrypted, `:token.plain`.
  private func isRenewed(_ path: [String]) -> Bool {
    path.count > 1 && (path.last == "renewed" || path.last == "plain") && isKnown(path.dropLast())
  }

  private func isKnown(_ path: [String]) -> Bool {
    let name = path[0]
    if let given = arguments[name] {
      return given.contains { leads(path.dropFirst(), from: $0.type) }
    }
    // Only the condition knows the type of its value.
    if name == "value" { return true }
    switch TemplateVariable(path) {
    case .tag(let type)?: return schema.tag(ofTypeNamed: type) != nil
    case .viewer?, .locale?, .app?, .sessionHash?, .limit?, .key?, .totalCount?, .count?, .field?,
      .in?, .claim?:
      return true
    // Only where an argument has this name, or a mutation's function something to return.
    case .result?, .event?, .told?, .ended?, nil: return false
    }
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
