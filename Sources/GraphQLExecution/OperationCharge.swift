import JSON

/// The cost of an operation, for its response to report. The rate-limit points that it spent before
/// it ran, by its expected cost, are settled by the actual one.
package final class OperationCharge {
  /// The capacity of the bucket, its balance, and its refill per second.
  package struct Throttle {
    package let maximum: Int
    package let available: Int
    package let restoreRate: Int

    package init(maximum: Int, available: Int, restoreRate: Int) {
      self.maximum = maximum
      self.available = available
      self.restoreRate = restoreRate
    }
  }

  /// The maximum cost.
  package let requested: Int
  private let isReported: Bool
  private let settle: (Int) -> Throttle?
  private var isSettled = false
  /// The place in the response where its extensions begin; nil if they are not written.
  package private(set) var extensionsStart: Int?

  /// Creates a charge.
  ///
  /// - Parameters:
  ///   - isReported: whether the response has the cost in its extensions.
  ///   - settle: called once, with the actual cost of the operation. Returns nil for a client that
  ///     spends no points.
  package init(
    requested: Int, isReported: Bool = true, settle: @escaping (Int) -> Throttle?
  ) {
    self.requested = requested
    self.isReported = isReported
    self.settle = settle
  }

  /// Refunds all points of an operation that was not run.
  package func cancel() { settleOnce(0) }

  /// Charges an operation that ended without a response by the time that it took: a point for each
  /// millisecond, up to its maximum cost.
  package func abandon(after nanoseconds: UInt64) {
    settleOnce(min(requested, Int(clamping: nanoseconds / 1_000_000)))
  }

  private func settleOnce(_ actual: Int) {
    guard !isSettled else { return }
    isSettled = true
    _ = settle(actual)
  }

  /// Writes `,"extensions":{"cost":{...}}` (R8).
  func write(actual: Int, to json: inout JSONWriter) {
    guard isReported else { return settleOnce(actual) }
    guard !isSettled else { return }
    isSettled = true
    extensionsStart = json.count
    let throttle = settle(actual)
    json.append(#","extensions":{"cost":{"requested":"#)
    json.write(requested)
    json.append(#","actual":"#)
    json.write(actual)
    if let throttle {
      json.append(#","throttle":{"maximum":"#)
      json.write(throttle.maximum)
      json.append(#","available":"#)
      json.write(throttle.available)
      json.append(#","restoreRate":"#)
      json.write(throttle.restoreRate)
      json.append("}")
    }
    json.append("}}")
  }
}
