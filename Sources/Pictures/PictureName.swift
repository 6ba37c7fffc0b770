import Cryptography

/// The name that a picture is stored and served under: the SHA-256 of its bytes and its type. So
/// the content of a name never changes, and names cannot be guessed.
package struct PictureName: Hashable, Sendable, CustomStringConvertible {
  /// 64 lower-case hexadecimal digits.
  package let hash: String
  package let type: PictureType

  package init(of bytes: [UInt8], _ type: PictureType) {
    self.type = type
    hash = SHA256.hexadecimal(bytes)
  }

  /// Parses a name; nil if it is malformed.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count > 65, bytes[64] == UInt8(ascii: "."),
      bytes[..<64].allSatisfy({
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }),
      let type = PictureType(rawValue: String(decoding: bytes[65...], as: UTF8.self))
    else { return nil }
    hash = String(decoding: bytes[..<64], as: UTF8.self)
    self.type = type
  }

  package var description: String { "\(hash).\(type.rawValue)" }
}
