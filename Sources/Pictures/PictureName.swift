import Cryptography

/// The name that a picture is stored and served under: the SHA-256 of its bytes and its type, and
/// between them the form, if it is a smaller one. So the content of a name never changes, and names
/// cannot be guessed.
///
///     5f2c...e1.jpg  5f2c...e1-w320.jpg  5f2c...e1-s160.jpg
package struct PictureName: Hashable, Sendable, CustomStringConvertible {
  /// 64 lower-case hexadecimal digits: of the bytes of the picture, also for a form of it.
  package let hash: String
  package let type: PictureType
  /// The smaller form; nil for the picture itself.
  package let form: PictureForm?

  package init(of bytes: [UInt8], _ type: PictureType) {
    self.init(hash: SHA256.hexadecimal(bytes), type, form: nil)
  }

  private init(hash: String, _ type: PictureType, form: PictureForm?) {
    self.hash = hash
    self.type = type
    self.form = form
  }

  /// Parses a name; nil if it is malformed.
  package init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count > 65,
      bytes[..<64].allSatisfy({
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }),
      let dot = bytes.firstIndex(of: UInt8(ascii: ".")),
      let type = PictureType(rawValue: String(decoding: bytes[(dot + 1)...], as: UTF8.self))
    else { return nil }
    var form: PictureForm?
    if dot > 64 {
      form = PictureForm(String(decoding: bytes[65..<dot], as: UTF8.self))
      guard bytes[64] == UInt8(ascii: "-"), form != nil else { return nil }
    }
    self.init(hash: String(decoding: bytes[..<64], as: UTF8.self), type, form: form)
  }

  /// The name of the picture that this is a form of, or of itself.
  package var whole: PictureName { PictureName(hash: hash, type, form: nil) }

  package func form(_ form: PictureForm) -> PictureName {
    PictureName(hash: hash, type, form: form)
  }

  /// The name without its type.
  package var stem: String { form.map { "\(hash)-\($0)" } ?? hash }

  package var description: String { "\(stem).\(type.rawValue)" }
}
