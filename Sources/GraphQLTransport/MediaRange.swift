/// A media type with parameters, as in `Accept` and `Content-Type` (RFC 9110, 8.3.1 and 12.5.1).
struct MediaRange: Equatable {
  /// The type in lower case, such as `application/json`.
  var type: String
  /// The charset in lower case, without quotes.
  var charset: String?
  /// The quality in thousandths.
  var quality = 1000

  /// Parses a range; nil if it is malformed. Other parameters are ignored.
  init?(_ text: Substring) {
    let parts = Self.split(text, at: ";")
    guard let first = parts.first else { return nil }
    type = Self.trim(first).lowercased()
    guard type.utf8.allSatisfy(Self.isTypeByte), type.split(separator: "/").count == 2 else {
      return nil
    }
    for (name, value) in Self.parameters(parts.dropFirst()) {
      switch name {
      case "charset": charset = value.lowercased()
      case "q": quality = Self.thousandths(value) ?? 0
      default: continue
      }
    }
  }

  /// Returns the first parameter of this name, given in lower case, behind the value of a header field.
  static func parameter(_ name: String, of field: String) -> String? {
    parameters(split(field[...], at: ";").dropFirst()).first { $0.name == name }
      .map { String($0.value) }
  }

  /// Returns names in lower case, with values without quotes.
  private static func parameters(
    _ parts: ArraySlice<Substring>
  ) -> [(name: String, value: Substring)] {
    parts.compactMap { part in
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { return nil }
      var value = trim(pair[1])
      if value.hasPrefix("\""), value.hasSuffix("\""), value.utf8.count > 1 {
        value = value.dropFirst().dropLast()
      }
      return (trim(pair[0]).lowercased(), value)
    }
  }

  var isUTF8: Bool { charset.map { $0 == "utf-8" || $0 == "utf8" } ?? true }

  /// Splits a text outside of quoted strings, so that a comma in a parameter does not separate.
  static func split(_ text: Substring, at separator: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var index = text.startIndex
    while index < text.endIndex {
      let character = text[index]
      if character == "\"" {
        isQuoted.toggle()
      } else if character == "\\", isQuoted {
        text.formIndex(after: &index)
        if index == text.endIndex { break }
      } else if character == separator, !isQuoted {
        parts.append(text[start..<index])
        start = text.index(after: index)
      }
      text.formIndex(after: &index)
    }
    parts.append(text[start...])
    return parts
  }

  private static func trim(_ text: Substring) -> Substring {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }

  private static func isTypeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "*"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Returns 800 for `0.8`; at most three decimals are allowed.
  private static func thousandths(_ text: Substring) -> Int? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, whole == "0" || whole == "1" else { return nil }
    var value = whole == "1" ? 1000 : 0
    if parts.count == 2 {
      guard parts[1].utf8.count <= 3 else { return nil }
      var unit = 100
      for byte in parts[1].utf8 {
        guard byte &- 0x30 < 10 else { return nil }
        value += Int(byte - 0x30) * unit
        unit /= 10
      }
    }
    return value <= 1000 ? value : nil
  }
}
