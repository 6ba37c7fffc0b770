import JSON

/// The rate-limit points that an operation spent before it ran. Its response reports the actual
/// cost, and the difference is refunded.
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

  package let requested: Int
  private let settle: (Int) -> Throttle
  private var isSettled = false
  /// The place in the response where its extensions begin; nil if they are not written.
  package private(set) var extensionsStart: Int?

  /// Creates a charge.
  ///
  /// - Parameter settle: called once, with the actual cost of the operation.
  package init(requested: Int, settle: @escaping (Int) -> Throttle) {
    self.requested = requested
    self.settle = settle
  }

  /// Refunds all points of an operation that was not run.
  package func cancel() {
    guard !isSettled else { return }
    isSettled = true
    _ = settle(0)
  }

  /// Writes `,"extensions":{"cost":{...}}` (R8).
  func write(actual: Int, to json: inout JSONWriter) {
    guard !isSettled else { return }
    isSettled = true
    extensionsStart = json.count
    let actual = min(actual, requested)
    let throttle = settle(actual)
    json.append(#","extensions":{"cost":{"requested":"#)
    json.write(requested)
    json.append(#","actual":"#)
    json.write(actual)
    json.append(#","throttle":{"maximum":"#)
    json.write(throttle.maximum)
    json.append(#","available":"#)
    json.write(throttle.available)
    json.append(#","restoreRate":"#)
    json.write(throttle.restoreRate)
    json.append("}}}")
  }
}
