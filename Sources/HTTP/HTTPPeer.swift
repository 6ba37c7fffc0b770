import Glibc

/// The other end of a connection.
package enum HTTPPeer: Sendable, Hashable, CustomStringConvertible {
  /// A client of a Unix socket.
  case local
  /// An address in the machine's byte order: 127.0.0.1 is 0x7F000001.
  case ipv4(UInt32)
  case ipv6(high: UInt64, low: UInt64)

  /// Creates a peer from a socket address. IPv4 addresses wrapped in IPv6 (`::ffff:a.b.c.d`) become
  /// IPv4 addresses.
  init(_ storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      self = unsafe withUnsafeBytes(of: storage) {
        unsafe .ipv4(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
      }
    case AF_INET6:
      let (high, low) = unsafe withUnsafeBytes(of: storage) {
        unsafe (
          UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
          UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        )
      }
      self.init(high: high, low: low)
    default:
      self = .local
    }
  }

  /// The peer that limits are counted for: an IPv6 customer has a whole /64.
  package var accountable: HTTPPeer {
    if case .ipv6(let high, _) = self { .ipv6(high: high, low: 0) } else { self }
  }

  /// Whether the peer is on this machine.
  package var isOfThisMachine: Bool {
    switch self {
    case .local: true
    case .ipv4(let address): address >> 24 == 127
    case .ipv6(let high, let low): high == 0 && low == 1
    }
  }

  package var description: String {
    switch self {
    case .local: "local"
    case .ipv4(let address):
      "\(address >> 24).\(address >> 16 & 0xFF).\(address >> 8 & 0xFF).\(address & 0xFF)"
    case .ipv6(let high, let low): Self.ipv6Text(high, low)
    }
  }

  /// Returns an address as of RFC 5952: the longest run of two or more zero groups becomes `::`.
  private static func ipv6Text(_ high: UInt64, _ low: UInt64) -> String {
    let groups = (0..<8).map { index in
      let half = index < 4 ? high : low
      return half >> UInt64(48 - 16 * (index % 4)) & 0xFFFF
    }
    var best = 0..<0
    var start = 0
    while start < 8 {
      var end = start
      while end < 8, groups[end] == 0 { end += 1 }
      if end - start > max(best.count, 1) { best = start..<end }
      start = max(end, start + 1)
    }
    let text = { (part: ArraySlice<UInt64>) in
      part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard !best.isEmpty else { return text(groups[...]) }
    return text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
  }
}
