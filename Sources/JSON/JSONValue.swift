/// A JSON value. Numbers keep their text, so that no number type is assumed (RFC 8259, 6).
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

    /// Returns whether the member has this name.
    ///
    /// `==` alone compares by canonical equivalence and treats U+212A (kelvin sign) and `K` as
    /// equal. Equal lengths exclude that for ASCII names, because every equivalent of an ASCII text
    /// is longer.
    package func isNamed(_ name: String) -> Bool {
      self.name == name && self.name.utf8.count == name.utf8.count
    }
  }

  package subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.isNamed(name) }?.value
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON text.
  package var description: String {
    var json = JSONWriter()
    json.write(self)
    return String(decoding: json.finish(), as: UTF8.self)
  }
}
