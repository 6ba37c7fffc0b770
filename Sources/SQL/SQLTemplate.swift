/// A piece of SQL written in the schema, cut at the places where a statement fills it in.
///
/// Plain PostgreSQL but for qualifiers (`this.`, `edge.`, `parent.` and names of joins) and
/// variables (`:viewer`, `:filter.near.radius`, `:kinds...`). Casts (`::`), string literals, quoted
/// identifiers and comments are left as they are.
package struct SQLTemplate: Sendable, Hashable {
  package enum Piece: Sendable, Hashable {
    case text(String)
    /// A name before a dot, or `this` / `edge` after `AS`: an alias if the scope knows it.
    case qualifier(String)
    /// `:name.path`; `isSplice` when it ends in three dots.
    case variable([String], isSplice: Bool)
  }

  package let source: String
  package let pieces: [Piece]

  package init(_ source: String) {
    self.source = source
    var scanner = TemplateScanner(Array(source.utf8))
    pieces = scanner.scan()
  }

  package var variables: [[String]] {
    pieces.compactMap { if case .variable(let path, _) = $0 { path } else { nil } }
  }

  package func mentions(variable name: String) -> Bool {
    variables.contains { $0.first == name }
  }

  /// The variable, when the template is nothing else.
  package var soleVariable: [String]? {
    if pieces.count == 1, case .variable(let path, isSplice: false) = pieces[0] {
      path
    } else {
      nil
    }
  }

  /// Whether evaluating it can cost more than reading a column: it contains a sub-select or a call.
  package var isExpensive: Bool {
    pieces.contains { if case .text(let text) = $0 { text.contains("(") } else { false } }
  }

  /// Cut at the commas outside parentheses.
  package func splitAtCommas() -> [SQLTemplate] {
    var parts: [String] = []
    var current = ""
    var depth = 0
    var quote: Character?
    for character in source {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "(" || character == "[" {
        depth += 1
      } else if character == ")" || character == "]" {
        depth -= 1
      } else if character == ",", depth == 0 {
        parts.append(current)
        current = ""
        continue
      }
      current.append(character)
    }
    parts.append(current)
    return parts.map { SQLTemplate($0.trimmingSpaces()) }
  }
}

extension String {
  package func trimmingSpaces() -> String {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\r" }
    guard let start = firstIndex(where: { !isSpace($0) }),
      let end = lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(self[start...end])
  }
}

private struct TemplateScanner {
  let bytes: [UInt8]
  var index = 0
  var textStart = 0
  var pieces: [SQLTemplate.Piece] = []
  /// The previous token was the keyword AS.
  var afterAs = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func byte(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }

  mutating func flushText(upTo end: Int) {
    if end > textStart {
      pieces.append(.text(String(decoding: bytes[textStart..<end], as: UTF8.self)))
    }
  }

  mutating func scan() -> [SQLTemplate.Piece] {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        skipQuoted(bytes[index])
        afterAs = false
      case UInt8(ascii: "-") where byte(index + 1) == UInt8(ascii: "-"):
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
      case UInt8(ascii: "/") where byte(index + 1) == UInt8(ascii: "*"):
        index += 2
        while index < bytes.count,
          !(bytes[index] == UInt8(ascii: "*") && byte(index + 1) == UInt8(ascii: "/"))
        { index += 1 }
        index += 2
      case UInt8(ascii: ":") where byte(index + 1) == UInt8(ascii: ":"):
        index += 2
      case UInt8(ascii: ":") where isNameStart(byte(index + 1)):
        scanVariable()
        afterAs = false
      case let first where isNameStart(first):
        scanName()
      case let other:
        if !isSpace(other) { afterAs = false }
        index += 1
      }
    }
    flushText(upTo: bytes.count)
    return pieces
  }

  mutating func skipQuoted(_ quote: UInt8) {
    index += 1
    while index < bytes.count {
      defer { index += 1 }
      guard bytes[index] == quote else { continue }
      if byte(index + 1) == quote { index += 1 } else { return }
    }
  }

  mutating func scanVariable() {
    flushText(upTo: index)
    index += 1
    var path = [takeName()]
    while byte(index) == UInt8(ascii: "."), isNameStart(byte(index + 1)) {
      index += 1
      path.append(takeName())
    }
    var isSplice = false
    if byte(index) == UInt8(ascii: "."), byte(index + 1) == UInt8(ascii: "."),
      byte(index + 2) == UInt8(ascii: ".")
    {
      isSplice = true
      index += 3
    }
    pieces.append(.variable(path, isSplice: isSplice))
    textStart = index
  }

  mutating func scanName() {
    let start = index
    let followsDot = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
    let name = takeName()
    let isAlias =
      !followsDot && byte(index) == UInt8(ascii: ".")
      || afterAs && (name == "this" || name == "edge")
    afterAs = name.lowercased() == "as"
    if isAlias {
      flushText(upTo: start)
      pieces.append(.qualifier(name))
      textStart = index
    }
  }

  mutating func takeName() -> String {
    let start = index
    while index < bytes.count, isNameStart(bytes[index]) || isDigit(bytes[index]) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  func isNameStart(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_")
      || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
      || byte >= 0x80
  }

  func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x09 && byte <= 0x0D }
}
