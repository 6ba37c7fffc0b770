import Cryptography

/// Identifies a response: the first 16 bytes of its SHA-256, the same on all servers.
struct ResponseMark: Equatable, Sendable {
  private let high: UInt64
  private let low: UInt64

  init(of body: [UInt8]) {
    let hash = SHA256.hash(body)
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    high = number(hash[..<8])
    low = number(hash[8..<16])
  }

  /// Creates a mark from its `text`, or returns nil for any other text.
  init?(_ text: Substring) {
    let digits = text.utf8.allSatisfy {
      UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
    }
    guard text.utf8.count == 32, digits, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits.
  var text: String {
    [high, low].map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
