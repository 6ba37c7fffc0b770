import JSON

/// Literals and short ways in, so that a test reads like the JSON it means.
extension JSONValue: ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByFloatLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral, ExpressibleByStringInterpolation
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int) { self = .number(String(value)) }
  package init(floatLiteral value: Double) { self = .number("\(value)") }
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }

  /// Returns the value at a path of names and indices, as in `"viewer.circles.nodes.0.name"`.
  func at(_ path: String) -> JSONValue? {
    var value = self
    for step in path.split(separator: ".") {
      if let position = Int(step) {
        guard let elements = value.array, elements.indices.contains(position) else { return nil }
        value = elements[position]
      } else {
        guard let next = value[String(step)] else { return nil }
        value = next
      }
    }
    return value
  }

  /// The values of one name in each element of the list at a path.
  func list(_ path: String, _ name: String) -> [JSONValue] {
    (at(path)?.array ?? []).map { $0.at(name) ?? .null }
  }

  func strings(_ path: String, _ name: String) -> [String] {
    list(path, name).map { $0.string ?? "" }
  }

  var array: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  var int: Int? {
    guard case .number(let text) = self else { return nil }
    return Int(text)
  }

  var double: Double? {
    guard case .number(let text) = self else { return nil }
    return Double(text)
  }

  var bool: Bool? {
    guard case .boolean(let value) = self else { return nil }
    return value
  }

  var isNull: Bool { self == .null }

  var members: [Member]? {
    guard case .object(let members) = self else { return nil }
    return members
  }
}
