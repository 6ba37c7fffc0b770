/// The events of one subscription of a mix in a window, by the request that each of them answers.
package struct Deliveries: Sendable {
  /// One event that one subscriber received.
  struct Delivery: Sendable {
    /// The index among the samples of the window.
    let request: Int
    let subscriber: Int
    /// In nanoseconds from the start of the window.
    let time: Int64
  }

  package let name: String
  /// The index of the operation whose commits the events tell of.
  let trigger: Int
  package let subscribers: Int
  /// The number of subscribers whose subscription has ended before the window did.
  package var ended = 0
  var received: [Delivery] = []

  package init(name: String, trigger: Int, subscribers: Int) {
    self.name = name
    self.trigger = trigger
    self.subscribers = subscribers
  }

  /// Returns how many events of acknowledged requests have not been received.
  func missing(_ samples: [Sample]) -> Int {
    var seen: Set<Pair> = []
    for delivery in received where isAwaited(delivery.request, samples) {
      seen.insert(Pair(request: delivery.request, subscriber: delivery.subscriber))
    }
    let acknowledged = samples.count { isTrigger($0) && $0.outcome == .ok && $0.isFinished }
    return acknowledged * subscribers - seen.count
  }

  private func isTrigger(_ sample: Sample) -> Bool {
    Int(sample.operation) == trigger && sample.intended >= 0
  }

  private func isAwaited(_ request: Int, _ samples: [Sample]) -> Bool {
    samples.indices.contains(request) && isTrigger(samples[request])
      && samples[request].outcome == .ok && samples[request].isFinished
  }

  private struct Pair: Hashable {
    let request: Int
    let subscriber: Int
  }

  /// - Parameter samples: those of the window with its warm-up, to which the requests refer.
  func figures(_ samples: [Sample]) -> DeliveryFigures {
    var seen: Set<Pair> = []
    var twice = 0
    var (fromSend, fromAnswer): ([Int64], [Int64]) = ([], [])
    for delivery in received where samples.indices.contains(delivery.request) {
      let sample = samples[delivery.request]
      guard isTrigger(sample) else { continue }
      let pair = Pair(request: delivery.request, subscriber: delivery.subscriber)
      guard seen.insert(pair).inserted else {
        twice += 1
        continue
      }
      fromSend.append(delivery.time - sample.sent)
      if sample.outcome == .ok { fromAnswer.append(delivery.time - sample.done) }
    }
    return DeliveryFigures(
      name: name, subscribers: subscribers, ended: ended, events: seen.count,
      missed: missing(samples), twice: twice, fromSend: DurationStatistics(fromSend),
      fromAnswer: DurationStatistics(fromAnswer))
  }
}

/// The figures of one subscription: the commit lies between the sending of its trigger and the answer.
package struct DeliveryFigures: Sendable {
  package let name: String
  package let subscribers: Int
  package let ended: Int
  package let events: Int
  /// The events of acknowledged triggers that a subscriber did not receive.
  package let missed: Int
  package let twice: Int
  package let fromSend: DurationStatistics
  /// Negative for an event that was there before the answer.
  package let fromAnswer: DurationStatistics

  /// The line of the summary.
  var text: String {
    "\(name): \(events) events to \(subscribers) subscribers, \(missed) missed, \(twice) received twice"
      + (ended > 0 ? ", \(ended) subscriptions ended early" : "")
  }
}
