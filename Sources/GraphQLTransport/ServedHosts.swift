import HTTP

/// The names by which clients reach the server.
///
/// A page can make its own name lead to this machine (DNS rebinding). Its requests then have that
/// name as their `Host`, and it counts as a page of the server. An address cannot be made to lead
/// elsewhere, so that each is served.
package struct ServedHosts: Sendable {
  private var names: Set<String> = ["localhost"]
  /// Whether the server can be reached from its own machine only, and checks each request.
  package let isOnLoopback: Bool

  /// - Parameter urls: the URLs and origins by which clients know the server.
  package init(at address: HTTPAddress, named urls: [String]) {
    var isOnLoopback = false
    if case .tcp(let host, _) = address {
      isOnLoopback = host == "localhost" || host == "::1" || host.hasPrefix("127.")
      if !host.isEmpty { names.insert(host.lowercased()) }
    }
    self.isOnLoopback = isOnLoopback
    for url in urls {
      guard let start = url.firstRange(of: "://")?.upperBound else { continue }
      names.insert(Self.name(of: url[start...].prefix { $0 != "/" }))
    }
  }

  /// Returns the name that is not served, if the request has one.
  package func strangeName(of request: HTTPRequest) -> String? {
    guard let host = request.header("host"), !host.isEmpty else { return nil }
    let name = Self.name(of: host[...])
    let isServed =
      names.contains(name) || name.hasSuffix(".localhost") || HTTPPeer(address: name) != nil
    return isServed ? nil : name
  }

  /// Returns a name without its port, brackets, and the dot of the root.
  private static func name(of host: Substring) -> String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }).lowercased() }
    var name = host.prefix { $0 != ":" }
    if name.hasSuffix(".") { name.removeLast() }
    return name.lowercased()
  }
}
