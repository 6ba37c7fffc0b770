import Synchronization

/// The cluster and the newest timeline that connections of a configuration have met.
///
/// A promotion begins a new timeline. Afterwards the former primary may return and accept writes,
/// which are lost when it becomes a standby again. So a host is refused if it accepts writes on an
/// older timeline than one met before. A host of another cluster is refused too, because its data
/// is not what was checked at the start. A standby adopts its primary's timeline late, so only its
/// cluster is compared.
///
/// Copies of a configuration share its history, on all threads. It ends with the process.
package final class ServerHistory: Sendable {
  private struct State {
    var cluster: String?
    var refused: Set<String> = []
    var refusals: [HostRefusal] = []
  }

  private let state = Mutex(State())
  private let newest = Atomic<UInt32>(0)
  private let isMute = Atomic(false)

  package init() {}

  /// The newest timeline met; 0 for none.
  package var timeline: UInt32 { newest.load(ordering: .acquiring) }

  /// Whether servers say where they are: not where a role may not ask for it.
  package var isKnown: Bool { !isMute.load(ordering: .relaxed) }

  func noteSilence() { isMute.store(true, ordering: .relaxed) }

  /// Returns the reason to refuse a server, or nil if it can be used.
  func refusal(of position: ServerPosition, at host: String) -> HostRefusal? {
    state.withLock { state in
      let cluster = state.cluster ?? position.cluster
      let reason: HostRefusal.Reason
      if cluster != position.cluster {
        reason = .otherCluster
      } else if let timeline = position.timeline, timeline < self.timeline {
        reason = .outdated(timeline: timeline, newest: self.timeline)
      } else {
        state.cluster = cluster
        state.refused.remove(host)
        if let timeline = position.timeline { newest.store(timeline, ordering: .releasing) }
        return nil
      }
      let refusal = HostRefusal(
        host: host, reason: reason, isNew: state.refused.insert(host).inserted)
      // The next pool that connects reports them. A single session never does.
      if state.refusals.count < 100 { state.refusals.append(refusal) }
      return refusal
    }
  }

  /// The refusals since the last call.
  func takeRefusals() -> [HostRefusal] {
    state.withLock { state in
      defer { state.refusals = [] }
      return state.refusals
    }
  }
}

/// The position of a server in its cluster's history.
struct ServerPosition: Equatable, Sendable {
  let cluster: String
  /// The timeline of a primary, or nil for a standby.
  let timeline: UInt32?

  /// The timeline of the control file is that of the last checkpoint, and so, behind a promotion, an old one.
  static let question = """
    SELECT (pg_catalog.pg_control_system()).system_identifier, \
    CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN \
    pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) END
    """

  /// - Parameter timeline: in hexadecimal.
  init?(cluster: String?, timeline: String?) {
    guard let cluster else { return nil }
    self.cluster = cluster
    if let timeline {
      guard let number = UInt32(timeline, radix: 16) else { return nil }
      self.timeline = number
    } else {
      self.timeline = nil
    }
  }
}

/// A host that could be reached and is not to be used.
package struct HostRefusal: Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    case outdated(timeline: UInt32, newest: UInt32)
    case otherCluster
  }

  package let host: String
  package let reason: Reason
  /// Whether it is the first refusal of the host since its last use.
  package let isNew: Bool

  package var description: String {
    switch reason {
    case .outdated(let timeline, let newest):
      "refused host \(host): it takes writes on timeline \(timeline), but the cluster is on timeline \(newest); "
        + "stop it, and make it a standby"
    case .otherCluster:
      "refused host \(host): it belongs to another cluster (system identifier) than the database that was used "
        + "before; if the database was replaced, restart this server"
    }
  }
}
