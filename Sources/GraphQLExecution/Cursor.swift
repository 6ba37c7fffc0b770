import GraphQLPlanning

/// A page position: the sort keys of one element in PostgreSQL's binary form, signed.
///
/// In base64url: for each key its length (2 bytes, 0xFFFF for null) and its bytes, then a signature
/// of 16 bytes. The signature includes the order that the keys belong to, so a cursor of another
/// list or order is invalid.
struct Cursor {
  /// Longer keys are cut; what is indexed is far shorter.
  static let maximumKeyBytes = 0xFFFE
  private static let maximumTextBytes = 200_000

  /// The sort keys, each nil for a null.
  let keys: [[UInt8]?]

  /// Decodes a cursor, or returns nil if the text is not a cursor of this order.
  init?(_ text: String, order: UInt32, signer: CursorSigner) {
    guard text.utf8.count <= Self.maximumTextBytes, var bytes = Base64URL.decode(text),
      bytes.count >= CursorSigner.byteCount
    else { return nil }
    let given = Array(bytes.suffix(CursorSigner.byteCount))
    bytes.removeLast(CursorSigner.byteCount)
    let length = bytes.count
    Self.append(signer, to: &bytes, order: order)
    // Takes as long wherever they differ.
    guard zip(bytes[length...], given).reduce(0, { $0 | ($1.0 ^ $1.1) }) == 0 else { return nil }
    var keys: [[UInt8]?] = []
    var index = 0
    while index < length {
      guard index + 2 <= length else { return nil }
      let size = Int(bytes[index]) << 8 | Int(bytes[index + 1])
      index += 2
      if size == 0xFFFF {
        keys.append(nil)
        continue
      }
      guard size <= length - index else { return nil }
      keys.append(Array(bytes[index..<index + size]))
      index += size
    }
    self.keys = keys
  }

  /// Appends the signature to the bytes of all sort keys.
  static func append(_ signer: CursorSigner, to bytes: inout [UInt8], order: UInt32) {
    let length = bytes.count
    for shift in [24, 16, 8, 0] as [UInt32] {
      bytes.append(UInt8(truncatingIfNeeded: order >> shift))
    }
    let signature = signer.signature(of: bytes)
    bytes.removeLast(bytes.count - length)
    bytes += signature
  }
}
