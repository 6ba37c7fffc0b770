import JSON

/// The differences between an expected and a received response, one line each.
///
/// Members of `data` may come in any order, but none may be missing or extra. Of an error, only the
/// members that are expected are compared, because others differ with each request. `extensions` of
/// the response are compared only if they are expected.
package struct ResponseDifferences {
  package private(set) var lines: [String] = []

  package init(expected: JSONValue, received: JSONValue) {
    for name in ["data", "errors", "extensions"] {
      let wanted = expected[name]
      if wanted == nil, name == "extensions" { continue }
      compare(wanted, received[name], at: name, ignoresOthers: name != "data")
    }
  }

  private mutating func differ(_ path: String, _ expected: JSONValue?, _ received: JSONValue?) {
    func shown(_ value: JSONValue?) -> String { value.map { "\($0)" } ?? "nothing" }
    lines.append("\(path): expected \(shown(expected)), received \(shown(received))")
  }

  private mutating func compare(
    _ expected: JSONValue?, _ received: JSONValue?, at path: String, ignoresOthers: Bool
  ) {
    guard let expected, let received else {
      if expected != received { differ(path, expected, received) }
      return
    }
    switch (expected, received) {
    case (.string(Self.anything), _): break
    case (.object(let wanted), .object(let found)):
      for member in wanted {
        compare(
          member.value, received[member.name], at: "\(path).\(member.name)",
          ignoresOthers: ignoresOthers)
      }
      for member in found where !ignoresOthers && expected[member.name] == nil {
        differ("\(path).\(member.name)", nil, member.value)
      }
    case (.array(let wanted), .array(let found)):
      for index in 0..<max(wanted.count, found.count) {
        compare(
          index < wanted.count ? wanted[index] : nil, index < found.count ? found[index] : nil,
          at: "\(path).\(index)", ignoresOthers: ignoresOthers)
      }
    case (.string(let wanted), .string(let found)):
      if !Self.matches(wanted, found) { differ(path, expected, received) }
    case (.number(let wanted), .number(let found)):
      if wanted != found, Double(wanted) != Double(found) { differ(path, expected, received) }
    case (.null, _), (.boolean, _), (.number, _), (.string, _), (.array, _), (.object, _):
      if expected != received { differ(path, expected, received) }
    }
  }

  private static let anything = "..."

  /// Returns whether a text has the parts between `...` in their order.
  private static func matches(_ pattern: String, _ text: String) -> Bool {
    let parts = pattern.split(separator: anything, omittingEmptySubsequences: false)
    guard let first = parts.first, let last = parts.last, parts.count > 1 else {
      return pattern == text
    }
    guard text.hasPrefix(first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
