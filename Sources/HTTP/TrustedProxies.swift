import Glibc

/// The reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted, or `Forwarded`
/// (RFC 7239) where these are not there.
///
/// From any other sender these fields may be forged. Without proxies, a client's address is that of
/// its socket.
package struct TrustedProxies: Sendable {
  private var ranges: [Range] = []
  /// Whether they speak the PROXY protocol: each connection begins with the client's address.
  package var speakProxyProtocol = false

  private struct Range {
    let high: UInt64
    let low: UInt64
    /// The number of leading bits that count, of 128; IPv4 addresses are taken as `::ffff:a.b.c.d`.
    let bits: Int
  }

  package init() {}

  /// Parses addresses or networks: `10.0.0.0/8`, `192.0.2.1`, `2001:db8::/32`. Nil if one is
  /// malformed.
  package init?(_ texts: [String]) {
    for text in texts {
      let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard let peer = HTTPPeer(address: String(parts[0])), let (high, low) = peer.bits128 else {
        return nil
      }
      var width = 128
      if parts.count == 2 {
        let offset = if case .ipv4 = peer { 96 } else { 0 }
        guard let prefix = Int(parts[1]), (0...128 - offset).contains(prefix) else { return nil }
        width = prefix + offset
      }
      ranges.append(Range(high: high, low: low, bits: width))
    }
  }

  func contains(_ peer: HTTPPeer) -> Bool {
    guard let (high, low) = peer.bits128 else { return false }
    return ranges.contains { range in
      let highMask = Self.mask(min(range.bits, 64))
      let lowMask = Self.mask(max(range.bits - 64, 0))
      return (high ^ range.high) & highMask == 0 && (low ^ range.low) & lowMask == 0
    }
  }

  private static func mask(_ bits: Int) -> UInt64 { bits == 0 ? 0 : ~0 << UInt64(64 - bits) }

  /// Returns the sender of the request: the first address that is not a trusted proxy, walking back
  /// from the socket.
  package func client(of request: HTTPRequest) -> HTTPPeer {
    guard isSender(of: request) else { return request.peer }
    let entries: [Substring]
    if let list = request.headerList("x-forwarded-for") {
      entries = list.split(separator: ",")
    } else if let list = request.headerList("forwarded") {
      entries = Self.values(of: "for", in: list)
    } else {
      return request.peer
    }
    var client = request.peer
    for entry in entries.reversed() {
      guard let peer = HTTPPeer(forwarded: entry) else { return client }
      client = peer
      guard contains(peer) else { return client }
    }
    return client
  }

  /// Returns whether the client used TLS, to this server or to the proxy in front of it.
  package func isSecure(_ request: HTTPRequest) -> Bool {
    if request.isSecure { return true }
    guard isSender(of: request) else { return false }
    guard let scheme = request.headerList("x-forwarded-proto") else {
      let list = request.headerList("forwarded") ?? ""
      return Self.values(of: "proto", in: list).last?.lowercased() == "https"
    }
    return scheme.split(separator: ",").last?.drop { $0 == " " } == "https"
  }

  /// Returns a parameter of each element of a `Forwarded` (RFC 7239, 4), without quotes; an empty
  /// one where an element does not have it. Neither commas nor semicolons are in the values.
  private static func values(of name: String, in list: String) -> [Substring] {
    list.split(separator: ",").map { element in
      for pair in element.split(separator: ";") {
        let parts = pair.split(separator: "=", maxSplits: 1)
        guard parts.count == 2,
          parts[0].drop(while: { $0 == " " || $0 == "\t" }).lowercased() == name
        else { continue }
        var value = parts[1]
        while value.last == " " || value.last == "\t" { value.removeLast() }
        if value.count > 1, value.first == "\"", value.last == "\"" {
          value = value.dropFirst().dropLast()
        }
        return value
      }
      return ""
    }
  }

  /// Returns whether the sender names another client, and is not believed.
  package func isDisbelieved(_ request: HTTPRequest) -> Bool {
    !isSender(of: request)
      && (request.hasHeader("x-forwarded-for") || request.hasHeader("forwarded"))
  }

  /// Returns whether a connection from this address begins with that of its client.
  func namesClientsFirst(at peer: HTTPPeer) -> Bool {
    speakProxyProtocol && !ranges.isEmpty && (peer == .local || contains(peer))
  }

  /// Returns whether the request came through a trusted proxy, whose statements about the client
  /// are used. If there are any proxies, one on a Unix socket is trusted.
  package func isSender(of request: HTTPRequest) -> Bool {
    !ranges.isEmpty && (request.peer == .local || contains(request.peer))
  }
}

extension HTTPPeer {
  /// Parses an address in text, without port or brackets.
  package init?(address text: String) {
    var four = in_addr()
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      self = .ipv4(UInt32(bigEndian: four.s_addr))
      return
    }
    var six = in6_addr()
    guard unsafe inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    let (high, low) = unsafe withUnsafeBytes(of: six) {
      unsafe (
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    self = HTTPPeer(high: high, low: low)
  }

  /// Parses an entry of `X-Forwarded-For`; some proxies add the port.
  init?(forwarded entry: Substring) {
    var text = entry.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      text = text[text.index(after: text.startIndex)..<end]
    } else if let colon = text.firstIndex(of: ":"), text.contains(".") {
      text = text.hasPrefix(":") ? text : text[..<colon]
    }
    self.init(address: String(text))
  }

  /// Creates a peer; an IPv4 address wrapped in IPv6 becomes an IPv4 address.
  init(high: UInt64, low: UInt64) {
    self =
      high == 0 && low >> 32 == 0xFFFF
      ? .ipv4(UInt32(truncatingIfNeeded: low)) : .ipv6(high: high, low: low)
  }

  fileprivate var bits128: (high: UInt64, low: UInt64)? { self == .local ? nil : bits }

  /// The address as one of IPv6; 0 for a Unix socket.
  package var bits: (high: UInt64, low: UInt64) {
    switch self {
    case .local: (0, 0)
    case .ipv4(let address): (0, 0xFFFF_0000_0000 | UInt64(address))
    case .ipv6(let high, let low): (high, low)
    }
  }
}
