/// SQL under construction: text with parameters in it.
///
/// Fragments are composed of fragments and rendered once, by `statement()`; no code inspects their
/// text. A parameter is a separate piece, so a statement has exactly those that it mentions.
///
///     let key: SQLFragment = "\(name: alias).\(name: column)"
///     let condition: SQLFragment = "\(key) = \(viewer)"
///
/// Only fragments, numbers and values marked as a name or a literal can be interpolated: no plain
/// string becomes SQL. Appending costs the size of the pieces at this level: indented fragments,
/// such as sub-selects, are shared and not copied. Two fragments are equal if they render alike and
/// their indented parts were composed alike.
package struct SQLFragment: Sendable {
  enum Piece: Sendable {
    case text(String)
    /// Text whose lines must not be indented, such as a string literal of several lines.
    case verbatim(String)
    case parameter(SQLParameter)
    /// A fragment whose lines after the first are indented by two columns.
    case indented(SQLFragment)
  }

  /// The pieces; no two texts are adjacent.
  private(set) var pieces: [Piece] = []
  private var hasLines = false

  package init() {}

  package init(_ parameter: SQLParameter) { pieces = [.parameter(parameter)] }

  /// - Parameter name: an alias, a column or a type as it is written in SQL.
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

  /// - Parameter text: a text of the program or the schema, never of a client.
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

  /// Returns the fragment with another fragment in place of each parameter.
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

  /// Returns the finished statement.
  ///
  /// - Complexity: O(*n*) in the size of the text.
  package func statement() -> SQLStatement { SQLStatement(self) }
}

/// A value that a statement gets when it runs.
package struct SQLParameter: Sendable, Hashable {
  /// The number, from 0, by which the composer of a statement identifies the parameter; it is the
  /// same in all fragments of one statement. A finished statement numbers the parameters that it
  /// mentions in this order.
  package let ordinal: Int
  /// The type that is written after each mention (`$1::bigint`); nil if PostgreSQL infers it from
  /// the context.
  package let type: SQLType?

  package init(ordinal: Int, type: SQLType?) {
    self.ordinal = ordinal
    self.type = type
  }
}

/// A PostgreSQL type by the name that casts use: `bigint`, `text[]`.
package struct SQLType: Sendable, Hashable, CustomStringConvertible {
  /// The name of the type, or of an array's element type.
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

  /// Hashes indented fragments only by their presence: fragments that differ there differ
  /// elsewhere, too.
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

    /// Appends an alias, a column or a type as it is written in SQL.
    package mutating func appendInterpolation(name: String) { fragment.append(text: name) }

    /// Appends a string literal in quotes.
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
