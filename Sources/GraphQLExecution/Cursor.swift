import GraphQLPlanning

/// A page position: the sort keys of one element in PostgreSQL's binary form, and the order they are
/// keys of. `order (4 bytes), then for each key its length (2 bytes, 0xFFFF for null) and bytes`, in
/// base64url.
struct Cursor {
  /// Longer keys are cut: a text that long pages by its beginning.
  static let maximumKeyBytes = 1024

  /// Nil for each null key.
  let keys: [[UInt8]?]

  /// Nil for text that is no cursor of this order.
  init?(_ text: String, order: UInt32) {
    guard text.utf8.count <= 4096, let bytes = Base64URL.decode(text), bytes.count >= 4 else {
      return nil
    }
    let found = bytes[0..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard found == order else { return nil }
    var keys: [[UInt8]?] = []
    var index = 4
    while index < bytes.count {
      guard index + 2 <= bytes.count else { return nil }
      let length = Int(bytes[index]) << 8 | Int(bytes[index + 1])
      index += 2
      if length == 0xFFFF {
        keys.append(nil)
        continue
      }
      guard length <= bytes.count - index else { return nil }
      keys.append(Array(bytes[index..<index + length]))
      index += length
    }
    self.keys = keys
  }

  /// Starts the bytes that base64url makes into text.
  static func begin(order: UInt32, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    for shift in [24, 16, 8, 0] as [UInt32] {
      bytes.append(UInt8(truncatingIfNeeded: order >> shift))
    }
  }
}
