/// Bytes as pairs of hexadecimal digits (RFC 4648, 8).
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns two lower-case digits for each byte.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Returns the bytes of digits in either case, or nil if the text is anything but pairs of digits.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for byte in text.utf8 {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? bytes : nil
  }
}

/// Bytes as base64 with padding (RFC 4648, 4).
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let text = Base64Digits.encode(bytes, "+/")
    return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
  }
}

/// Bytes in the URL-safe alphabet without padding (RFC 4648, 5).
package enum Base64URL {
  package static func encode(_ bytes: [UInt8]) -> String { Base64Digits.encode(bytes, "-_") }

  /// Returns whether `encode` produces this text: only characters of the alphabet, and no bit set
  /// after the last byte.
  static func isCanonical(_ text: some Collection<UInt8>) -> Bool {
    var last: UInt8 = 0
    for byte in text {
      guard let value = value(of: byte) else { return false }
      last = value
    }
    switch text.count % 4 {
    case 0: return true
    case 2: return last & 15 == 0
    case 3: return last & 3 == 0
    default: return false
    }
  }

  /// Returns the bytes of a text that `encode` produces; nil for any other text.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    guard isCanonical(text.utf8) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var bits = 0
    var last: UInt32 = 0
    for byte in text.utf8 {
      guard let value = value(of: byte) else { return nil }
      last = (last & 0x3FFF) << 6 | UInt32(value)
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: last >> UInt32(bits)))
    }
    return bytes
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

private enum Base64Digits {
  private static let common = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// - Parameter last: the last two digits of the alphabet.
  static func encode(_ bytes: [UInt8], _ last: StaticString) -> String {
    let alphabet = common + Array("\(last)".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 4 / 3 + 3)
    var bits = 0
    var value: UInt32 = 0
    for byte in bytes {
      value = (value & 0xFF_FFFF) << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(value >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(value << UInt32(6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }
}
