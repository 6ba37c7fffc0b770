import Glibc
import Synchronization

/// How many sockets are open, in all and per client address, over all loops of the process.
package final class HTTPSocketQuota: Sendable {
  private let counts = Mutex(Counts())
  private let limits: HTTPLimits
  private let proxies: TrustedProxies

  private struct Counts {
    var total = 0
    var perAddress: [HTTPPeer: Int] = [:]
  }

  /// - Parameter proxies: their clients all have the same address, so that it is not counted.
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
      if isCounted {
        let open = counts.perAddress[peer, default: 0]
        guard open < limits.maximumSocketsPerAddress else { return false }
        counts.perAddress[peer] = open + 1
      }
      counts.total += 1
      return true
    }
  }

  func giveBack(_ peer: HTTPPeer) {
    let peer = peer.accountable
    counts.withLock { counts in
      counts.total -= 1
      guard let open = counts.perAddress[peer] else { return }
      counts.perAddress[peer] = open > 1 ? open - 1 : nil
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
