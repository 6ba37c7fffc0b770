/// An address to listen at: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `*:8080` or
/// `unix:PATH`.
package enum HTTPAddress: Sendable, Hashable, CustomStringConvertible {
  /// A TCP address. An empty host means every address of the machine; port 0 takes a free one.
  case tcp(host: String, port: UInt16)
  case unix(path: String)

  package init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty, path.utf8.count < 108, !path.utf8.contains(0) else { return nil }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard !host.utf8.contains(0) else { return nil }
    self = .tcp(host: host == "*" ? "" : String(host), port: port)
  }

  package var description: String {
    switch self {
    case .tcp(let host, let port):
      host.contains(":") ? "[\(host)]:\(port)" : "\(host.isEmpty ? "*" : host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}

/// A failure to listen: the call that failed, the address, and the system's error number.
package struct HTTPListenError: Error, Sendable, CustomStringConvertible {
  package let address: HTTPAddress
  package let reason: String
  /// Whether another process listens at the address.
  package var isTaken = false

  package var description: String { "Cannot listen on \(address): \(reason)." }
}
