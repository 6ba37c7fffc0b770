import GraphQLLanguage
import GraphQLResponse

/// Which items of a streamed list are of a part: the first so many, or those behind them.
package struct StreamedItems: Sendable, Hashable {
  package let range: Range<Int>
  /// The part in which the others come, where the client is to be told of it.
  package let pending: Int?
  /// They are what the part brings, and not on the way to it.
  package let isDelivered: Bool

  package init(_ range: Range<Int>, pending: Int? = nil, isDelivered: Bool = false) {
    self.range = range
    self.pending = pending
    self.isDelivered = isDelivered
  }

  /// How many items from the first one on are needed: that there are more is known by one more.
  var needed: Int { pending == nil ? range.upperBound : range.upperBound + 1 }

  private static let name = "@items"

  /// Of a directive that no client can have written.
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
  /// How many items of a list come at once where a directive says that the others may come later.
  ///
  /// - Throws: a request error for what is no number of items.
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

  /// Whether a directive that defers or streams does, unless its condition says not to.
  func isActive(_ directive: Directive) -> Bool {
    guard let value = directive.arguments.first(where: { $0.name.text == "if" })?.value else {
      return true
    }
    return condition(value) ?? true
  }
}
