import Glibc
import Synchronization

/// How many sockets are open, in all and per client address, over all loops of the process.
///
/// Of a socket to a proxy that is believed, it is the client that counts whose request is on it: from
/// the end of the request's head until its answer is taken.
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

  /// - Parameter proxies: their clients all have the same address, so that it is not counted; the one that
  ///   they say is.
  package init(limits: HTTPLimits, proxies: TrustedProxies = TrustedProxies()) {
    self.limits = limits
    self.proxies = proxies
  }

  package var openSockets: Int { counts.withLock { $0.total } }

  /// Counts one more socket, or says no. A Unix socket's clients have no address to count.
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

  /// Whom a request of a proxy's socket counts for; nil where the socket itself is counted.
  func client(of request: HTTPRequest) -> HTTPPeer? {
    guard proxies.isSender(of: request) else { return nil }
    let client = proxies.client(of: request)
    return client == request.peer ? nil : client.accountable
  }

  /// Counts a socket for a proxy's client, or says no.
  func take(for client: HTTPPeer) -> Bool {
    counts.withLock { $0.take(client, atMost: limits.maximumSocketsPerAddress) }
  }

  func giveBack(for client: HTTPPeer) { counts.withLock { $0.giveBack(client) } }

  /// There is little room for more: who has nothing to say has to go sooner.
  var isCrowded: Bool { openSockets > limits.maximumSockets / 4 * 3 }

  func giveBack(_ peer: HTTPPeer) {
    let peer = peer.accountable
    counts.withLock { counts in
      counts.total -= 1
      counts.giveBack(peer)
    }
  }

  /// Nil when the process may open as many descriptors as its clients and `others` need; else what
  /// to tell the operator.
  package static func descriptorShortage(_ limits: HTTPLimits, others: Int) -> String? {
    let needed = limits.maximumSockets + others + 64
    let permitted = descriptorLimit()
    guard permitted < needed else { return nil }
    return "The process may open \(permitted) descriptors but needs \(needed) for "
      + "\(limits.maximumSockets) clients; raise the limit (ulimit -n) or lower the clients."
  }

  /// The number of descriptors the process may open, after raising it as far as it may go.
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
