/// What cursors are sealed with, so that one that was changed or made up is told from one that was
/// given out (R16). All servers over one database share it.
///
/// The seal is SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012): a keyed hash made for texts
/// as short as these, in a twentieth of the time HMAC takes.
package struct CursorKey: Sendable {
  private let key: (UInt64, UInt64)

  /// From at least 16 secret bytes; those after the 16th have no effect.
  package init?(bytes: [UInt8]) {
    guard bytes.count >= 16 else { return nil }
    key = (Self.word(bytes, 0), Self.word(bytes, 8))
  }

  /// One that no other process has.
  package init() {
    var random = SystemRandomNumberGenerator()
    key = (random.next(), random.next())
  }

  /// The seal of these bytes.
  func tag(_ bytes: some RandomAccessCollection<UInt8>) -> (UInt64, UInt64) {
    var state = State(key)
    var word: UInt64 = 0
    var shift: UInt64 = 0
    for byte in bytes {
      word |= UInt64(byte) << shift
      shift += 8
      if shift == 64 {
        state.absorb(word)
        (word, shift) = (0, 0)
      }
    }
    state.absorb(word | UInt64(truncatingIfNeeded: bytes.count) << 56)
    return state.finish()
  }

  private static func word(_ bytes: [UInt8], _ start: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
  }

  private struct State {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64

    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736f_6d65_7073_6575
      v1 = key.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
      v2 = key.0 ^ 0x6c79_6765_6e65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> (UInt64, UInt64) {
      v2 ^= 0xee
      for _ in 0..<4 { round() }
      let first = v0 ^ v1 ^ v2 ^ v3
      v1 ^= 0xdd
      for _ in 0..<4 { round() }
      return (first, v0 ^ v1 ^ v2 ^ v3)
    }

    private mutating func round() {
      v0 = v0 &+ v1
      v1 = rotate(v1, 13) ^ v0
      v0 = rotate(v0, 32)
      v2 = v2 &+ v3
      v3 = rotate(v3, 16) ^ v2
      v0 = v0 &+ v3
      v3 = rotate(v3, 21) ^ v0
      v2 = v2 &+ v1
      v1 = rotate(v1, 17) ^ v2
      v2 = rotate(v2, 32)
    }

    private func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
      word << count | word >> (64 - count)
    }
  }
}
