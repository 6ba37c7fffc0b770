import EventLoops
import HTTP

/// The subscriptions of a run, and the events that they receive in a window. It is used on the loop only.
final class LoadSubscriptions {
  private let loop: EventLoop
  private let endpoint: HTTPClientEndpoint
  private let target: HTTPTarget
  private let writer: RequestWriter
  private var subscribers: [LoadSubscriber] = []
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var readyCount = 0
  private var subscriberCount = 0
  private var opening: ((String?) -> Void)?
  private var patience: LoopTimer?

  // The state of a window.
  private var deliveries: [Deliveries] = []
  private var start = Moment(nanoseconds: 0)
  private var marks = 0..<0
  private var ended: [Int]

  init(
    on loop: EventLoop, _ endpoint: HTTPClientEndpoint, _ target: HTTPTarget,
    _ writer: RequestWriter
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.target = target
    self.writer = writer
    ended = writer.subscriptions.map { _ in 0 }
  }

  /// Opens all subscriptions.
  ///
  /// - Parameter completion: called once, with the reason if one of them cannot be opened.
  func open(timeout: Int64, completion: @escaping (String?) -> Void) {
    let plans = writer.subscriberPlans()
    guard !plans.isEmpty else { return completion(nil) }
    opening = completion
    subscriberCount = plans.count
    patience = loop.schedule(after: .nanoseconds(timeout)) { [weak self] in
      self?.finishOpening("no acknowledgment in time")
    }
    for (number, plan) in plans.enumerated() where opening != nil {
      do {
        let subscriber = LoadSubscriber(
          plan, target: target, socket: try endpoint.open(), on: loop
        ) { [weak self] in self?.take($0, $1, $2) }
        subscribers.append(subscriber)
        numbers[ObjectIdentifier(subscriber)] = number
        try subscriber.begin()
      } catch {
        finishOpening("\(error)")
      }
    }
  }

  /// Ends the opening early, for an interrupt.
  func giveUp() { finishOpening("interrupted") }

  private func finishOpening(_ reason: String?) {
    guard let opening else { return }
    self.opening = nil
    patience = nil
    opening(reason)
  }

  func close() {
    for subscriber in subscribers { subscriber.close() }
    subscribers = []
  }

  // MARK: A window

  /// - Parameter marks: the numbers of its requests in the run.
  func begin(at start: Moment, marks: Range<Int>) {
    self.start = start
    self.marks = marks
    deliveries = writer.subscriptions
  }

  /// Returns how many events of acknowledged requests are to come, from subscribers that are still there.
  func missing(_ samples: [Sample]) -> Int {
    zip(deliveries, ended).reduce(0) { sum, entry in
      entry.0.subscribers > entry.1 ? sum + entry.0.missing(samples) : sum
    }
  }

  func figures(_ samples: [Sample]) -> [DeliveryFigures] {
    zip(deliveries, ended).map { deliveries, ended in
      var deliveries = deliveries
      deliveries.ended = ended
      return deliveries.figures(samples)
    }
  }

  private func take(
    _ subscriber: LoadSubscriber, _ event: LoadSubscriber.Event, _ moment: Moment
  ) {
    switch event {
    case .ready:
      readyCount += 1
      if readyCount == subscriberCount { finishOpening(nil) }
    case .ended(let reason):
      finishOpening(reason)
      ended[subscriber.plan.subscription] += 1
    case .text(let text):
      guard let mark = writer.mark(in: text), marks.contains(mark),
        let number = numbers[ObjectIdentifier(subscriber)]
      else { return }
      deliveries[subscriber.plan.subscription].received.append(
        Deliveries.Delivery(
          request: mark - marks.lowerBound, subscriber: number,
          time: start.nanoseconds(to: moment)))
    }
  }
}
