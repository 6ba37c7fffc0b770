import GraphQLLanguage
import GraphQLResponse
import JSON

/// The variables that an operation declares, prepared for repeated coercion.
///
/// It is created once per operation, with types looked up and defaults coerced, so that a request
/// costs only its own values.
///
/// GraphQL September 2025, 6.1.2 Coercing Variable Values; messages as in graphql-js 16.
package struct VariableCoercion: Sendable {
  /// The maximum number of errors about an operation's variables; one more says that there were
  /// others.
  package static let maximumErrors = 50

  private struct Variable: Sendable {
    let name: String
    /// The type; nil if it is not an input type, in which case validation refuses the operation.
    let type: TypeReference?
    let typeSyntax: TypeSyntax
    let hasDefault: Bool
    let coercedDefault: InputValue?
    let position: Position
  }

  private let schema: Schema
  private let source: Source
  private let variables: [Variable]
  private let suggestions: Bool

  package init(
    _ schema: Schema, _ operation: OperationDefinition, source: Source, suggestions: Bool = true
  ) {
    self.schema = schema
    self.source = source
    self.suggestions = suggestions
    let literals = LiteralCoercion(schema, variables: CoercedVariables())
    variables = operation.variables.map { variable in
      let type = schema.inputType(variable.type)
      return Variable(
        name: variable.name.text, type: type, typeSyntax: variable.type,
        hasDefault: variable.defaultValue != nil,
        coercedDefault: variable.defaultValue.flatMap { value in
          type.flatMap { literals.coerce(value, to: $0) }
        },
        position: variable.position)
    }
  }

  package var isEmpty: Bool { variables.isEmpty }

  /// Coerces the variables of a request.
  ///
  /// - Parameter values: the `variables` of the request, an object; nil if it has none.
  package func coerce(_ values: JSONValue?) throws(RequestErrors) -> CoercedVariables {
    guard !variables.isEmpty else { return CoercedVariables() }
    var members: [JSONValue.Member] = []
    if case .object(let given) = values { members = given }
    var result = CoercedVariables()
    result.reserveCapacity(variables.count)
    var errors: [GraphQLError] = []
    var coercion = JSONCoercion(schema, limit: Self.maximumErrors, suggestions: suggestions)
    let places =
      members.count > 16
      ? Dictionary(members.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
      : nil
    for variable in variables {
      guard errors.count <= Self.maximumErrors else { break }
      guard let type = variable.type else {
        errors.append(
          GraphQLError(
            "Variable \"$\(variable.name)\" expected value of type "
              + "\"\(Printer.print(variable.typeSyntax))\" which cannot be used as an input type.",
            locations: [source.location(of: variable.typeSyntax.position)], code: .badUserInput))
        continue
      }
      let given =
        if let places {
          places[variable.name].flatMap { $0.isNamed(variable.name) ? $0.value : nil }
        } else {
          members.last { $0.isNamed(variable.name) }?.value
        }
      guard let given else {
        if let value = variable.coercedDefault {
          result.add(variable.name, value)
        } else if type.isNonNull, !variable.hasDefault {
          errors.append(error(variable, "of required type", type, "was not provided."))
        }
        continue
      }
      if type.isNonNull, given == .null {
        errors.append(error(variable, "of non-null type", type, "must not be null."))
        continue
      }
      let before = coercion.problems.count
      let value = coercion.coerce(given, to: type)
      if coercion.problems.count == before {
        result.add(variable.name, value)
      } else {
        errors += coercion.problems[before...].map { error(variable, $0) }
      }
    }
    guard errors.isEmpty else { throw RequestErrors(Self.limited(errors)) }
    return result
  }

  private static func limited(_ errors: [GraphQLError]) -> [GraphQLError] {
    guard errors.count > maximumErrors else { return errors }
    return errors.prefix(maximumErrors) + [
      GraphQLError(
        "Too many errors processing variables, error limit reached. Execution aborted.",
        code: .badUserInput)
    ]
  }

  private func error(
    _ variable: Variable, _ of: String, _ type: TypeReference, _ what: String
  ) -> GraphQLError {
    GraphQLError(
      "Variable \"$\(variable.name)\" \(of) \"\(schema.text(of: type))\" \(what)",
      locations: [source.location(of: variable.position)], code: .badUserInput)
  }

  private func error(_ variable: Variable, _ problem: JSONCoercion.Problem) -> GraphQLError {
    var prefix =
      "Variable \"$\(variable.name)\" got invalid value \(JSONInspection.text(of: problem.value))"
    if !problem.path.isEmpty {
      prefix += " at \"\(variable.name)\(problem.path.accessText)\""
    }
    return GraphQLError(
      "\(prefix); \(problem.message)", locations: [source.location(of: variable.position)],
      code: .badUserInput)
  }
}

extension Schema {
  /// Returns a type by its indices; nil if it is unknown.
  package func type(_ syntax: TypeSyntax) -> TypeReference? {
    switch syntax {
    case .named(let name): typesByName[name.text].map { .named($0) }
    case .list(let inner, _): type(inner).map { .list($0) }
    case .nonNull(let inner): type(inner).map { .nonNull($0) }
    }
  }

  /// Returns an input type by its indices; nil if it is unknown or not an input type.
  package func inputType(_ syntax: TypeSyntax) -> TypeReference? {
    guard let reference = type(syntax), self[reference.namedType].isInputType else { return nil }
    return reference
  }
}
