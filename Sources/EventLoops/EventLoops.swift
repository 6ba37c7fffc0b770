import CEventLoops
import Dispatch
import Glibc
import Synchronization

/// A thread that owns sockets. All state of a request lives on one loop, so that no step takes a
/// lock or changes threads.
///
/// The loop waits in epoll itself, as the one long item of a serial Dispatch queue, until `stop`.
/// Each iteration runs posted work, due timers and handlers of ready sockets, then flushes what
/// these wrote, and waits again: one wait for a batch. Handlers run on the loop and must not block.
/// Readiness is level-triggered.
package final class EventLoop: @unchecked Sendable {
  // @unchecked: every stored variable is touched on the loop only, but for `inbox`, which is locked.

  /// The queue, used for `dispatchPrecondition` alone: work put on it runs after `stop`.
  private let queue: DispatchQueue
  package let label: String
  private let poll: Int32
  private let wake: Int32
  private let inbox = Mutex(Inbox())
  private let thread = Atomic<UInt>(0)
  private var places: [Place] = []
  private var freePlaces: [Int] = []
  private var timers: [ScheduledTimer] = []
  private var nextTimer: UInt64 = 1
  private var afterBatch: [() -> Void] = []
  /// The work to run after the batch that has just ended, while it runs.
  private var afterLastBatch: [() -> Void] = []
  // The events of the last wait.
  private var readyTokens = [UInt64](repeating: 0, count: 256)
  private var readyEvents = [UInt32](repeating: 0, count: 256)
  /// The number of the current batch of sockets, or of the last one.
  package private(set) var batch: UInt64 = 0
  /// Whether the socket that is served is the last of its batch.
  package private(set) var isServingLast = false

  /// Work handed over by other threads.
  private struct Inbox: Sendable {
    var work: [@Sendable () -> Void] = []
    /// Whether the loop waits, or is about to, and has to be woken.
    var isWaiting = false
    var isStopped = false
  }

  private struct Place {
    /// The number of times the place was assigned.
    var generation: UInt32 = 0
    var descriptor: Int32 = -1
    var handler: ((Readiness) -> Void)?
  }

  private struct ScheduledTimer {
    let number: UInt64
    var due: UInt64
    /// The interval in nanoseconds, or 0 for a timer that fires once.
    let interval: UInt64
    let work: () -> Void
  }

  package typealias Readiness = SocketReadiness

  /// A socket's place on a loop.
  ///
  /// The system reuses descriptors, but tokens are not reused until a place has been assigned four
  /// billion times. So an event that was already fetched for a closed socket reaches no handler.
  package struct Token: Hashable, Sendable {
    fileprivate let value: UInt64

    fileprivate init(value: UInt64) { self.value = value }

    fileprivate init(place: Int, generation: UInt32) {
      value = UInt64(generation) << 32 | UInt64(UInt32(truncatingIfNeeded: place))
    }

    fileprivate var place: Int { Int(UInt32(truncatingIfNeeded: value)) }
    fileprivate var generation: UInt32 { UInt32(truncatingIfNeeded: value >> 32) }

    /// The token of the descriptor that ends a wait.
    fileprivate static let wake = Token(value: .max)
  }

  /// Creates a loop and starts it.
  ///
  /// - Throws: `EventLoopError` if the process has no descriptor left.
  package init(label: String) throws {
    self.label = label
    queue = DispatchQueue(label: label, qos: .userInitiated)
    poll = event_poll_create()
    guard poll >= 0 else { throw EventLoopError(call: "epoll_create1", code: errno) }
    wake = event_wake_create()
    guard wake >= 0 else {
      let code = errno
      close(poll)
      throw EventLoopError(call: "eventfd", code: code)
    }
    guard event_poll_set(poll, wake, UInt32(EVENT_READABLE), Token.wake.value, 1) == 0 else {
      let code = errno
      close(poll)
      close(wake)
      throw EventLoopError(call: "epoll_ctl", code: code)
    }
    queue.async { [self] in run() }
  }

  /// Ends readiness and timers, once work posted before has run. Descriptors stay open; their
  /// owners close them. Work posted later still runs, in order. Call from any thread.
  package func stop() {
    withInbox { inbox in
      guard !inbox.isStopped else { return }
      inbox.isStopped = true
      event_wake_raise(wake)
    }
  }

  /// Runs work on the loop, later. Call from any thread.
  package func execute(_ work: @escaping @Sendable () -> Void) {
    let isTaken = withInbox { inbox in
      guard !inbox.isStopped else { return false }
      inbox.work.append(work)
      if inbox.isWaiting {
        inbox.isWaiting = false
        // Under the lock: the descriptor is closed after the loop has stopped.
        event_wake_raise(wake)
      }
      return true
    }
    if !isTaken { queue.async(execute: work) }
  }

  private func withInbox<Result: Sendable>(_ body: (inout Inbox) -> Result) -> Result {
    inbox.withLock { inbox in
      event_lock_taken(poll)
      defer { event_lock_left(poll) }
      return body(&inbox)
    }
  }

  package func preconditionOnLoop() {
    // Work that is posted after `stop` runs on the queue, but not on the loop's thread.
    if !isOnLoop { dispatchPrecondition(condition: .onQueue(queue)) }
  }

  fileprivate var isOnLoop: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  // MARK: - Sockets

  /// Calls `handler` on the loop whenever the descriptor is ready for any of `readiness`.
  package func register(
    _ descriptor: Int32, for readiness: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> Token {
    let place = freePlaces.popLast() ?? places.count
    if place == places.count { places.append(Place()) }
    places[place].generation &+= 1
    let token = Token(place: place, generation: places[place].generation)
    guard event_poll_set(poll, descriptor, readiness.rawValue, token.value, 1) == 0 else {
      let code = errno
      freePlaces.append(place)
      throw EventLoopError(call: "epoll_ctl", code: code)
    }
    places[place].descriptor = descriptor
    places[place].handler = handler
    return token
  }

  package func update(_ token: Token, for readiness: Readiness) {
    guard isCurrent(token) else { return }
    _ = event_poll_set(
      poll, places[token.place].descriptor, readiness.rawValue, token.value, 0)
  }

  /// Ends readiness. Call before closing the descriptor, on the loop.
  package func unregister(_ token: Token) {
    guard isCurrent(token) else { return }
    _ = event_poll_remove(poll, places[token.place].descriptor)
    freePlaces.append(token.place)
    // Released last, because its deinitializer may unregister others.
    _ = places[token.place].handler.take()
  }

  /// Ends readiness for an owner that is released on any thread: at once on the loop, later
  /// elsewhere. `descriptor`, which closes the socket when it is freed, is retained until then.
  package func unregister(_ token: Token, keeping descriptor: some AnyObject & Sendable) {
    guard !isOnLoop else { return unregister(token) }
    execute { [self] in
      withExtendedLifetime(descriptor) { unregister(token) }
    }
  }

  private func isCurrent(_ token: Token) -> Bool {
    token.place < places.count && places[token.place].generation == token.generation
      && places[token.place].handler != nil
  }

  // MARK: - Work and timers

  /// Runs work once, after everything that is being served now: the place to flush what several
  /// events wrote. Call on the loop.
  package func afterThisBatch(_ work: @escaping () -> Void) {
    afterBatch.append(work)
  }

  /// Calls `work` on the loop after a delay, in milliseconds rounded up, until canceled. Call on
  /// the loop.
  package func schedule(
    after delay: Duration, repeating interval: Duration? = nil, _ work: @escaping () -> Void
  ) -> LoopTimer {
    let number = nextTimer
    nextTimer += 1
    insert(
      ScheduledTimer(
        number: number, due: Self.sum(event_nanoseconds(), delay.wholeNanoseconds),
        interval: interval.map { max($0.wholeNanoseconds, 1) } ?? 0, work: work))
    return LoopTimer(loop: self, number: number)
  }

  /// Inserts a timer. Timers are in order of their times, the next one last; those with equal times
  /// are in order of insertion.
  private func insert(_ timer: ScheduledTimer) {
    var place = timers.count
    while place > 0, timers[place - 1].due <= timer.due { place -= 1 }
    timers.insert(timer, at: place)
  }

  fileprivate func cancel(timer number: UInt64) {
    if let place = timers.lastIndex(where: { $0.number == number }) { timers.remove(at: place) }
  }

  private static func sum(_ time: UInt64, _ delay: UInt64) -> UInt64 {
    let (sum, overflow) = time.addingReportingOverflow(delay)
    return overflow ? .max : sum
  }

  // MARK: - Turns

  private func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    while true {
      let isLast = runPosted()
      runTimers()
      runAfterBatch()
      if isLast { break }
      serve(waiting: timeout())
    }
    letGo()
    thread.store(0, ordering: .relaxed)
    close(poll)
    close(wake)
  }

  /// Releases handlers and timers that ended. Releasing one may unregister another, which is then
  /// already gone.
  private func letGo() {
    var (places, timers): ([Place], [ScheduledTimer]) = ([], [])
    swap(&places, &self.places)
    swap(&timers, &self.timers)
    freePlaces.removeAll()
  }

  /// Runs posted work.
  ///
  /// - Returns: whether the loop was stopped and has nothing left to do.
  private func runPosted() -> Bool {
    let (work, isStopped) = withInbox { inbox in
      inbox.isWaiting = false
      let work = inbox.work
      inbox.work = []
      return (work, inbox.isStopped)
    }
    for item in work { item() }
    return isStopped
  }

  private func runTimers() {
    guard !timers.isEmpty else { return }
    let now = event_nanoseconds()
    while let next = timers.last, next.due <= now {
      timers.removeLast()
      if next.interval > 0 {
        var again = next
        again.due = Self.sum(now, next.interval)
        insert(again)
      }
      next.work()
    }
  }

  private func runAfterBatch() {
    while !afterBatch.isEmpty {
      swap(&afterBatch, &afterLastBatch)
      for item in afterLastBatch { item() }
      afterLastBatch.removeAll(keepingCapacity: true)
    }
  }

  /// Returns the maximum time to wait for sockets, in milliseconds; -1 without a limit.
  private func timeout() -> Int32 {
    let mayWait = withInbox { inbox in
      inbox.isWaiting = inbox.work.isEmpty && !inbox.isStopped
      return inbox.isWaiting
    }
    guard mayWait else { return 0 }
    guard let next = timers.last else { return -1 }
    let now = event_nanoseconds()
    guard next.due > now else { return 0 }
    return Int32(clamping: (next.due - now - 1) / 1_000_000 + 1)
  }

  private func serve(waiting milliseconds: Int32) {
    let count = unsafe event_poll_wait(
      poll, &readyTokens, &readyEvents, Int32(readyTokens.count), milliseconds)
    guard count > 0 else { return }
    batch &+= 1
    for index in 0..<Int(count) {
      isServingLast = index == Int(count) - 1
      let token = Token(value: readyTokens[index])
      if token == .wake {
        event_wake_lower(wake)
      } else if isCurrent(token) {
        // A handler may unregister others: each token is looked up when its turn comes.
        places[token.place].handler?(Readiness(rawValue: readyEvents[index]))
      }
    }
    isServingLast = false
  }
}

/// A timer on a loop. `cancel()` or releasing it, from any thread, ends it; on a thread other than
/// the loop's, it may still fire once.
package final class LoopTimer: Sendable {
  private let loop: EventLoop
  private let number: UInt64

  fileprivate init(loop: EventLoop, number: UInt64) {
    self.loop = loop
    self.number = number
  }

  package func cancel() { loop.forget(timer: number) }

  deinit { loop.forget(timer: number) }
}

extension EventLoop {
  fileprivate func forget(timer number: UInt64) {
    if isOnLoop { cancel(timer: number) } else { execute { [self] in cancel(timer: number) } }
  }
}

package struct EventLoopError: Error, Sendable {
  package let call: String
  package let code: Int32
}

extension Duration {
  /// The duration in nanoseconds, clamped to 0...584 years.
  fileprivate var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (nanoseconds, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .max }
    let (sum, carry) = nanoseconds.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
    return carry ? .max : sum
  }
}
