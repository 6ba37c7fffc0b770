/// What a proxy says of its client before the first byte of the client: the PROXY protocol, versions
/// 1 and 2 (HAProxy's `proxy-protocol.txt`).
struct ProxyPreamble {
  enum Outcome: Equatable {
    case incomplete
    case malformed
    /// - Parameters:
    ///   - count: the number of bytes that belong to it.
    ///   - client: the sender; nil if the proxy itself asks, for a health check, or does not know.
    case complete(count: Int, client: HTTPPeer?)
  }

  /// The longest that is read. The standard's longest line is 107 bytes; version 2 has extensions.
  static let maximumBytes = 4096

  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]

  /// Reads the first bytes of a connection.
  static func read(_ bytes: [UInt8]) -> Outcome {
    let begun = bytes.prefix(signature.count)
    if begun.elementsEqual(signature.prefix(begun.count)) { return readBinary(bytes) }
    return readText(bytes)
  }

  /// Version 1: `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443\r\n`.
  private static func readText(_ bytes: [UInt8]) -> Outcome {
    let word = Array("PROXY ".utf8)
    guard bytes.prefix(word.count).elementsEqual(word.prefix(bytes.count)) else {
      return .malformed
    }
    guard let end = bytes.prefix(107).firstIndex(of: 0x0A) else {
      return bytes.count < 107 ? .incomplete : .malformed
    }
    guard end > 0, bytes[end - 1] == 0x0D else { return .malformed }
    let words = bytes[..<(end - 1)].split(separator: 0x20, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard words.count > 1 else { return .malformed }
    if words[1] == "UNKNOWN" { return .complete(count: end + 1, client: nil) }
    guard words.count == 6, let client = HTTPPeer(address: words[2]),
      HTTPPeer(address: words[3]) != nil, words[4...].allSatisfy({ UInt16($0) != nil })
    else { return .malformed }
    let isFour = if case .ipv4 = client { true } else { false }
    // An IPv6 address may be that of an IPv4 client.
    guard words[1] == "TCP6" || words[1] == "TCP4" && isFour else { return .malformed }
    return .complete(count: end + 1, client: client)
  }

  /// Version 2: the signature, a version and command, a family, a length, and addresses.
  private static func readBinary(_ bytes: [UInt8]) -> Outcome {
    guard bytes.count >= 16 else { return .incomplete }
    let (kind, family) = (bytes[12], bytes[13])
    let count = 16 + Int(bytes[14]) << 8 + Int(bytes[15])
    guard kind >> 4 == 2, kind & 0xF <= 1, count <= maximumBytes else { return .malformed }
    guard bytes.count >= count else { return .incomplete }
    // LOCAL: the proxy itself.
    guard kind & 0xF == 1 else { return .complete(count: count, client: nil) }
    func number(_ range: Range<Int>) -> UInt64 {
      bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
    }
    switch family {
    case 0x11, 0x12:
      guard count >= 16 + 12 else { return .malformed }
      return .complete(count: count, client: .ipv4(UInt32(truncatingIfNeeded: number(16..<20))))
    case 0x21, 0x22:
      guard count >= 16 + 36 else { return .malformed }
      return .complete(
        count: count, client: HTTPPeer(high: number(16..<24), low: number(24..<32)))
    default:
      // A Unix socket, or a family that is not known.
      return .complete(count: count, client: nil)
    }
  }
}
