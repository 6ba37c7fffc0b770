/// A JSON value. Numbers keep their text: nothing guesses a number type (RFC 8259, 6).
///
/// Object members stay in order; a repeated name keeps its last value at its first place.
package enum JSONValue: Sendable, Equatable {
  case null
  case boolean(Bool)
  /// The number as written, for instance `-1.5e3`.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }

    /// Whether these are the characters of the name; equality of strings is wider, it takes the sign
    /// for kelvins for a K. To a text of ASCII only one of the same length can be equal.
    package func isNamed(_ name: String) -> Bool {
      self.name == name && self.name.utf8.count == name.utf8.count
    }
  }

  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.isNamed(name) }?.value
  }
}
