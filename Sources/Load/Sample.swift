/// The end of a request.
package enum Outcome: UInt8, CaseIterable, Sendable {
  /// An answer of success without errors.
  case ok
  /// An answer of success with errors in it.
  case graphql
  /// 429, or 503 with Retry-After.
  case throttled
  /// Any other status.
  case http
  /// The connection was refused, or ended before the answer did.
  case transport
  /// No answer within the time limit.
  case timeout
}

/// The measurements of one request: times in nanoseconds from the start of the window.
package struct Sample: Sendable {
  package let operation: Int32
  package var outcome = Outcome.transport
  package var isFinished = false
  package var attempts: UInt8 = 1
  /// The index of the error's code; -1 for none.
  package var code: Int16 = -1
  package var receivedBytes: Int32 = 0
  package let intended: Int64
  package let takenUp: Int64
  /// 0 for a request that was never sent.
  package var sent: Int64 = 0
  package var firstByte: Int64 = 0
  package var done: Int64 = 0

  package init(operation: Int32, intended: Int64, takenUp: Int64) {
    self.operation = operation
    self.intended = intended
    self.takenUp = takenUp
  }

  package var latency: Int64 { done - intended }
  package var service: Int64 { sent == 0 ? done - intended : done - sent }
  package var lag: Int64 { takenUp - intended }
}

/// The sums of the parts of the answered requests that told their times.
package struct SplitSums: Sendable {
  package var timed = 0
  var generator: Int64 = 0
  var queue: Int64 = 0
  var service: Int64 = 0
  /// In milliseconds, as the server gives them.
  var total = 0.0
  var parts: [Double] = []

  mutating func add(_ sample: Sample, total: Double, parts given: [(index: Int, value: Double)]) {
    timed += 1
    generator += sample.lag
    queue += sample.sent - sample.takenUp
    service += sample.done - sample.sent
    self.total += total
    for (index, value) in given {
      while parts.count <= index { parts.append(0) }
      parts[index] += value
    }
  }

  mutating func add(_ other: SplitSums) {
    timed += other.timed
    generator += other.generator
    queue += other.queue
    service += other.service
    total += other.total
    while parts.count < other.parts.count { parts.append(0) }
    for (index, value) in other.parts.enumerated() { parts[index] += value }
  }

  /// Returns the mean of each part in milliseconds, in the order of a request's way; their sum is
  /// the mean latency.
  package func means(_ names: [String]) -> [(name: String, milliseconds: Double)] {
    guard timed > 0 else { return [] }
    let count = Double(timed)
    var result = [
      ("generator", Double(generator) / 1e6 / count), ("queue", Double(queue) / 1e6 / count),
      ("network", (Double(service) / 1e6 - total) / count),
    ]
    var rest = total
    for (index, value) in parts.enumerated() {
      result.append((names[index], value / count))
      rest -= value
    }
    result.append(("other", rest / count))
    return result.map { (name: $0.0, milliseconds: $0.1) }
  }
}

/// All that was measured in one window.
package struct WindowResult: Sendable {
  package var samples: [Sample] = []
  /// The length of the window in nanoseconds; shorter if it was interrupted.
  package var duration: Int64 = 0
  package var isComplete = true
  /// The codes of errors that samples refer to.
  package var codes: [String] = []
  /// The names of the parts of `Server-Timing`.
  package var partNames: [String] = []
  /// By operation, and by second of the intended start.
  package var splits: [SplitSums] = []
  package var secondSplits: [SplitSums] = []
  /// In seconds, of `Retry-After`.
  package var retryAfter: ClosedRange<Double>?
  /// The events of subscriptions.
  package var deliveries: [DeliveryFigures] = []
  /// The cores that the generator used.
  package var generatorCores = 0.0

  package init() {}
}
