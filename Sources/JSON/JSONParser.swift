/// Parses a JSON text strictly by RFC 8259: one value, in time proportional to its size.
///
/// Invalid UTF-8, halves of surrogate pairs, control characters in strings, a byte order mark and
/// trailing bytes are errors.
package struct JSONParser {
  private let bytes: [UInt8]
  private let isASCII: Bool
  private var index = 0
  private var nesting = 0
  private let maximumNesting: Int

  /// Parses a text whose arrays and objects nest at most `maximumNesting` deep.
  ///
  /// - Parameter maximumNesting: at most 512, unless the thread has the stack for more, to parse,
  ///   write and free the value.
  package static func parse(
    _ bytes: [UInt8], maximumNesting: Int = 64, hasLargeStack: Bool = false
  ) throws(JSONError) -> JSONValue {
    let isASCII: Bool
    do {
      isASCII = try UTF8Span(validating: bytes.span).isKnownASCII
    } catch {
      throw JSONError(.invalidUTF8, offset: error.byteOffsets.lowerBound)
    }
    var parser = JSONParser(
      bytes: bytes, isASCII: isASCII,
      maximumNesting: hasLargeStack ? maximumNesting : min(maximumNesting, 512))
    let value = try parser.parseValue()
    parser.skipSpace()
    guard parser.index == bytes.count else { throw parser.unexpected() }
    return value
  }

  private init(bytes: [UInt8], isASCII: Bool, maximumNesting: Int) {
    self.bytes = bytes
    self.isASCII = isASCII
    self.maximumNesting = maximumNesting
  }

  /// The current byte, or NUL at the end. A NUL is not allowed anywhere in a text.
  private var byte: UInt8 { index < bytes.count ? bytes[index] : 0 }

  private mutating func skipSpace() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x0A, 0x0D, 0x09: index += 1
      default: return
      }
    }
  }

  private func unexpected() -> JSONError {
    index < bytes.count
      ? JSONError(.unexpectedByte(bytes[index]), offset: index)
      : JSONError(.unexpectedEnd, offset: index)
  }

  private mutating func expect(_ expected: UInt8) throws(JSONError) {
    guard byte == expected else { throw unexpected() }
    index += 1
  }

  // MARK: - Values

  private mutating func parseValue() throws(JSONError) -> JSONValue {
    skipSpace()
    switch byte {
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "{"): return try parseObject()
    case UInt8(ascii: "["): return try parseArray()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return .number(try parseNumber())
    case UInt8(ascii: "t"):
      try parseWord("true")
      return .boolean(true)
    case UInt8(ascii: "f"):
      try parseWord("false")
      return .boolean(false)
    case UInt8(ascii: "n"):
      try parseWord("null")
      return .null
    default: throw unexpected()
    }
  }

  private mutating func parseWord(_ word: String) throws(JSONError) {
    for expected in word.utf8 { try expect(expected) }
  }

  private mutating func descend() throws(JSONError) {
    nesting += 1
    if nesting > maximumNesting {
      throw JSONError(.nestedDeeperThan(maximumNesting), offset: index)
    }
    index += 1
    skipSpace()
  }

  private mutating func parseArray() throws(JSONError) -> JSONValue {
    try descend()
    var elements: [JSONValue] = []
    if byte != UInt8(ascii: "]") {
      elements.append(try parseValue())
      skipSpace()
      while byte == UInt8(ascii: ",") {
        index += 1
        elements.append(try parseValue())
        skipSpace()
      }
    }
    try expect(UInt8(ascii: "]"))
    nesting -= 1
    return .array(elements)
  }

  private mutating func parseObject() throws(JSONError) -> JSONValue {
    try descend()
    var members = MemberList()
    if byte != UInt8(ascii: "}") {
      members.append(try parseMember())
      skipSpace()
      while byte == UInt8(ascii: ",") {
        index += 1
        skipSpace()
        members.append(try parseMember())
        skipSpace()
      }
    }
    try expect(UInt8(ascii: "}"))
    nesting -= 1
    return .object(members.members)
  }

  private mutating func parseMember() throws(JSONError) -> JSONValue.Member {
    guard byte == UInt8(ascii: "\"") else { throw unexpected() }
    let name = try parseString()
    skipSpace()
    try expect(UInt8(ascii: ":"))
    return JSONValue.Member(name: name, value: try parseValue())
  }

  // MARK: - Numbers

  private mutating func parseNumber() throws(JSONError) -> String {
    let start = index
    if byte == UInt8(ascii: "-") { index += 1 }
    if byte == UInt8(ascii: "0") { index += 1 } else { try parseDigits() }
    if byte == UInt8(ascii: ".") {
      index += 1
      try parseDigits()
    }
    if byte | 0x20 == UInt8(ascii: "e") {
      index += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { index += 1 }
      try parseDigits()
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func parseDigits() throws(JSONError) {
    guard byte &- 0x30 < 10 else { throw unexpected() }
    while byte &- 0x30 < 10 { index += 1 }
  }

  // MARK: - Strings

  private mutating func parseString() throws(JSONError) -> String {
    index += 1
    let start = index
    skipPlain()
    switch byte {
    case UInt8(ascii: "\""):
      defer { index += 1 }
      // All of it is known to be UTF-8, and both ends are quotes.
      return String(
        copying: unsafe UTF8Span(
          unchecked: bytes.span.extracting(start..<index), isKnownASCII: isASCII))
    case UInt8(ascii: "\\"): return try parseEscapedString(from: start)
    default: throw unexpectedInString()
    }
  }

  /// Parses a string with escapes, from its start.
  private mutating func parseEscapedString(from start: Int) throws(JSONError) -> String {
    var text: [UInt8] = []
    // Its own length is not known yet.
    text.reserveCapacity(min(bytes.count - start, 1024))
    var plainStart = start
    while true {
      text.append(contentsOf: bytes[plainStart..<index])
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        let scalar = try parseEscape()
        if scalar.isASCII {
          text.append(UInt8(truncatingIfNeeded: scalar.value))
        } else {
          text.append(
            contentsOf: Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
        }
      default: throw unexpectedInString()
      }
      plainStart = index
      skipPlain()
    }
  }

  /// Advances to the next quote, backslash or control character.
  private mutating func skipPlain() {
    index = unsafe Self.plainEnd(bytes.span.bytes, from: index)
  }

  /// Returns the end of the plain text, which it scans eight bytes at a time.
  private static func plainEnd(_ bytes: RawSpan, from start: Int) -> Int {
    var index = start
    while index &+ 8 <= bytes.byteCount {
      let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      let plain = word.bytesBeforeEscape
      index &+= plain
      if plain < 8 { return index }
    }
    while index < bytes.byteCount {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
      index &+= 1
    }
    return index
  }

  private func unexpectedInString() -> JSONError {
    index < bytes.count ? JSONError(.controlCharacter, offset: index) : unexpected()
  }

  private mutating func parseEscape() throws(JSONError) -> Unicode.Scalar {
    let start = index
    index += 1
    let letter = byte
    guard index < bytes.count else { throw unexpected() }
    index += 1
    switch letter {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw JSONError(.invalidEscape, offset: start)
    }
    let unit = try parseFourDigits(start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, byte == UInt8(ascii: "\\"), index + 1 < bytes.count,
      bytes[index + 1] == UInt8(ascii: "u")
    else { throw JSONError(.loneSurrogate, offset: start) }
    let second = index
    index += 2
    let trailing = try parseFourDigits(second)
    guard trailing & 0xFC00 == 0xDC00,
      let scalar = Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + (trailing & 0x3FF))
    else { throw JSONError(.loneSurrogate, offset: start) }
    return scalar
  }

  private mutating func parseFourDigits(_ escape: Int) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte &- 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte &- 0x57
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte &- 0x37
      default: throw JSONError(.invalidEscape, offset: escape)
      }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }
}

/// Members in order; a repeated name replaces the value at its first place, in constant time.
///
/// Names are equal if their bytes are. Swift compares strings by canonical equivalence instead.
private struct MemberList {
  private(set) var members: [JSONValue.Member] = []
  private var places: [[UInt8]: Int] = [:]

  mutating func append(_ member: JSONValue.Member) {
    if members.count <= 8 {
      if let place = members.firstIndex(where: { $0.name.utf8.elementsEqual(member.name.utf8) }) {
        members[place] = member
      } else {
        members.append(member)
      }
      return
    }
    if places.isEmpty {
      for (place, known) in members.enumerated() { places[Array(known.name.utf8)] = place }
    }
    let name = Array(member.name.utf8)
    if let place = places[name] {
      members[place] = member
    } else {
      places[name] = members.count
      members.append(member)
    }
  }
}
