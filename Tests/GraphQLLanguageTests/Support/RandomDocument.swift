import OracleSupport

/// Random documents over the whole grammar, in an untidy hand, and ways to damage them.
struct RandomDocument {
  private var random: SeededGenerator
  private var tokens: [String] = []

  /// Whether operations, fragments and variables may have descriptions, and variables defaults
  /// over several lines.
  private let describesExecutables: Bool
  private var avoidsBlocks = false

  init(seed: UInt64, describesExecutables: Bool = true) {
    random = SeededGenerator(seed: seed)
    self.describesExecutables = describesExecutables
  }

  /// A document that parses, but for the few block strings in which three quotes meet.
  mutating func valid() -> String {
    tokens = []
    // The shorthand form only in front: behind `type A` its braces would be those of the type.
    if sometimes(20) { selectionSet(0) }
    for _ in 0..<number(tokens.isEmpty ? 1...3 : 0...2) { definition() }
    return spaced()
  }

  /// One that has been through something, and mostly does not.
  mutating func damaged() -> String {
    _ = valid()
    for _ in 0..<number(0...2) where !tokens.isEmpty {
      let place = number(0...tokens.count - 1)
      switch number(0...4) {
      case 0: tokens.remove(at: place)
      case 1: tokens.insert(tokens[place], at: number(0...tokens.count - 1))
      case 2: tokens.swapAt(place, number(0...tokens.count - 1))
      case 3: tokens[place] = pick(Self.strayTokens)
      default: tokens.insert(pick(Self.strayTokens), at: place)
      }
    }
    var characters = Array(spaced().unicodeScalars)
    for _ in 0..<number(0...2) where !characters.isEmpty {
      let place = number(0...characters.count - 1)
      switch number(0...4) {
      case 0: characters.remove(at: place)
      case 1: characters.insert(pick(Self.strayCharacters), at: place)
      case 2: characters[place] = pick(Self.strayCharacters)
      case 3: characters.removeLast(number(0...characters.count - 1) / 2)
      default: characters.insert(characters[number(0...characters.count - 1)], at: place)
      }
    }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: characters)
    return String(result)
  }

  private static let strayTokens = [
    "{", "}", "(", ")", "[", "]", ":", "!", "$", "&", "|", "=", "@", "...", "on", "true", "null",
    "extend", "fragment", "query", "type", "input", "enum", "directive", "schema", "repeatable",
    "implements", "1", "0", "-1.5", "1e", "0x1", "01", "1.", "-", ".5", "1.2.3", "\"on\"",
    "\"true\"",
    "\"\"\"on\"\"\"", "\"\\u{110000}\"", "\"\\uD83D\"", "\"\\uD83D\\uDE00\"", "\"\\u{1F600}\"",
    "\"a\nb\"",
    "\"open", "\"\"\"open", "\"\\x\"", "\"\\u12\"", "'", "..", "é", "%", "\u{0}", "\u{FFFF}", "😀",
    "FIELD",
    "subscription", "mutation", "<EOF>", "a1", "_", "__", "1a", "1_", "1é", "\"\\u{}\"",
    "\"\\u{FFFFFFFFF}\"",
    "\"\\u{000000041}\"", "\"\\u{41\"", "\"\\",
  ]

  private static let strayCharacters: [Unicode.Scalar] = [
    "{", "}", "(", ")", "[", "]", ":", "!", "$", "&", "|", "=", "@", ".", "\"", "\\", "#", ",", " ",
    "\n", "\r", "\t", "-", "+", "0", "9", "e", "E", "u", "_", "a", "Z", "'", "`", "~", "\u{0}",
    "\u{7}",
    "\u{7F}", "é", "\u{FEFF}", "😀", "\u{2028}", "\u{80}",
  ]

  // MARK: - Choices

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func pick<Item>(_ items: [Item]) -> Item {
    items[number(0...items.count - 1)]
  }

  private mutating func sometimes(_ percent: Int = 30) -> Bool { number(1...100) <= percent }

  private mutating func emit(_ token: String) { tokens.append(token) }

  private mutating func name() {
    emit(
      pick([
        "a", "b", "id", "name", "Type", "User", "on_", "__typename", "type", "query", "fragment",
        "input", "extend", "aRatherLongNameIndeedForAField", "repeatable", "A1_", "schema",
      ]))
  }

  /// Tokens in a row, with whatever may stand between them.
  private mutating func spaced() -> String {
    var text = sometimes(5) ? "\u{FEFF}" : ""
    for (index, token) in tokens.enumerated() {
      text += token
      let next = index + 1 < tokens.count ? tokens[index + 1] : ""
      let needsSpace =
        (token.utf8.last.map(isWord) ?? false) && (next.utf8.first.map(isWord) ?? false)
        || token.hasSuffix("\"") && next.hasPrefix("\"")
      guard needsSpace || sometimes(60) else { continue }
      text += pick([
        " ", " ", " ", "\n", "\n  ", "\r\n", "\r", ",", "\t", " , ", " # note é😀\n", "\n#\n", "  ",
        "\u{FEFF}",
      ])
    }
    return text
  }

  private func isWord(_ byte: UInt8) -> Bool {
    byte == 0x5F || byte == 0x2D || byte == 0x2E || (0x30...0x39).contains(byte)
      || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  // MARK: - Grammar

  private mutating func definition() {
    switch number(0...13) {
    case 0...5: operation()
    case 6: fragment()
    case 7: schema()
    case 8...12: type()
    default: directiveDefinition()
    }
  }

  private mutating func operation() {
    if describesExecutables, sometimes(20) { string() }
    emit(pick(["query", "mutation", "subscription"]))
    if sometimes(70) { name() }
    if sometimes(50) {
      avoidsBlocks = !describesExecutables
      defer { avoidsBlocks = false }
      emit("(")
      for _ in 0..<number(1...3) {
        if describesExecutables, sometimes(15) { string() }
        emit("$")
        name()
        emit(":")
        typeReference(0)
        if sometimes() {
          emit("=")
          value(0, constant: true)
        }
        directives(constant: true)
      }
      emit(")")
    }
    directives(constant: false)
    selectionSet(0)
  }

  private mutating func fragment() {
    if describesExecutables, sometimes(20) { string() }
    emit("fragment")
    name()
    emit("on")
    name()
    directives(constant: false)
    selectionSet(0)
  }

  private mutating func selectionSet(_ depth: Int) {
    emit("{")
    for _ in 0..<number(1...3) {
      switch number(0...9) {
      case 0:
        emit("...")
        name()
        directives(constant: false)
      case 1 where depth < 4:
        emit("...")
        if sometimes(60) {
          emit("on")
          name()
        }
        directives(constant: false)
        selectionSet(depth + 1)
      default:
        name()
        if sometimes(20) {
          emit(":")
          name()
        }
        arguments(constant: false)
        directives(constant: false)
        if depth < 4, sometimes(25) { selectionSet(depth + 1) }
      }
    }
    emit("}")
  }

  private mutating func arguments(constant: Bool) {
    guard sometimes(25) else { return }
    emit("(")
    for _ in 0..<number(1...4) {
      name()
      emit(":")
      value(0, constant: constant)
    }
    emit(")")
  }

  private mutating func directives(constant: Bool) {
    while sometimes(12) {
      emit("@")
      name()
      arguments(constant: constant)
    }
  }

  private mutating func value(_ depth: Int, constant: Bool) {
    switch number(0...(depth < 3 ? 11 : 8)) {
    case 0: emit(pick(["0", "-0", "1", "-12", "1234567890123456789012"]))
    case 1: emit(pick(["0.0", "-1.50", "1e10", "1E+5", "12.5e-3", "-0e0"]))
    case 2: emit(pick(["true", "false"]))
    case 3: emit("null")
    case 4...5: string()
    case 6 where !constant:
      emit("$")
      name()
    case 6...8: name()
    case 9:
      emit("[")
      for _ in 0..<number(0...3) { value(depth + 1, constant: constant) }
      emit("]")
    default:
      emit("{")
      for _ in 0..<number(0...3) {
        name()
        emit(":")
        value(depth + 1, constant: constant)
      }
      emit("}")
    }
  }

  private mutating func string() {
    let isBlock = sometimes() && !avoidsBlocks
    var text = ""
    for _ in 0..<pick([0, 1, 2, 3, 5, 8, 13, 40]) {
      text += pick(
        isBlock
          ? [
            "a", "Word ", " ", "  ", "\t", "\n", "\n  ", "\n    ", "\r\n", "\r", "\"", "\"\" ",
            "\\", "\\\"\"\"",
            "é", "😀", "#", "\u{7}", "\\n", "\n\n", "\u{85}", "\u{2028}",
          ]
          : [
            "a", "Word ", " ", "\t", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t",
            "\\u0041",
            "\\u00e9", "\\uD83D\\uDE00", "\\u{1F600}", "\\u{0}", "\\u001F", "é", "😀", "#", "\u{7F}",
            "\u{85}",
            "'", "{", "\u{1}",
          ])
    }
    if isBlock {
      // A quote or an odd backslash before the end would change where it is.
      emit("\"\"\"" + text + (text.hasSuffix("\"") || text.hasSuffix("\\") ? " " : "") + "\"\"\"")
    } else {
      emit("\"" + text + "\"")
    }
  }

  private mutating func typeReference(_ depth: Int) {
    if depth < 3, sometimes() {
      emit("[")
      typeReference(depth + 1)
      emit("]")
    } else {
      name()
    }
    if sometimes() { emit("!") }
  }

  private mutating func schema() {
    let isExtension = sometimes()
    if isExtension { emit("extend") } else if sometimes(20) { string() }
    emit("schema")
    directives(constant: true)
    emit("{")
    for _ in 0..<number(1...3) {
      emit(pick(["query", "mutation", "subscription"]))
      emit(":")
      name()
    }
    emit("}")
  }

  private mutating func type() {
    let isExtension = sometimes()
    if isExtension { emit("extend") } else if sometimes(30) { string() }
    let keyword = pick(["scalar", "type", "interface", "union", "enum", "input"])
    emit(keyword)
    name()
    if keyword == "type" || keyword == "interface", sometimes(40) {
      emit("implements")
      if sometimes(20) { emit("&") }
      name()
      while sometimes() {
        emit("&")
        name()
      }
    }
    if isExtension {
      emit("@")
      name()
    }
    directives(constant: true)
    switch keyword {
    case "type", "interface":
      if sometimes(80) { fieldDefinitions() }
    case "union":
      guard sometimes(80) else { break }
      emit("=")
      if sometimes(20) { emit("|") }
      name()
      while sometimes() {
        emit("|")
        name()
      }
    case "enum":
      guard sometimes(80) else { break }
      emit("{")
      for _ in 0..<number(1...3) {
        if sometimes(15) { string() }
        name()
        directives(constant: true)
      }
      emit("}")
    case "input":
      if sometimes(80) { inputValues("{", "}") }
    default: break
    }
  }

  private mutating func fieldDefinitions() {
    emit("{")
    for _ in 0..<number(1...3) {
      if sometimes(15) { string() }
      name()
      if sometimes() { inputValues("(", ")") }
      emit(":")
      typeReference(0)
      directives(constant: true)
    }
    emit("}")
  }

  private mutating func inputValues(_ open: String, _ close: String) {
    emit(open)
    for _ in 0..<number(1...3) {
      if sometimes(15) { string() }
      name()
      emit(":")
      typeReference(0)
      if sometimes() {
        emit("=")
        value(0, constant: true)
      }
      directives(constant: true)
    }
    emit(close)
  }

  private mutating func directiveDefinition() {
    if sometimes(30) { string() }
    emit("directive")
    emit("@")
    name()
    if sometimes() { inputValues("(", ")") }
    if sometimes() { emit("repeatable") }
    emit("on")
    if sometimes(20) { emit("|") }
    emit("FIELD")
    while sometimes() {
      emit("|")
      emit(pick(["QUERY", "OBJECT", "ENUM_VALUE", "INPUT_FIELD_DEFINITION", "SCHEMA"]))
    }
  }
}
