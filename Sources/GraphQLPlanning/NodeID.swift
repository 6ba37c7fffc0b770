/// The wire form of a node's ID: the bytes of the 64-bit number, most significant first and without
/// leading zeros, in base64url without padding. The low byte of the number is the type's tag.
public enum NodeID {
  /// Decodes a text; nil unless it is exactly what `append` writes for a positive number.
  package static func decode(_ text: String) -> Int64? {
    var text = text
    return text.withUTF8 { bytes in
      guard (2...11).contains(bytes.count) else { return nil }
      var bits: UInt64 = 0
      for index in 0..<bytes.count {
        let value = Base64URL.value(of: unsafe bytes[index])
        guard value < 64 else { return nil }
        // The 11th character has the last 4 bits, and 2 to spare.
        if index == 10 { return ending(bits, value) }
        bits = bits << 6 | UInt64(value)
      }
      // 4 characters carry 3 bytes; what is left over must be zero.
      let spare = bytes.count * 6 % 8
      guard bytes.count % 4 != 1, bits & (1 << UInt64(spare) &- 1) == 0 else { return nil }
      let number = bits >> UInt64(spare)
      let byteCount = bytes.count * 6 / 8
      guard number > 0, number <= UInt64(Int64.max), number >> UInt64((byteCount - 1) * 8) != 0
      else { return nil }
      return Int64(number)
    }
  }

  /// Returns the number of 8 bytes whose first 60 bits are given, with the last character's bits.
  private static func ending(_ bits: UInt64, _ value: UInt8) -> Int64? {
    guard value & 3 == 0, bits >> 52 != 0, bits >> 59 == 0 else { return nil }
    return Int64(bits << 4 | UInt64(value >> 2))
  }

  package static func tag(of id: Int64) -> Int { Int(id & 255) }

  /// Appends the text of an ID. It is public, so that other modules inline it.
  @inlinable @inline(__always)
  public static func append(_ id: Int64, to append: (UInt8) -> Void) {
    let number = UInt64(bitPattern: id)
    var shift = (64 - number.leadingZeroBitCount + 7) / 8 * 8 - 6
    while shift >= 0 {
      append(Base64URL.character(Int(number >> UInt64(shift) & 63)))
      shift -= 6
    }
    if shift > -6 { append(Base64URL.character(Int(number << UInt64(-shift) & 63))) }
  }

  package static func encode(_ id: Int64) -> String {
    var bytes: [UInt8] = []
    append(id) { bytes.append($0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Base64url by RFC 4648, section 5, without padding.
public enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (index, character) in alphabet.enumerated() { values[Int(character)] = UInt8(index) }
    return values
  }()

  @inlinable static func character(_ value: Int) -> UInt8 {
    switch value {
    case ..<26: UInt8(ascii: "A") &+ UInt8(truncatingIfNeeded: value)
    case ..<52: UInt8(ascii: "a") &+ UInt8(truncatingIfNeeded: value &- 26)
    case ..<62: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value &- 52)
    case 62: UInt8(ascii: "-")
    default: UInt8(ascii: "_")
    }
  }

  /// Returns the value of a character; 255 for a byte outside of the alphabet.
  static func value(of character: UInt8) -> UInt8 { values[Int(character)] }

  package static func append(_ bytes: [UInt8], to append: (UInt8) -> Void) {
    var index = 0
    while index < bytes.count {
      let take = min(3, bytes.count - index)
      var group = 0
      for offset in 0..<3 {
        group = group << 8 | (offset < take ? Int(bytes[index + offset]) : 0)
      }
      for character in 0...take {
        append(alphabet[group >> (18 - character * 6) & 63])
      }
      index += take
    }
  }

  /// Decodes a text; nil for characters outside of the alphabet, an impossible length or excess
  /// bits.
  package static func decode(_ text: String) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count * 3 / 4)
    var bits = 0
    var bitCount = 0
    for character in text.utf8 {
      let value = values[Int(character)]
      guard value < 64 else { return nil }
      bits = (bits << 6 | Int(value)) & 0xFFFF
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> bitCount))
      }
    }
    guard text.utf8.count % 4 != 1, bits & (1 << bitCount - 1) == 0 else { return nil }
    return result
  }
}
