import HTTP
import Synchronization

/// A token bucket of rate-limit points for each client, over all event loops.
///
/// An operation spends its expected cost, and its response settles the difference to the actual
/// cost. Points also refill with time. If the balance is too low, the operation is refused. An
/// operation whose expected cost exceeds the bucket is accepted when the bucket is full, and leaves
/// a negative balance, as one does that costs more than expected.
///
/// The table has parts with one lock each, held for a lookup and a few additions.
package final class RateLimiter: Sendable {
  package struct Rate: Sendable, Equatable, CustomStringConvertible {
    /// Points that may be spent at once.
    package let maximum: Int
    /// The refill rate, in points per second.
    package let perSecond: Int

    /// The default of a viewer: the most expensive page of a feed several times in a row, and then
    /// one a second.
    package static let standardViewer = Rate(validMaximum: 5_000, perSecond: 250)
    /// The default of an address, which the anonymous clients behind it share.
    package static let standardAddress = Rate(validMaximum: 20_000, perSecond: 500)

    package var description: String { "\(maximum)/\(perSecond)" }

    private init(validMaximum maximum: Int, perSecond: Int) {
      self.maximum = maximum
      self.perSecond = perSecond
    }

    /// Both at least 1.
    package init?(maximum: Int, perSecond: Int) {
      guard maximum >= 1, perSecond >= 1 else { return nil }
      self.maximum = maximum
      self.perSecond = perSecond
    }
  }

  package struct Settings: Sendable {
    /// The rate of each viewer, or nil for no limit.
    package var viewer: Rate?
    package var address: Rate?

    package init(viewer: Rate? = nil, address: Rate? = nil) {
      self.viewer = viewer
      self.address = address
    }
  }

  package enum Client: Hashable, Sendable {
    case viewer(Int64)
    /// The address of an anonymous client. For IPv6, it is the /64 network.
    case address(HTTPPeer)
  }

  package enum Outcome: Sendable, Equatable {
    case taken
    /// Nothing was taken.
    case refused(retryAfter: Duration)
  }

  private struct Bucket {
    var points: Double
    /// Monotonic nanoseconds.
    var filledAt: UInt64
  }

  private final class Part: Sendable {
    let buckets = Mutex<[Client: Bucket]>([:])
  }

  private let settings: Settings
  private let parts: [Part]
  private let maximumBuckets: Int

  /// Creates a limiter.
  ///
  /// - Parameter maximumBuckets: the maximum number of buckets in each of the table's 64 parts.
  ///   Beyond it, the full buckets are evicted, which changes no balance, and then the fullest
  ///   half.
  package init(_ settings: Settings, maximumBuckets: Int = 2_048) {
    self.settings = settings
    self.maximumBuckets = max(2, maximumBuckets)
    parts = (0..<64).map { _ in Part() }
  }

  /// Returns the rate of a client, or nil if it has no limit.
  package func rate(of client: Client) -> Rate? {
    switch client {
    case .viewer: settings.viewer
    case .address: settings.address
    }
  }

  /// - Parameters:
  ///   - prepaid: what was taken for the same operation before: a bucket that was full then is full.
  ///   - now: monotonic nanoseconds.
  package func take(
    _ cost: Int, prepaid: Int = 0, from client: Client, now: UInt64
  ) -> Outcome {
    guard let rate = rate(of: client) else { return .taken }
    return change(client, rate, now) { bucket in
      let wanted = min(Double(max(cost, 0)), Double(rate.maximum) - Double(max(prepaid, 0)))
      guard bucket.points >= wanted else {
        let wait = (wanted - bucket.points) / Double(rate.perSecond)
        return .refused(retryAfter: .milliseconds(Int64(min(wait, 86_400) * 1000) + 1))
      }
      bucket.points -= Double(max(cost, 0))
      return .taken
    }
  }

  /// Settles the cost of an operation: refunds unused points, or takes what is missing, which may
  /// leave a negative balance.
  ///
  /// - Returns: the balance, or 0 if it is negative.
  @discardableResult
  package func settle(_ taken: Int, actual: Int, of client: Client, now: UInt64) -> Int {
    guard let rate = rate(of: client) else { return 0 }
    return change(client, rate, now) { bucket in
      let unused = Double(max(taken, 0)) - Double(max(actual, 0))
      bucket.points = min(Double(rate.maximum), bucket.points + unused)
      return max(0, Int(bucket.points.rounded(.down)))
    }
  }

  /// The number of clients in the table.
  var count: Int { parts.reduce(0) { $0 + $1.buckets.withLock { $0.count } } }

  private func change<Result: Sendable>(
    _ client: Client, _ rate: Rate, _ now: UInt64, _ body: (inout Bucket) -> Result
  ) -> Result {
    let part = parts[Int(UInt(bitPattern: client.hashValue) % UInt(parts.count))]
    return part.buckets.withLock { buckets in
      var bucket = buckets[client] ?? Bucket(points: Double(rate.maximum), filledAt: now)
      Self.fill(&bucket, rate, now)
      let result = body(&bucket)
      if buckets[client] == nil, buckets.count >= maximumBuckets { forget(&buckets, now) }
      buckets[client] = bucket
      return result
    }
  }

  private static func fill(_ bucket: inout Bucket, _ rate: Rate, _ now: UInt64) {
    guard now > bucket.filledAt else { return }
    let seconds = Double(now - bucket.filledAt) / 1e9
    bucket.points = min(Double(rate.maximum), bucket.points + seconds * Double(rate.perSecond))
    bucket.filledAt = now
  }

  private func forget(_ buckets: inout [Client: Bucket], _ now: UInt64) {
    for (client, bucket) in buckets {
      guard let rate = rate(of: client) else { continue }
      var filled = bucket
      Self.fill(&filled, rate, now)
      buckets[client] = filled.points >= Double(rate.maximum) ? nil : filled
    }
    guard buckets.count >= maximumBuckets else { return }
    let points = buckets.values.map(\.points).sorted()
    let middle = points[points.count / 2]
    buckets = buckets.filter { $0.value.points < middle }
    if buckets.count >= maximumBuckets { buckets.removeAll() }
  }
}
