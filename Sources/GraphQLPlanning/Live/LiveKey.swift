/// The key under which a change of a row with a value is reported: a hash of the value's text, FNV-1a
/// with 64 bits. If two values have one key, a query runs once more than needed.
package struct LiveKey {
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package mutating func append(_ byte: UInt8) {
    hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
  }

  package var value: Int64 { Int64(bitPattern: hash) }

  package static func of(_ bytes: [UInt8]) -> Int64 {
    var key = LiveKey()
    for byte in bytes { key.append(byte) }
    return key.value
  }
}
