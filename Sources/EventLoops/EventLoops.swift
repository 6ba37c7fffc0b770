import CEventLoops
import Dispatch
import Glibc

/// A serial Dispatch queue that owns sockets: everything a request touches lives on one loop, so
/// nothing on its way takes a lock or changes threads.
///
/// Readiness of all its sockets comes through one epoll descriptor, which is *one* Dispatch read
/// source: a wake-up of the queue serves every socket that is ready. Handlers run on the queue and
/// must not block. Level-triggered.
package final class EventLoop: @unchecked Sendable {
  // @unchecked: every stored variable is touched on `queue` only; `preconditionOnLoop` says so.
  package let queue: DispatchQueue
  private let poll: Int32
  private var source: (any DispatchSourceRead)?
  private var handlers: [UInt64: Handler] = [:]
  private var nextToken: UInt64 = 1
  private var afterBatch: [() -> Void] = []
  private var isServing = false

  private struct Handler {
    let descriptor: Int32
    var call: (Readiness) -> Void
  }

  package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static let readable = Readiness(rawValue: UInt32(EVENT_READABLE))
    package static let writable = Readiness(rawValue: UInt32(EVENT_WRITABLE))
    /// The peer closed its sending half; reported only where it was asked for.
    package static let peerClosed = Readiness(rawValue: UInt32(EVENT_PEER_CLOSED))
    package static let error = Readiness(rawValue: UInt32(EVENT_ERROR))
    package static let hungUp = Readiness(rawValue: UInt32(EVENT_HUNG_UP))
  }

  /// A socket's place on a loop. Descriptors are reused by the system; tokens never are, so an event
  /// that was already fetched for a closed socket reaches nobody.
  package struct Token: Hashable, Sendable {
    fileprivate let value: UInt64
  }

  /// - Throws: `EventLoopError` when the process has no descriptor left.
  package init(label: String) throws {
    queue = DispatchQueue(label: label, qos: .userInitiated)
    poll = event_poll_create()
    guard poll >= 0 else { throw EventLoopError(call: "epoll_create1", code: errno) }
    let source = DispatchSource.makeReadSource(fileDescriptor: poll, queue: queue)
    self.source = source
    let poll = poll
    source.setEventHandler { [weak self] in self?.serveReady() }
    source.setCancelHandler { close(poll) }
    source.resume()
  }

  /// Ends readiness. Descriptors stay their owners' to close.
  package func stop() {
    execute { [self] in
      source?.cancel()
      source = nil
      handlers.removeAll()
    }
  }

  /// Runs work on the loop, later.
  package func execute(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  package func preconditionOnLoop() {
    dispatchPrecondition(condition: .onQueue(queue))
  }

  /// Calls `handler` on the loop whenever the descriptor is ready for any of `readiness`.
  package func register(
    _ descriptor: Int32, for readiness: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> Token {
    let token = Token(value: nextToken)
    guard event_poll_set(poll, descriptor, readiness.rawValue, token.value, 1) == 0 else {
      throw EventLoopError(call: "epoll_ctl", code: errno)
    }
    nextToken += 1
    handlers[token.value] = Handler(descriptor: descriptor, call: handler)
    return token
  }

  package func update(_ token: Token, for readiness: Readiness) {
    guard let handler = handlers[token.value] else { return }
    _ = event_poll_set(poll, handler.descriptor, readiness.rawValue, token.value, 0)
  }

  /// Call before closing the descriptor.
  package func unregister(_ token: Token) {
    guard let handler = handlers.removeValue(forKey: token.value) else { return }
    _ = event_poll_remove(poll, handler.descriptor)
  }

  /// Runs work once, on the loop, after the events that are being served now: the place to flush
  /// what several of them wrote.
  package func afterThisBatch(_ work: @escaping () -> Void) {
    afterBatch.append(work)
    if afterBatch.count == 1, !isServing {
      execute { [self] in runAfterBatch() }
    }
  }

  /// Calls `work` on the loop after a delay, until cancelled.
  package func schedule(
    after delay: Duration, repeating interval: Duration? = nil, _ work: @escaping () -> Void
  ) -> LoopTimer {
    LoopTimer(queue: queue, delay: delay, interval: interval, work: work)
  }

  private func runAfterBatch() {
    while !afterBatch.isEmpty {
      let work = afterBatch
      afterBatch.removeAll(keepingCapacity: true)
      for item in work { item() }
    }
  }

  /// Serves what is ready and what became ready meanwhile, so that under load one wake-up of the
  /// queue, which costs a change of threads, is enough for many batches.
  private func serveReady() {
    isServing = true
    defer { isServing = false }
    for _ in 0..<Self.batchesPerWakeUp {
      guard serveBatch() else { return }
      runAfterBatch()
    }
  }

  /// Other work of the queue waits for no more batches than these.
  private static let batchesPerWakeUp = 32

  /// False when nothing was ready.
  private func serveBatch() -> Bool {
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 256) { tokens in
      unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 256) { events in
        let count = unsafe event_poll_ready(poll, tokens.baseAddress, events.baseAddress, 256)
        guard count > 0 else { return false }
        for index in 0..<Int(count) {
          // A handler may unregister others: look each token up when its turn comes.
          unsafe handlers[tokens[index]]?.call(Readiness(rawValue: events[index]))
        }
        return true
      }
    }
  }
}

/// A timer on a loop. Cancelled by `cancel()` or by letting go of it.
package final class LoopTimer {
  private let source: any DispatchSourceTimer

  fileprivate init(
    queue: DispatchQueue, delay: Duration, interval: Duration?, work: @escaping () -> Void
  ) {
    source = DispatchSource.makeTimerSource(queue: queue)
    let start = DispatchTime.now() + delay.dispatchInterval
    if let interval {
      source.schedule(deadline: start, repeating: interval.dispatchInterval)
    } else {
      source.schedule(deadline: start)
    }
    nonisolated(unsafe) let work = work
    source.setEventHandler { unsafe work() }
    source.resume()
  }

  package func cancel() { source.cancel() }

  deinit { source.cancel() }
}

package struct EventLoopError: Error, Sendable {
  package let call: String
  package let code: Int32
}

extension Duration {
  /// Rounded to nanoseconds; saturates after 292 years.
  package var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow
      ? .never : .nanoseconds(Int(nanoseconds &+ attoseconds / 1_000_000_000))
  }
}
