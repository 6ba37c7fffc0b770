import Cryptography

/// What proves a session: the text behind `Authorization: Bearer`. The database keeps its SHA-256
/// only, so a stolen dump opens no session (R21).
package struct SessionToken: Hashable, Sendable {
  package let text: String

  /// Nil for what cannot be a token: empty, longer than 512 bytes, or beyond RFC 6750's `b64token`.
  package init?(bearer text: String) {
    guard (1...512).contains(text.utf8.count), text.utf8.allSatisfy(Self.isTokenByte) else {
      return nil
    }
    self.text = text
  }

  /// From the field's value: `Bearer` in any case, one or more spaces (RFC 9110, 11.4), the token.
  package init?(authorization value: ArraySlice<UInt8>) {
    let scheme = "bearer ".utf8
    guard value.count > scheme.count, zip(value, scheme).allSatisfy({ $0 | 0x20 == $1 }) else {
      return nil
    }
    let token = value.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    self.init(bearer: String(decoding: token, as: UTF8.self))
  }

  /// One that nobody has: 32 random bytes behind a mark that scanners for lost secrets can look for,
  /// and six characters that tell a mistyped or cut one from a token that is over.
  package init() {
    let random = Base64URL.encode(RandomBytes.make(32))
    text = Self.mark + random + Self.check(of: random)
  }

  static let mark = "sociograph_"

  private static func check(of random: String) -> String {
    String(Base64URL.encode(SHA256.hash(Array((mark + random).utf8))).prefix(6))
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~+/=".utf8.contains(byte)
    }
  }

  /// 32 bytes.
  package var hash: [UInt8] { SHA256.hash(Array(text.utf8)) }
}
