/// A coerced input: the value of an argument or variable that its type has accepted.
///
/// Objects keep the order of the input object's definition and hold only the fields that are
/// present (given or defaulted). A custom scalar is coerced by shape alone: its literal or JSON
/// value unchanged, including objects and lists. The storage mapping checks its meaning.
///
/// GraphQL September 2025, 6.1.2 Coercing Variable Values and 3.x Input Coercion.
package enum InputValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case int(Int32)
  /// An integer that exceeds `Int`, possible only in custom scalars.
  case bigInt(Int64)
  case float(Double)
  /// Any other number of a custom scalar as it was written, so that no digit is lost.
  case number(String)
  /// `String`, `ID` (also when written as an integer) and custom scalars given as strings.
  case string(String)
  case `enum`(String)
  case list([InputValue])
  case object([Member])

  package struct Member: Sendable, Hashable {
    package let name: String
    package let value: InputValue

    package init(name: String, value: InputValue) {
      self.name = name
      self.value = value
    }
  }

  package subscript(_ name: String) -> InputValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}
