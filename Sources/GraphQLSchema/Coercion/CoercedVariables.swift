/// The values of an operation's variables, coerced to their types.
///
/// A variable that was not given and has no default is absent, which differs from null.
package struct CoercedVariables: Sendable, Equatable {
  private var names: [String] = []
  private var values: [InputValue] = []
  /// The indices by name, only if there are many: a scan finds one of a few faster.
  private var places: [String: Int] = [:]

  package init() {}

  package init(_ values: [(name: String, value: InputValue)]) {
    reserveCapacity(values.count)
    for (name, value) in values { add(name, value) }
  }

  package var isEmpty: Bool { names.isEmpty }

  package subscript(_ name: String) -> InputValue? {
    if names.count <= 8 {
      for index in names.indices where names[index] == name { return values[index] }
      return nil
    }
    return places[name].map { values[$0] }
  }

  mutating func reserveCapacity(_ count: Int) {
    names.reserveCapacity(count)
    values.reserveCapacity(count)
  }

  mutating func add(_ name: String, _ value: InputValue) {
    if names.count == 8 {
      for (index, name) in names.enumerated() { places[name] = index }
    }
    if names.count >= 8 { places[name] = names.count }
    names.append(name)
    values.append(value)
  }
}
