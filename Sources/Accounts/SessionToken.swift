import Cryptography

/// The secret of a session: the text after `Authorization: Bearer`. The database stores only its
/// SHA-256, so a stolen dump contains no usable token.
package struct SessionToken: Hashable, Sendable {
  package let text: String

  static let maximumBytes = 512
  /// The maximum size of a JSON Web Token, which contains its claims.
  static let maximumSignedBytes = 8 << 10

  /// Creates a token; nil for a text that cannot be one: empty, too long, or outside of RFC 6750's
  /// `b64token`.
  package init?(bearer text: String) {
    self.init(Array(text.utf8)[...])
  }

  /// Returns whether the field's value is longer than one with a token can be.
  package static func isTooLong(authorization value: ArraySlice<UInt8>) -> Bool {
    let scheme = "bearer ".utf8.count
    let isSigned = value.dropFirst(scheme).starts(with: signedMark)
    return value.count > scheme + (isSigned ? maximumSignedBytes : maximumBytes)
  }

  /// Parses the field's value: `Bearer` in any case, one or more spaces (RFC 9110, 11.4), the
  /// token.
  package init?(authorization value: ArraySlice<UInt8>) {
    let scheme: StaticString = "bearer "
    let length = scheme.utf8CodeUnitCount
    guard value.count > length else { return nil }
    var start = value.startIndex
    let isBearer = scheme.withUTF8Buffer { scheme in
      (0..<length).allSatisfy { unsafe value[start + $0] | 0x20 == scheme[$0] }
    }
    guard isBearer else { return nil }
    start += length
    while start < value.endIndex, value[start] == UInt8(ascii: " ") { start += 1 }
    self.init(value[start...])
  }

  private init?(_ bytes: ArraySlice<UInt8>) {
    let maximum = bytes.starts(with: Self.signedMark) ? Self.maximumSignedBytes : Self.maximumBytes
    guard (1...maximum).contains(bytes.count) else { return nil }
    for byte in bytes where !Self.isTokenByte(byte) { return nil }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// Creates a new token: 32 random bytes after a prefix that secret scanners can search for, and
  /// six characters of checksum that distinguish a mistyped or truncated token from an expired one.
  package init() {
    let random = Base64URL.encode(RandomBytes.make(32))
    text = Self.mark + random + Self.check(of: random)
  }

  /// Whether it has the form of a JSON Web Token, which begins as every JSON object does in
  /// base64url. Our own tokens never do.
  package var isSigned: Bool {
    text.utf8.starts(with: Self.signedMark) && text.utf8.count { $0 == UInt8(ascii: ".") } == 2
  }

  private static let signedMark = Array("eyJ".utf8)

  static let mark = "sociograph_"

  private static func check(of random: String) -> String {
    String(Base64URL.encode(SHA256.hash(Array((mark + random).utf8))).prefix(6))
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
      UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  /// The SHA-256 of the token: 32 bytes.
  package var hash: [UInt8] { SHA256.hash(Array(text.utf8)) }
}
