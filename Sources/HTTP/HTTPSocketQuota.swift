import Glibc
import Synchronization

/// The number of open connections, in all and per client address, over all loops of the process.
///
/// On a connection from a trusted proxy, the client of the current request is counted: from the end
/// of the request's head until its response is sent.
package final class HTTPSocketQuota: Sendable {
  private let counts = Mutex(Counts())
  private let limits: HTTPLimits
  private let proxies: TrustedProxies

  private struct Counts {
    var total = 0
    var perAddress: [HTTPPeer: Int] = [:]

    mutating func take(_ peer: HTTPPeer, atMost limit: Int) -> Bool {
      let open = perAddress[peer, default: 0]
      guard open < limit else { return false }
      perAddress[peer] = open + 1
      return true
    }

    mutating func giveBack(_ peer: HTTPPeer) {
      guard let open = perAddress[peer] else { return }
      perAddress[peer] = open > 1 ? open - 1 : nil
    }
  }

  /// - Parameter proxies: the proxies whose own address is not counted; the client that they name
  ///   is.
  package init(limits: HTTPLimits, proxies: TrustedProxies = TrustedProxies()) {
    self.limits = limits
    self.proxies = proxies
  }

  package var openSockets: Int { counts.withLock { $0.total } }

  /// Counts one more connection; returns false if the quota is used up. Clients of a Unix socket
  /// have no address to count.
  func take(_ peer: HTTPPeer) -> Bool {
    let isCounted = peer != .local && !proxies.contains(peer)
    let peer = peer.accountable
    return counts.withLock { counts in
      guard counts.total < limits.maximumSockets else { return false }
      guard !isCounted || counts.take(peer, atMost: limits.maximumSocketsPerAddress) else {
        return false
      }
      counts.total += 1
      return true
    }
  }

  /// Returns whether the first bytes of a connection are a proxy's, about its client.
  func beginsWithClient(_ peer: HTTPPeer) -> Bool { proxies.namesClientsFirst(at: peer) }

  /// Returns the sender of a request, as a trusted proxy names it.
  func sender(of request: HTTPRequest) -> HTTPPeer { proxies.client(of: request) }

  /// Returns the client that a request of a proxy's connection counts toward; nil if the connection
  /// itself is counted.
  func client(of request: HTTPRequest) -> HTTPPeer? {
    guard proxies.isSender(of: request) else { return nil }
    let client = proxies.client(of: request)
    return client == request.peer ? nil : client.accountable
  }

  /// Counts a connection for a proxy's client; returns false if the quota is used up.
  func take(for client: HTTPPeer) -> Bool {
    counts.withLock { $0.take(client, atMost: limits.maximumSocketsPerAddress) }
  }

  func giveBack(for client: HTTPPeer) { counts.withLock { $0.giveBack(client) } }

  /// Whether little capacity is left, so that idle clients are disconnected sooner.
  var isCrowded: Bool { openSockets > limits.maximumSockets / 4 * 3 }

  func giveBack(_ peer: HTTPPeer) {
    let peer = peer.accountable
    counts.withLock { counts in
      counts.total -= 1
      counts.giveBack(peer)
    }
  }

  /// Returns a message for the operator if the process may not open as many descriptors as its
  /// clients and `others` need; otherwise nil.
  package static func descriptorShortage(_ limits: HTTPLimits, others: Int) -> String? {
    let needed = limits.maximumSockets + others + 64
    let permitted = descriptorLimit()
    guard permitted < needed else { return nil }
    return "The process may open \(permitted) descriptors but needs \(needed) for "
      + "\(limits.maximumSockets) clients; raise the limit (ulimit -n) or lower the clients."
  }

  /// Returns the number of descriptors that the process may open, after raising the limit as far as
  /// possible.
  static func descriptorLimit() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return 0
    }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = min(limit.rlim_max, 1 << 20)
      if raised.rlim_cur > limit.rlim_cur,
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0
      {
        limit = raised
      }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
