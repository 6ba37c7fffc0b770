import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema

/// The inputs of an operation by the names in its document, for errors about values that their
/// types accept but their locations do not.
package struct OperationInputs: Sendable {
  package let variables: [VariableDefinition]
  package let source: Source

  package init(_ variables: [VariableDefinition], source: Source) {
    self.variables = variables
    self.source = source
  }

  /// Returns an error about a value.
  ///
  /// - Parameters:
  ///   - input: the source of the value.
  ///   - path: the path of the value within that source.
  ///   - place: the argument or input field that the value was given to.
  package func error(
    _ input: InputSource, at path: [PathSegment] = [], of place: InputPlace?, _ problem: String
  ) -> GraphQLError {
    let (input, path) = innermost(input, path)
    let name = name(of: input, place)
    let inside = self.path(of: input) + path
    let at = inside.isEmpty ? "" : " at \"\(name.bare)\(inside.accessText)\""
    return GraphQLError(
      "\(name.subject) got an invalid value\(at); \(problem)", locations: name.locations(source),
      code: .badUserInput)
  }

  /// Returns an error about an unknown one of several inputs; nil if there is none.
  package func error(
    amongst parameters: [(PlanParameter, place: InputPlace?)], _ problem: String
  ) -> GraphQLError? {
    var names: [Name] = []
    for (parameter, place) in parameters {
      let found: Name
      switch parameter {
      case .viewer, .locale, .app, .sessionHash, .claim, .rowCount, .call, .event, .told, .ended:
        continue
      case .input(let input, _): found = name(of: input, place)
      case .sortKey(let input, _, _), .sortKeyIsNull(let input, _, _),
        .keyValue(let input, _, _, _), .representation(let input, _, _):
        found = name(of: input, place)
      }
      if !names.contains(where: { $0.subject == found.subject }) { names.append(found) }
    }
    guard let first = names.first else { return nil }
    let subjects = names.prefix(Self.maximumNames).map(\.subject)
    let list =
      names.count == 1
      ? first.subject
      : "One of " + subjects.joined(separator: ", ")
        + (names.count > Self.maximumNames ? " and others" : "")
    return GraphQLError(
      "\(list) got an invalid value; \(problem)",
      locations: names.prefix(Self.maximumNames).flatMap { $0.locations(source) },
      code: .badUserInput)
  }

  private static let maximumNames = 10

  private struct Name {
    let subject: String
    /// The name as paths begin.
    let bare: String
    let position: Position?

    func locations(_ source: Source) -> [SourceLocation] {
      position.map { [source.location(of: $0)] } ?? []
    }
  }

  private func name(of input: InputSource, _ place: InputPlace?) -> Name {
    if case .variable(let index, _) = input, variables.indices.contains(index) {
      let variable = variables[index]
      return Name(
        subject: "Variable \"$\(variable.name.text)\"", bare: variable.name.text,
        position: variable.position)
    }
    let coordinate = place?.coordinate ?? "the operation"
    return Name(subject: "\"\(coordinate)\"", bare: coordinate, position: place?.position)
  }

  private func path(of input: InputSource) -> [PathSegment] {
    if case .variable(_, let path) = input { path } else { [] }
  }

  /// Follows the path through lists and objects of the document, up to a variable.
  private func innermost(
    _ input: InputSource, _ path: [PathSegment]
  ) -> (InputSource, [PathSegment]) {
    if case .each(let list, let name) = input, let row = path.first {
      return innermost(list, [row, .name(name)] + path.dropFirst())
    }
    var (inner, rest) = (input, path[...])
    while let step = rest.first {
      switch (inner, step) {
      case (.list(let items), .index(let index)) where items.indices.contains(index):
        inner = items[index]
      case (.object(let members), .name(let name)):
        guard let member = members.first(where: { $0.name == name }) else { return (input, path) }
        inner = member.source
      default: return variable(inner) ? (inner, Array(rest)) : (input, path)
      }
      rest = rest.dropFirst()
    }
    return variable(inner) ? (inner, Array(rest)) : (input, path)
  }

  private func variable(_ input: InputSource) -> Bool {
    if case .variable = input { true } else { false }
  }
}

/// The argument or input field that a value is given to.
package struct InputPlace: Sendable, Hashable {
  /// The coordinate: `Query.node(id:)`, or `UserBy.username`.
  package let coordinate: String
  /// The position of the argument's value; nil for a default.
  package let position: Position?

  init(_ coordinate: String, _ position: Position?) {
    self.coordinate = coordinate
    self.position = position
  }
}

extension InputValue {
  /// Returns the value inside of this one, or null if there is none.
  package func value(at path: [PathSegment]) -> InputValue {
    var value = self
    for step in path {
      switch (step, value) {
      case (.name(let name), _): value = value[name] ?? .null
      case (.index(let index), .list(let items)) where items.indices.contains(index):
        value = items[index]
      case (.index, _): return .null
      }
    }
    return value
  }

  /// The value as messages show it: shortened if it is long, and a single word if it has parts.
  package var shown: String {
    switch self {
    case .string(let text): "\"\(text.prefix(40))\""
    case .int(let number): "\(number)"
    case .bigInt(let number): "\(number)"
    case .float(let number): "\(number)"
    case .number(let text): "\(text.prefix(40))"
    case .boolean(let flag): "\(flag)"
    case .enum(let name): name
    case .null: "null"
    case .list: "A list"
    case .object: "An object"
    }
  }
}
