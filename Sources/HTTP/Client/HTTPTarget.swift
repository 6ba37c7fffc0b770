import Glibc

/// The server and the path that a client sends requests to, from a URL: `http://host:port/path`,
/// `https://host/path` or `unix:PATH`, whose path is `/graphql`.
package struct HTTPTarget: Sendable, Equatable {
  package let address: HTTPAddress
  package let isSecure: Bool
  /// The path with its query.
  package let path: String
  /// The value of `Host`.
  package let authority: String

  /// Parses a URL; nil for any other text, and for one with a user's name or password.
  package init?(_ url: String) {
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    if url.hasPrefix("unix:") {
      guard let address = HTTPAddress(url) else { return nil }
      self.address = address
      (isSecure, path, authority) = (false, "/graphql", "localhost")
      return
    }
    let lowered = url.lowercased()
    guard lowered.hasPrefix("http://") || lowered.hasPrefix("https://") else { return nil }
    isSecure = lowered.hasPrefix("https://")
    let rest = url.dropFirst(isSecure ? 8 : 7).prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.isEmpty, !authority.contains("@") else { return nil }
    let path = rest.dropFirst(authority.count)
    self.path = path.hasPrefix("/") ? String(path) : "/" + path
    self.authority = String(authority)
    let hasPort: Bool =
      if authority.hasPrefix("[") { !authority.hasSuffix("]") } else { authority.contains(":") }
    let text = hasPort ? String(authority) : "\(authority):\(isSecure ? 443 : 80)"
    guard let address = HTTPAddress(text), case .tcp(let host, _) = address, !host.isEmpty else {
      return nil
    }
    self.address = address
  }

  /// The host as it was written; nil for a socket file.
  package var host: String? {
    guard case .tcp(let host, _) = address else { return nil }
    return host
  }

  /// Whether the server is on this machine: a socket file, `localhost`, 127.0.0.0/8 or ::1, by the
  /// bytes of the address and never by a prefix of its text.
  package var isLocal: Bool {
    guard let host else { return true }
    if host.lowercased() == "localhost" { return true }
    var four = in_addr()
    if unsafe inet_pton(AF_INET, host, &four) == 1 {
      return UInt32(bigEndian: four.s_addr) >> 24 == 127
    }
    var six = in6_addr()
    guard unsafe inet_pton(AF_INET6, host, &six) == 1 else { return false }
    return unsafe withUnsafeBytes(of: &six) { bytes in
      unsafe bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }
  }
}
