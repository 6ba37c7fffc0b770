/// The budget of a connection for one turn of its loop, so that a client that always sends does not
/// keep others waiting. The next turn does the rest.
struct HTTPTurn {
  /// Requests of HTTP, and frames of WebSocket.
  static let steps = 32
  /// Bytes of HTTP/2, of which the smallest frame takes nine.
  static let bytes = 16 * 1024
  /// Bytes that are read from a socket with TLS.
  static let readBytes = 64 * 1024
  /// The connections of one server that continue in one turn.
  static let connections = 8

  private var steps = Self.steps
  private var bytes = Self.bytes

  mutating func takeStep() -> Bool {
    guard steps > 0 else { return false }
    steps -= 1
    return true
  }

  /// Returns how many of these bytes may be processed.
  mutating func take(bytes wanted: Int) -> Int {
    let taken = min(wanted, bytes)
    bytes -= taken
    return taken
  }
}

/// A token bucket: a maximum at once, and a refill per second.
struct Allowance {
  let maximum: Int
  let perSecond: Int
  private var left: Int
  private var since: UInt64 = 0

  init(maximum: Int, perSecond: Int) {
    self.maximum = maximum
    self.perSecond = perSecond
    left = maximum
  }

  mutating func take(_ count: Int = 1, at now: UInt64) -> Bool {
    let seconds = now > since ? Int((now - since) / 1_000_000_000) : 0
    if since == 0 {
      since = now
    } else if seconds > 0 {
      left = min(maximum, left + min(seconds, maximum) * perSecond)
      since = now
    }
    left -= count
    return left >= 0
  }
}
