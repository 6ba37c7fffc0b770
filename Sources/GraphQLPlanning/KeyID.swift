/// The wire form of the ID of an object that is found by its table's key: base64url without padding
/// of the type's tag and of the key's values as PostgreSQL writes them. The tag and the length of
/// each value but the last are in front, in groups of 7 bits, the lowest first; the high bit says
/// that another group follows.
package struct KeyID {
  /// The type's tag.
  package let tag: Int
  private let bytes: ArraySlice<UInt8>

  /// The greatest tag.
  package static let maximumTag = 65535

  /// Decodes a text; nil unless a tag is at its beginning.
  package init?(_ text: String) {
    guard let bytes = Base64URL.decode(text) else { return nil }
    var rest = bytes[...]
    guard let tag = Self.number(&rest), (1...Self.maximumTag).contains(tag) else { return nil }
    self.tag = tag
    self.bytes = rest
  }

  /// Returns the values of a key of so many columns; nil unless the ID has that many, in UTF-8 and
  /// without U+0000.
  package func values(_ count: Int) -> [String]? {
    var rest = bytes
    var values: [String] = []
    for place in 0..<max(count, 0) {
      var length = rest.count
      if place < count - 1 {
        guard let written = Self.number(&rest), written <= rest.count else { return nil }
        length = written
      }
      let value = rest.prefix(length)
      guard !value.contains(0), let text = String(validating: value, as: UTF8.self) else {
        return nil
      }
      values.append(text)
      rest = rest.dropFirst(length)
    }
    return values
  }

  package static func encode(_ tag: Int, _ values: [String]) -> String {
    var text: [UInt8] = []
    var encoder = Base64URLEncoder()
    append(tag) { byte in encoder.append(byte) { text.append($0) } }
    for (place, value) in values.enumerated() {
      if place < values.count - 1 {
        append(value.utf8.count) { byte in encoder.append(byte) { text.append($0) } }
      }
      for byte in value.utf8 { encoder.append(byte) { text.append($0) } }
    }
    encoder.finish { text.append($0) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends a number that is not negative.
  package static func append(_ number: Int, to append: (UInt8) -> Void) {
    var rest = UInt(bitPattern: number)
    while rest > 127 {
      append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Takes a number below 2^28 from the beginning; nil if there is none, or if it has a group too
  /// many.
  private static func number(_ bytes: inout ArraySlice<UInt8>) -> Int? {
    var number = 0
    for shift in stride(from: 0, to: 28, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      number |= Int(byte & 127) << shift
      if byte < 128 { return byte == 0 && shift > 0 ? nil : number }
    }
    return nil
  }
}

/// Writes bytes as base64url without padding, one by one.
package struct Base64URLEncoder {
  private var bits = 0
  private var bitCount = 0

  package init() {}

  package mutating func append(_ byte: UInt8, to append: (UInt8) -> Void) {
    bits = (bits << 8 | Int(byte)) & 0xFFFF
    bitCount += 8
    while bitCount >= 6 {
      bitCount -= 6
      append(Base64URL.character(bits >> bitCount & 63))
    }
  }

  /// Writes what is left over. Call it once.
  package mutating func finish(to append: (UInt8) -> Void) {
    if bitCount > 0 { append(Base64URL.character(bits << (6 - bitCount) & 63)) }
    bitCount = 0
  }
}
