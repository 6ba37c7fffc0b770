/// The names that an earlier draft gave to the fields of a type, by what they read. Fields that read the
/// same have theirs in the order of that draft.
struct KnownNames {
  private var names: [String: [String]] = [:]

  mutating func add(_ name: String, reading key: String) { names[key, default: []].append(name) }

  /// Returns the name of the next field that reads this; nil for one that is new.
  mutating func take(_ key: String) -> String? {
    guard let name = names[key]?.first else { return nil }
    names[key]?.removeFirst()
    return name
  }

  /// Forgets the names whose keys satisfy a condition.
  mutating func forget(where condition: (_ key: String) -> Bool) {
    names = names.filter { !condition($0.key) }
  }

  /// Returns the name of the first field whose key satisfies a condition.
  func first(where condition: (_ key: String) -> Bool) -> String? {
    names.filter { condition($0.key) }.compactMap(\.value.first).min()
  }

  /// All names.
  var all: Set<String> { Set(names.values.joined()) }
}
