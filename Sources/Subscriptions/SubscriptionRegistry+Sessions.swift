import EventLoops
import GraphQLResponse

/// A session that is looked up for a stream or socket that is to begin.
struct Resolution {
  /// The time at which the client began to wait.
  let since: Moment
  var isStarted = false
}

/// The sessions whose end is that of a socket or stream, by their users.
struct MonitoredSessions {
  private struct Session {
    let viewer: Int64
    var isChecking = false
    /// Something happened since the check began.
    var isStale = false
    /// The last check failed, and another one is due in a second.
    var isUncertain = false
  }

  private var sessions: [StreamID: Session] = [:]
  private var byViewer: [Int64: StreamList] = [:]

  var count: Int { sessions.count }
  var ids: [StreamID] { sessions.keys.sorted { $0.number < $1.number } }

  func ids(of viewer: Int64) -> [StreamID] { byViewer[viewer]?.ids ?? [] }
  func contains(_ id: StreamID) -> Bool { sessions[id] != nil }
  func isCertain(_ id: StreamID) -> Bool { sessions[id]?.isUncertain == false }

  mutating func insert(_ id: StreamID, of viewer: Int64) {
    sessions[id] = Session(viewer: viewer)
    byViewer[viewer, default: StreamList()].insert(id)
  }

  /// Returns whether it was there.
  mutating func remove(_ id: StreamID) -> Bool {
    guard let viewer = sessions.removeValue(forKey: id)?.viewer else { return false }
    byViewer[viewer]?.remove(id)
    if byViewer[viewer]?.isEmpty == true { byViewer[viewer] = nil }
    return true
  }

  /// Returns whether a check is to begin now. One that is under way is followed by another.
  mutating func beginCheck(_ id: StreamID) -> Bool {
    guard let session = sessions[id] else { return false }
    sessions[id]?.isChecking = true
    sessions[id]?.isStale = session.isChecking
    return !session.isChecking
  }

  /// Returns whether another check is to begin.
  mutating func endCheck(_ id: StreamID, isUncertain: Bool) -> Bool {
    sessions[id]?.isUncertain = isUncertain
    let isStale = sessions[id]?.isStale == true
    sessions[id]?.isChecking = false
    sessions[id]?.isStale = false
    return isStale
  }
}

/// A socket or stream ends with the session that began it. The session is checked when an event of the topic `session`
/// has its user as key, and when its time is over. It ends with an event of the topic `rights`: the user may do less
/// than before, and what began with more begins again.
extension SubscriptionRegistry {
  // MARK: Sessions that are looked up

  mutating func resolve(_ id: StreamID, _ since: Moment) {
    resolutions[id] = Resolution(since: since)
    starts.append(.session(id))
    count()
    takeTurns()
  }

  mutating func resolved(_ id: StreamID, _ failure: StatementFailure?) {
    guard let resolution = resolutions[id], resolution.isStarted else { return }
    if let failure {
      switch policy.verdict(on: failure.errors, of: .starting(since: resolution.since), now) {
      case .requeue:
        resolutions[id]?.isStarted = false
        starts.prepend(.session(id))
        policy.overload(now)
      case .retry, .fail:
        resolutions[id] = nil
        policy.end()
        actions.append(.failResolving(id, failure.errors))
      }
    } else {
      resolutions[id] = nil
      policy.succeed()
    }
    count()
    takeTurnsLater()
  }

  mutating func remove(resolution id: StreamID) {
    guard let resolution = resolutions.removeValue(forKey: id) else { return }
    count()
    guard resolution.isStarted else { return }
    policy.end()
    takeTurnsLater()
  }

  // MARK: Monitored sessions

  mutating func monitor(_ id: StreamID, _ viewer: Int64) {
    sessions.insert(id, of: viewer)
    counts.sessions += 1
    needReader()
    actions.append(.readExpiry(id))
  }

  mutating func expiryRead(_ id: StreamID, _ remaining: Duration?) {
    guard sessions.isCertain(id) else { return }
    let pause = max(.milliseconds(10), min(remaining ?? .seconds(60), .seconds(3600)))
    deadlines.set(.session(id), at: now + pause)
  }

  mutating func checkSessions(of viewer: Int64) {
    for id in sessions.ids(of: viewer) { check(id) }
  }

  mutating func endSessions(of viewer: Int64) {
    for id in sessions.ids(of: viewer) {
      cancel(id)
      actions.append(.endSession(id, .changed))
    }
  }

  mutating func checkAllSessions() {
    for id in sessions.ids { check(id) }
  }

  mutating func check(_ id: StreamID) {
    if sessions.beginCheck(id) { actions.append(.check(id)) }
  }

  mutating func checked(_ id: StreamID, _ state: SessionState) {
    guard sessions.contains(id) else { return }
    let isStale = sessions.endCheck(id, isUncertain: state == .unknown)
    switch state {
    case .valid: actions.append(.readExpiry(id))
    case .unknown: deadlines.set(.session(id), at: now + .seconds(1))
    case .over:
      cancel(id)
      return actions.append(.endSession(id, .over))
    }
    if isStale { check(id) }
  }
}
