import EventLoops
import Postgres

/// Documents that nobody has sent before, or not with such variables: milliseconds of work each.
///
/// They are worked on one at a time, of one client after the other, and in between as long for those whose
/// documents are known: work of this kind has half of the loop.
final class PreparationQueue {
  /// Given whether it has not waited too long; says whether it was work, and not found after all.
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

  /// - Returns: false if there is no room.
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
