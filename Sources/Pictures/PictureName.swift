import Cryptography

/// What a picture is kept and served under: the SHA-256 of its bytes and its type, so that what a name
/// stands for never changes, and nobody can guess one.
package struct PictureName: Hashable, Sendable, CustomStringConvertible {
  /// 64 digits in lower-case hexadecimal.
  package let hash: String
  package let type: PictureType

  package init(of bytes: [UInt8], _ type: PictureType) {
    self.type = type
    let digits = Array("0123456789abcdef".utf8)
    let text = SHA256.hash(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    hash = String(decoding: text, as: UTF8.self)
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
