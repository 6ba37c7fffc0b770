/// SQL under construction: text with parameters in it.
///
/// Fragments are put together from fragments and rendered once, by `statement()`; nothing looks into
/// their text. A parameter is a piece of its own, so a statement has just those it mentions.
///
///     let key: SQLFragment = "\(name: alias).\(name: column)"
///     let condition: SQLFragment = "\(key) = \(viewer)"
///
/// Only fragments, numbers and what is marked as a name or a literal can be interpolated: no plain
/// string becomes SQL. Appending costs what is appended at this level: what is indented, as a
/// sub-select is, is shared and not copied. Two fragments are equal when they render alike, as long
/// as what is indented was put together alike.
package struct SQLFragment: Sendable {
  enum Piece: Sendable {
    case text(String)
    /// Of which no line may be moved, such as a string literal of several lines.
    case verbatim(String)
    case parameter(SQLParameter)
    /// Lines after the first stand two columns further right.
    case indented(SQLFragment)
  }

  /// No two texts stand side by side.
  private(set) var pieces: [Piece] = []
  private var hasLines = false

  package init() {}

  package init(_ parameter: SQLParameter) { pieces = [.parameter(parameter)] }

  /// - Parameter name: as it is written in SQL: an alias, a column, a type.
  package init(name: String) { append(text: name) }

  package var isEmpty: Bool { pieces.isEmpty }

  package mutating func append(_ other: SQLFragment) {
    if pieces.isEmpty {
      self = other
      return
    }
    for piece in other.pieces {
      if case .text(let text) = piece { append(text: text) } else { pieces.append(piece) }
    }
    hasLines = hasLines || other.hasLines
  }

  package mutating func append(indented other: SQLFragment) {
    guard other.hasLines else { return append(other) }
    pieces.append(.indented(other))
    hasLines = true
  }

  package var indented: SQLFragment {
    var fragment = SQLFragment()
    fragment.append(indented: self)
    return fragment
  }

  /// - Parameter text: of the program or the schema, never of a client.
  package mutating func append(text: String) {
    guard !text.isEmpty else { return }
    if !hasLines { hasLines = text.utf8.contains(UInt8(ascii: "\n")) }
    switch pieces.popLast() {
    case .text(var last)?:
      last += text
      pieces.append(.text(last))
    case let other?:
      pieces.append(other)
      pieces.append(.text(text))
    case nil: pieces.append(.text(text))
    }
  }

  package mutating func append(verbatim text: String) {
    pieces.append(.verbatim(text))
  }

  package mutating func append(_ parameter: SQLParameter) {
    pieces.append(.parameter(parameter))
  }

  /// The same with something else in the place of each parameter.
  package func replacingParameters(_ replacement: (SQLParameter) -> SQLFragment) -> SQLFragment {
    var result = SQLFragment()
    for piece in pieces {
      switch piece {
      case .text(let text): result.append(text: text)
      case .verbatim(let text): result.append(verbatim: text)
      case .parameter(let parameter): result.append(replacement(parameter))
      case .indented(let inner): result.append(indented: inner.replacingParameters(replacement))
      }
    }
    return result
  }

  /// The finished statement. O(text).
  package func statement() -> SQLStatement { SQLStatement(self) }
}

/// What a statement is given when it runs.
package struct SQLParameter: Sendable, Hashable {
  /// From 0, as whoever puts the statement together counts: fragments of one statement are equal in
  /// what they mean by it. A finished statement numbers those it mentions in this order.
  package let ordinal: Int
  /// Written behind each mention (`$1::bigint`); nil where PostgreSQL tells it from what is around.
  package let type: SQLType?

  package init(ordinal: Int, type: SQLType?) {
    self.ordinal = ordinal
    self.type = type
  }
}

/// A PostgreSQL type by the name that casts have: `bigint`, `text[]`.
package struct SQLType: Sendable, Hashable, CustomStringConvertible {
  /// Of an array its elements' type.
  package let name: String
  package let isArray: Bool

  package init(_ name: String, isArray: Bool = false) {
    self.name = name
    self.isArray = isArray
  }

  package var description: String { isArray ? name + "[]" : name }
}

extension SQLFragment: Hashable {
  package static func == (left: SQLFragment, right: SQLFragment) -> Bool {
    left.pieces == right.pieces
  }

  /// Of what is indented only that it is there: those that differ do so elsewhere, too.
  package func hash(into hasher: inout Hasher) {
    for piece in pieces {
      switch piece {
      case .text(let text), .verbatim(let text): hasher.combine(text)
      case .parameter(let parameter): hasher.combine(parameter.ordinal)
      case .indented(let inner): hasher.combine(inner.pieces.count)
      }
    }
  }
}

extension SQLFragment.Piece: Equatable {}

extension SQLFragment: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var fragment = SQLFragment()

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ text: String) { fragment.append(text: text) }

    package mutating func appendInterpolation(_ inner: SQLFragment) { fragment.append(inner) }

    package mutating func appendInterpolation(_ parameter: SQLParameter) {
      fragment.append(parameter)
    }

    package mutating func appendInterpolation(_ number: Int) {
      fragment.append(text: String(number))
    }

    /// As it is written in SQL: an alias, a column, a type.
    package mutating func appendInterpolation(name: String) { fragment.append(text: name) }

    /// In quotes.
    package mutating func appendInterpolation(literal text: String) {
      fragment.append(text: SQLQuoting.literal(text))
    }
  }

  package init(stringLiteral text: String) { append(text: text) }

  package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.fragment }
}

extension Sequence<SQLFragment> {
  package func joined(separator: SQLFragment) -> SQLFragment {
    var result = SQLFragment()
    for (index, fragment) in enumerated() {
      if index > 0 { result.append(separator) }
      result.append(fragment)
    }
    return result
  }
}
