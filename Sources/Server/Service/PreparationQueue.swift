import EventLoops
import Postgres

/// A queue of documents that are not cached, or not for such variables. Planning one takes
/// milliseconds.
///
/// Clients take turns, and one document is planned at a time. Between two of them, requests with
/// cached documents run for as long, so planning takes half of the event loop's time.
final class PreparationQueue {
  /// Work in the queue. It receives whether it was started in time, and returns whether the
  /// document had to be planned.
  typealias Work = (_ isInTime: Bool) -> Bool

  private struct Entry {
    let since: ContinuousClock.Instant
    let work: Work
  }

  private let loop: EventLoop
  private let patience: Duration
  private var entries = FairQueue<PoolClient, Entry>(room: 4_096)
  private var next: LoopTimer?

  /// - Parameter patience: the longest wait.
  init(loop: EventLoop, patience: Duration) {
    self.loop = loop
    self.patience = patience
  }

  /// Adds the planning of a document.
  ///
  /// - Returns: whether there was capacity for it.
  func add(for client: PoolClient, _ work: @escaping Work) -> Bool {
    guard entries.add(Entry(since: .now, work: work), for: client) else { return false }
    plan()
    return true
  }

  private func plan(after rest: Duration = .zero) {
    guard next == nil, entries.count > 0 else { return }
    next = loop.schedule(after: rest) { self.run() }
  }

  private func run() {
    next = nil
    let began = ContinuousClock.now
    while let entry = entries.next() {
      if entry.work(entry.since + patience > .now) { break }
    }
    plan(after: began.duration(to: .now))
  }
}
