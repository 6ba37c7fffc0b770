import GraphQLLanguage
import GraphQLResponse

/// The items of a streamed list that belong to a part: a number of first ones, or those after them.
package struct StreamedItems: Sendable, Hashable {
  package let range: Range<Int>
  /// The part of the other items, if the client has to be notified of it.
  package let pending: Int?
  /// Whether the items are delivered by the part, and not only on its path.
  package let isDelivered: Bool

  package init(_ range: Range<Int>, pending: Int? = nil, isDelivered: Bool = false) {
    self.range = range
    self.pending = pending
    self.isDelivered = isDelivered
  }

  /// The number of items to read from the first one on. One more than the part has shows that
  /// further items exist.
  var needed: Int { pending == nil ? range.upperBound : range.upperBound + 1 }

  private static let name = "@items"

  /// Creates the range of a directive that no client can have written.
  init?(_ field: Field) {
    guard let directive = field.directives.first(named: Self.name) else { return nil }
    func number(_ name: String) -> Int? {
      let value = directive.arguments.first { $0.name.text == name }?.value
      guard case .int(let text)? = value?.content else { return nil }
      return Int(text)
    }
    guard let start = number("from") else { return nil }
    self.init(
      start..<(number("to") ?? .max), pending: number("pending"),
      isDelivered: number("delivered") != nil)
  }

  func directive(at position: Position) -> Directive {
    func name(_ text: String) -> Name { Name(text: text, position: position) }
    let arguments: [(String, Int?)] = [
      ("from", range.lowerBound), ("to", range.upperBound == .max ? nil : range.upperBound),
      ("pending", pending), ("delivered", isDelivered ? 1 : nil),
    ]
    return Directive(
      name: name(Self.name),
      arguments: arguments.compactMap { argument, number in
        number.map {
          Argument(name: name(argument), value: Value(.int("\($0)"), position: position))
        }
      }, position: position)
  }
}

extension SelectionCompiler {
  /// Returns the number of items of the initial response if a directive streams the list.
  ///
  /// - Throws: a request error for an invalid number of items.
  func initialCount(_ field: Field) throws(GraphQLError) -> Int? {
    guard let directive = field.directives.first(named: "stream"), isActive(directive) else {
      return nil
    }
    var given: Int32? = 0
    switch directive.arguments.first(where: { $0.name.text == "initialCount" })?.value.content {
    case .int(let text)?: given = Int32(text)
    case .null?: given = nil
    case .variable(let name)?:
      if let index = reader.variableIndices[name], let value = reader.variables[index] {
        if case .int(let count) = value { given = count } else { given = nil }
      }
    case .float, .string, .boolean, .enum, .list, .object, nil: break
    }
    guard let count = given, count >= 0 else {
      throw GraphQLError(
        "Argument \"initialCount\" must be 0 or more, not \(given.map(String.init) ?? "null").",
        locations: [reader.source.location(of: directive.position)], code: .badUserInput)
    }
    return Int(count)
  }

  /// Returns whether a directive defers or streams, unless its condition is false.
  func isActive(_ directive: Directive) -> Bool {
    guard let value = directive.arguments.first(where: { $0.name.text == "if" })?.value else {
      return true
    }
    return condition(value) ?? true
  }
}
