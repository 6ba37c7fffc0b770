import Dispatch
import Glibc
import Server
import Synchronization

/// SIGINT, SIGTERM and SIGHUP, from the first moment of a command to its last.
///
/// SIGHUP never ends it: it is the sign to open again what is open and may have changed.
///
/// While it starts, the first one undoes what has been started and ends the process; while it
/// serves, the first one is waited for and the second hurries; one more ends the process at once.
final class StopSignals: @unchecked Sendable {
  // @unchecked: `sources` is filled by `init` and then only held.
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "sociograph.signals")
  private let arrived = DispatchSemaphore(value: 0)
  private let last = Atomic<Int32>(0)
  private var sources: [any DispatchSourceSignal] = []

  private struct State {
    var count = 0
    var isServing = false
    /// Undoes what has been started; nil while something is that cannot be.
    var undo: (@Sendable () -> Void)?
    var hurry: (@Sendable () -> Void)?
    var renew: (@Sendable () -> Void)?
  }

  init() {
    signal(SIGPIPE, SIG_IGN)
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { [weak self] in self?.receive(number) }
      source.resume()
      sources.append(source)
    }
    signal(SIGHUP, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: queue)
    source.setEventHandler { [weak self] in self?.state.withLock { $0.renew }?() }
    source.resume()
    sources.append(source)
  }

  /// From here on SIGHUP calls `renew`, on a queue of its own: a file system that hangs does not keep the
  /// other signals from being heard.
  func renew(_ renew: @escaping @Sendable () -> Void) {
    let reloads = Reloads(renew)
    state.withLock { $0.renew = { reloads.request() } }
  }

  private func receive(_ number: Int32) {
    last.store(number, ordering: .relaxed)
    let (count, isServing, undo, hurry) = state.withLock { state in
      state.count += 1
      return (state.count, state.isServing, state.undo, state.hurry)
    }
    if count > 2 { _exit(1) }
    if isServing {
      if count > 1 { hurry?() }
      arrived.signal()
    } else if let undo {
      Console.say("stopping")
      undo()
      Console.flush()
      _exit(0)
    } else if count > 1 {
      _exit(1)
    } else {
      Console.say("stopping as soon as the database has started; once more ends this at once")
    }
  }

  var hasArrived: Bool { state.withLock { $0.count > 0 } }

  /// From here on a signal calls `undo` and ends the process, also one that is here already.
  func started(undo: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.undo = undo
      return state.count > 0
    }
    guard isLate else { return }
    undo()
    _exit(0)
  }

  /// From here on signals are for `wait`; `hurry` is called by the second.
  func serve(hurry: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      guard state.count == 0 else { return true }
      state.isServing = true
      state.hurry = hurry
      return false
    }
    if isLate { waitForExit() }
  }

  /// The next signal, or nil when none comes in time.
  func wait(_ timeout: Duration? = nil) -> Int32? {
    guard let timeout else {
      arrived.wait()
      return last.load(ordering: .relaxed)
    }
    return arrived.wait(timeout: .now() + timeout.timeInterval) == .success
      ? last.load(ordering: .relaxed) : nil
  }

  /// For the thread whose work was undone under it by a signal.
  func waitForExit() -> Never {
    while true { sleep(1) }
  }
}

/// Does one thing at a time on a queue of its own; of requests that come meanwhile one is left.
final class Reloads: Sendable {
  private let queue = DispatchQueue(label: "sociograph.reload")
  private let isRequested = Atomic(false)
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func request() {
    guard !isRequested.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { [self] in
      isRequested.store(false, ordering: .releasing)
      body()
    }
  }

  /// Waits for what was requested.
  func finish() { queue.sync {} }
}
