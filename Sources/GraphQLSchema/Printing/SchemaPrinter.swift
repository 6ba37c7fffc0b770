import GraphQLLanguage

/// Prints a schema as type system text, in the layout of graphql-js 16's `printSchema`. As the
/// specification asks, the schema definition is printed if a type that is no root has a root's name.
///
/// It prints own types and directives with their descriptions, and omits what the specification
/// defines. The only applied directives that it prints on its own are `@deprecated`, `@specifiedBy`
/// and `@oneOf`, because clients see the text, but never storage directives.
package struct SchemaPrinter {
  private let schema: Schema
  private let includesDirectives: Bool
  private let marksSemanticNonNull: Bool
  private let directives: (TypeDefinition, FieldDefinition?) -> [String]

  /// - Parameters:
  ///   - includesDirectives: whether to print the definitions of own directives; pass false for a
  ///     text in which none is applied.
  ///   - marksSemanticNonNull: whether to print types of fields as they are under `onError: NULL`:
  ///     without `!`, and with `@semanticNonNull` for what is null only where there is an error.
  ///   - directives: returns more directives of a type or, if one is given, of its field.
  package init(
    _ schema: Schema, includesDirectives: Bool = true, marksSemanticNonNull: Bool = false,
    directives: @escaping (TypeDefinition, FieldDefinition?) -> [String] = { _, _ in [] }
  ) {
    self.directives = directives
    self.schema = schema
    self.includesDirectives = includesDirectives
    self.marksSemanticNonNull = marksSemanticNonNull
  }

  package func print() -> String {
    var parts: [String] = []
    if let definition = schemaDefinition() { parts.append(definition) }
    if includesDirectives {
      // As there: redefining a built-in directive does not make it one's own.
      let builtIn = Set(BuiltIns.directives.map(\.name.text))
      parts += schema.directives.filter { !builtIn.contains($0.name) }.map(text)
    }
    if marksSemanticNonNull { parts.append(Self.semanticNonNull) }
    parts += schema.types.filter { !$0.isBuiltIn }.map(text)
    return parts.joined(separator: "\n\n")
  }

  // MARK: - Definitions

  private func schemaDefinition() -> String? {
    let roots = [
      ("query", "Query", schema.queryType), ("mutation", "Mutation", schema.mutationType),
      ("subscription", "Subscription", schema.subscriptionType),
    ].compactMap { kind, conventional, id in
      id.map { (kind: kind, conventional: conventional, name: schema[$0].name) }
    }
    // A type that is no root, but has the name of one, would become one where the definition is missing.
    let isOther = ["Query", "Mutation", "Subscription"].contains { name in
      schema.type(named: name) != nil && !roots.contains { $0.name == name }
    }
    if schema.description == nil, !isOther, roots.allSatisfy({ $0.name == $0.conventional }) {
      return nil
    }
    let lines = roots.map { "  \($0.kind): \($0.name)" }.joined(separator: "\n")
    return description(schema.description) + "schema {\n\(lines)\n}"
  }

  private func text(_ directive: DirectiveDefinition) -> String {
    description(directive.description) + "directive @\(directive.name)"
      + arguments(directive.arguments, "") + deprecated(directive.deprecationReason)
      + (directive.isRepeatable ? " repeatable" : "")
      + " on " + directive.locations.map(\.rawValue).joined(separator: " | ")
  }

  private func text(_ type: TypeDefinition) -> String {
    description(type.description) + definition(type)
  }

  private func definition(_ type: TypeDefinition) -> String {
    switch type.kind {
    case .scalar(let url):
      return "scalar \(type.name)" + more(type)
        + (url.map { " @specifiedBy(url: \(Printer.string($0)))" } ?? "")
    case .object: return "type \(type.name)" + interfaces(type) + more(type) + fields(type)
    case .interface: return "interface \(type.name)" + interfaces(type) + more(type) + fields(type)
    case .union(let members):
      let names = members.map { schema[$0].name }.joined(separator: " | ")
      return "union \(type.name)" + more(type) + (members.isEmpty ? "" : " = \(names)")
    case .enum(let values):
      return "enum \(type.name)" + more(type)
        + block(
          values.enumerated().map { index, value in
            description(value.description, "  ", isFirst: index == 0) + "  \(value.name)"
              + deprecated(value.deprecationReason)
          })
    case .inputObject(let fields, let isOneOf):
      return "input \(type.name)" + (isOneOf ? " @oneOf" : "") + more(type)
        + block(
          fields.enumerated().map { index, field in
            description(field.description, "  ", isFirst: index == 0) + "  \(inputValue(field))"
          })
    }
  }

  private func interfaces(_ type: TypeDefinition) -> String {
    type.interfaces.isEmpty
      ? "" : " implements \(type.interfaces.map { schema[$0].name }.joined(separator: " & "))"
  }

  private func fields(_ type: TypeDefinition) -> String {
    block(
      type.fields.enumerated().map { index, field in
        description(field.description, "  ", isFirst: index == 0) + "  \(field.name)"
          + arguments(field.arguments, "  ") + ": \(fieldType(field.type))"
          + deprecated(field.deprecationReason) + more(type, field)
      })
  }

  private func more(_ type: TypeDefinition, _ field: FieldDefinition? = nil) -> String {
    directives(type, field).map { " " + $0 }.joined()
  }

  private static let semanticNonNull = #"""
    """
    The field is null only where an error says why. The levels are those of its lists, 0 for the field itself.
    """
    directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION
    """#

  private func fieldType(_ type: TypeReference) -> String {
    guard marksSemanticNonNull else { return schema.text(of: type) }
    var levels: [Int] = []
    let nullable = schema.text(of: nullable(type, 0, &levels))
    let numbers = levels.map(String.init).joined(separator: ", ")
    return switch levels {
    case []: nullable
    case [0]: nullable + " @semanticNonNull"
    default: nullable + " @semanticNonNull(levels: [\(numbers)])"
    }
  }

  /// Returns the type without `!`, and adds the levels at which it has one.
  private func nullable(
    _ type: TypeReference, _ level: Int, _ levels: inout [Int]
  ) -> TypeReference {
    switch type {
    case .named: return type
    case .list(let inner): return .list(nullable(inner, level + 1, &levels))
    case .nonNull(let inner):
      levels.append(level)
      return nullable(inner, level, &levels)
    }
  }

  private func block(_ lines: [String]) -> String {
    lines.isEmpty ? "" : " {\n\(lines.joined(separator: "\n"))\n}"
  }

  private func arguments(_ arguments: [InputValueDefinition], _ indent: String) -> String {
    if arguments.isEmpty { return "" }
    // On one line unless one of them has something to say.
    if arguments.allSatisfy({ $0.description?.isEmpty ?? true }) {
      return "(\(arguments.map(inputValue).joined(separator: ", ")))"
    }
    let lines = arguments.enumerated().map { index, argument in
      description(argument.description, "  " + indent, isFirst: index == 0) + "  \(indent)"
        + inputValue(argument)
    }
    return "(\n\(lines.joined(separator: "\n"))\n\(indent))"
  }

  private func inputValue(_ input: InputValueDefinition) -> String {
    "\(input.name): \(schema.text(of: input.type))"
      + (schema.defaultText(of: input).map { " = \($0)" } ?? "")
      + deprecated(input.deprecationReason)
  }

  private func deprecated(_ reason: String?) -> String {
    guard let reason else { return "" }
    return reason == SchemaAssembly.defaultDeprecationReason
      ? " @deprecated" : " @deprecated(reason: \(Printer.string(reason)))"
  }

  private func description(_ text: String?, _ indent: String = "", isFirst: Bool = true) -> String {
    guard let text else { return "" }
    let string =
      Printer.isPrintableAsBlockString(text) ? Printer.blockString(text) : Printer.string(text)
    let lines = string.split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\n" + indent)
    return (isFirst || indent.isEmpty ? indent : "\n" + indent) + lines + "\n"
  }
}
