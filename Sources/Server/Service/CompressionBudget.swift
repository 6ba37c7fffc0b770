import Postgres

/// How much of an event loop's time goes into compressing. It counts bytes in windows of a second.
/// Answers beyond are sent as they are, so a client never waits for it, and 1,000 clients that ask
/// for compressed answers take a bounded share of the loop.
struct CompressionBudget {
  struct Limits: Sendable {
    /// 4 MiB take gzip, the slowest, about 15 ms.
    var bytesOfClient = 4 << 20
    var bytes = 64 << 20
    /// Streams that are compressed at a time. Each has an encoder with up to 300 KiB.
    var streamsOfClient = 8
    var streams = 64
  }

  private static let window: UInt64 = 1_000_000_000

  private let limits: Limits
  private var windowStart: UInt64 = 0
  private var bytes = 0
  private var bytesOfClients: [PoolClient: Int] = [:]
  private var streams = 0
  private var streamsOfClients: [PoolClient: Int] = [:]

  init(_ limits: Limits = Limits()) { self.limits = limits }

  /// Takes bytes that are to be compressed for a client.
  ///
  /// - Parameter now: nanoseconds of a clock that never goes back.
  /// - Returns: false if they are not left in this window; none are taken then.
  mutating func take(_ count: Int, for client: PoolClient, at now: UInt64) -> Bool {
    if now &- windowStart >= Self.window {
      windowStart = now
      bytes = 0
      bytesOfClients.removeAll(keepingCapacity: bytesOfClients.count < 1_000)
    }
    guard count <= limits.bytes - bytes else { return false }
    let taken = bytesOfClients[client] ?? 0
    guard count <= limits.bytesOfClient - taken else { return false }
    bytes += count
    bytesOfClients[client] = taken + count
    return true
  }

  /// Counts a stream, until `endStream`.
  ///
  /// - Returns: false if it may not be compressed.
  mutating func beginStream(of client: PoolClient) -> Bool {
    let own = streamsOfClients[client] ?? 0
    guard streams < limits.streams, own < limits.streamsOfClient else { return false }
    streams += 1
    streamsOfClients[client] = own + 1
    return true
  }

  mutating func endStream(of client: PoolClient) {
    guard let own = streamsOfClients[client] else { return }
    streams -= 1
    streamsOfClients[client] = own > 1 ? own - 1 : nil
  }
}
