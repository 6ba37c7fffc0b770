/// A coerced input: what an argument or variable is once its type has accepted it.
///
/// Objects keep the order of the input object's definition and hold only the fields that are present
/// (given or defaulted). A custom scalar is coerced by shape alone: its literal or JSON value as it
/// is, objects and lists included; what its text means is for the storage mapping to check.
///
/// GraphQL September 2025, 6.1.2 Coercing Variable Values and 3.x Input Coercion.
package enum InputValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case int(Int32)
  /// An integer that `Int` cannot hold: only in custom scalars and `Float`-free JSON.
  case bigInt(Int64)
  case float(Double)
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
