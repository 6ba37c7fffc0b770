import Cryptography

/// What a picture is kept and served under: the SHA-256 of its bytes and its type, so that what a name
/// stands for never changes, and nobody can guess one.
package struct PictureName: Hashable, Sendable, CustomStringConvertible {
  /// 64 digits in lower-case hexadecimal.
  package let hash: String
  package let type: PictureType

  package init(of bytes: [UInt8], _ type: PictureType) {
    self.type = type
    hash = SHA256.hexadecimal(bytes)
  }

  /// Nil for what was never given out.
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
