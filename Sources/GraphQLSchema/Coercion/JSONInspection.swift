import JSON

/// The text of a value in messages, in the notation of the reference implementation: two levels
/// deep, ten items long.
///
/// A longer text ends in `...`, so that the response to a request with many mistakes is not many
/// times larger than the request.
package struct JSONInspection {
  private static let maximumDepth = 2
  private static let maximumItems = 10
  private static let maximumBytes = 10_000

  private var text = ""
  private var remaining = Self.maximumBytes

  package static func text(of value: JSONValue) -> String {
    var inspection = JSONInspection()
    inspection.show(value, depth: 0)
    return inspection.remaining < 0 ? inspection.text + "..." : inspection.text
  }

  private init() {}

  private mutating func add(_ part: String) {
    guard remaining >= 0 else { return }
    text += part
    remaining -= part.utf8.count
  }

  private mutating func show(_ value: JSONValue, depth: Int) {
    switch value {
    case .null: add("null")
    case .boolean(let flag): add(flag ? "true" : "false")
    case .number(let text): add(LiteralText.number(Double(text) ?? .nan))
    case .string(let text): show(text)
    case .array(let items): show(items, depth: depth)
    case .object(let members): show(members, depth: depth)
    }
  }

  private mutating func show(_ items: [JSONValue], depth: Int) {
    guard !items.isEmpty, depth < Self.maximumDepth else {
      return add(items.isEmpty ? "[]" : "[Array]")
    }
    add("[")
    for (index, item) in items.prefix(Self.maximumItems).enumerated() {
      if index > 0 { add(", ") }
      show(item, depth: depth + 1)
    }
    switch items.count - Self.maximumItems {
    case ...0: break
    case 1: add(", ... 1 more item")
    case let rest: add(", ... \(rest) more items")
    }
    add("]")
  }

  private mutating func show(_ members: [JSONValue.Member], depth: Int) {
    guard !members.isEmpty, depth < Self.maximumDepth else {
      return add(members.isEmpty ? "{}" : "[Object]")
    }
    for (index, member) in members.enumerated() where remaining >= 0 {
      add("\(index == 0 ? "{ " : ", ")\(member.name): ")
      show(member.value, depth: depth + 1)
    }
    add(" }")
  }

  /// Appends a string as `JSON.stringify` does.
  private mutating func show(_ string: String) {
    add("\"")
    for scalar in string.unicodeScalars where remaining >= 0 {
      switch scalar {
      case "\"": add(#"\""#)
      case "\\": add(#"\\"#)
      case "\u{8}": add(#"\b"#)
      case "\t": add(#"\t"#)
      case "\n": add(#"\n"#)
      case "\u{C}": add(#"\f"#)
      case "\r": add(#"\r"#)
      case "\0"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        add(#"\u"# + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
      default:
        text.unicodeScalars.append(scalar)
        remaining -= 1
      }
    }
    add("\"")
  }
}
