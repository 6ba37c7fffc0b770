import EventLoops
import GraphQLExecution
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import Postgres

/// Runs the statements for what subscriptions are told, so many at once as the database has use for, in turn. What is the
/// same for several is run once, and they share its bytes. Everything happens on the loop.
final class LiveDeliveries {
  /// What makes two answers the same: the plan with its values, whom it is for (where that matters), and the node as of
  /// one look. Only those are shared that begin before the answer of the first is there.
  fileprivate struct Subject: Hashable {
    let plan: ObjectIdentifier
    let variables: [InputValue?]
    let viewer: Int64?
    let node: Int64
    let snapshot: String
    /// Where that matters.
    let told: Int64?
  }

  /// One statement, and who waits for its answer.
  final class Delivery {
    fileprivate let subject: Subject?
    fileprivate var watches: [(watch: Watch, due: Watch.Due)] = []
    fileprivate var ticket: PostgresTicket?
    fileprivate var isOver = false

    fileprivate init(_ subject: Subject?) { self.subject = subject }
  }

  private let loop: EventLoop
  private let runner: QueryRunner
  private let maximum: Int
  private var ready = RingBuffer<Watch>()
  private var count = 0
  private var shared: [Subject: Delivery] = [:]
  /// Called with what each is to be told.
  var onAnswer: (Watch, Watch.Due, OperationResponse) -> Void = { _, _, _ in }

  init(
    loop: EventLoop, runner: QueryRunner, maximum: Int
  ) {
    self.loop = loop
    self.runner = runner
    self.maximum = maximum
  }

  func enqueue(_ watch: Watch) {
    guard !watch.isQueued, watch.delivery == nil, !watch.queue.isEmpty else { return }
    watch.isQueued = true
    ready.append(watch)
    goOn()
  }

  /// It waits for nothing any more.
  func drop(_ watch: Watch) {
    guard let delivery = watch.delivery else { return }
    watch.delivery = nil
    delivery.watches.removeAll { $0.watch === watch }
    guard delivery.watches.isEmpty, !delivery.isOver else { return }
    end(delivery)
    delivery.ticket?.cancel()
  }

  private func goOn() {
    while count < maximum, let watch = ready.popFirst() {
      watch.isQueued = false
      if case .hearing = watch.state { deliver(watch) }
    }
  }

  private func deliver(_ watch: Watch) {
    guard !watch.queue.isEmpty else { return }
    let due = watch.queue.removeFirst()
    let subject = subject(of: watch, due)
    if let subject, let delivery = shared[subject] {
      delivery.watches.append((watch, due))
      watch.delivery = delivery
      return
    }
    let delivery = Delivery(subject)
    delivery.watches = [(watch, due)]
    watch.delivery = delivery
    if let subject { shared[subject] = delivery }
    count += 1
    let ticket = runner.run(
      watch.operation, watch.response, viewer: watch.viewer, event: watch.moment(of: due)
    ) { [self] outcome in
      guard !delivery.isOver else { return }
      end(delivery)
      answer(delivery, outcome.response)
    }
    if !delivery.isOver { delivery.ticket = ticket }
  }

  private func subject(of watch: Watch, _ due: Watch.Due) -> Subject? {
    guard !due.isAlone else { return nil }
    let plan = watch.operation.plan
    return Subject(
      plan: ObjectIdentifier(plan), variables: watch.operation.variables,
      viewer: plan.plan.parameters.contains(.viewer) ? watch.viewer : nil, node: due.node,
      snapshot: due.snapshot.text,
      told: plan.plan.parameters.contains(.told) ? watch.moment(of: due).told : nil)
  }

  private func end(_ delivery: Delivery) {
    delivery.isOver = true
    count -= 1
    if let subject = delivery.subject { shared[subject] = nil }
    if !ready.isEmpty { loop.afterThisBatch { [weak self] in self?.goOn() } }
  }

  /// Errors name the request they belong to, and what is wrong may be so for the first only: the others are run alone.
  private func answer(_ delivery: Delivery, _ response: OperationResponse) {
    let watches = delivery.watches
    delivery.watches = []
    for (place, (watch, due)) in watches.enumerated() {
      watch.delivery = nil
      if case .ended = watch.state { continue }
      if place == 0 || response.isSame {
        onAnswer(watch, due, response)
      } else {
        watch.queue.insert(Watch.Due(node: due.node, snapshot: due.snapshot, isAlone: true), at: 0)
        enqueue(watch)
      }
    }
  }
}

extension OperationResponse {
  /// Nothing in it is of one request.
  fileprivate var isSame: Bool {
    if case .executed(_, let errors, _) = self { errors.isEmpty } else { false }
  }
}
