import Dispatch
import Glibc
import Server
import Synchronization

/// Handles SIGINT, SIGTERM and SIGHUP, from the first moment of a command to its last.
///
/// SIGHUP never ends the process: it requests to reopen files that may have changed.
///
/// During the start, the first other signal undoes what has been started and ends the process.
/// While serving, the first one starts a graceful shutdown and the second hastens it; another one
/// ends the process at once.
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
    /// Undoes what has been started; nil while something runs that cannot be undone.
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

  /// Makes SIGHUP call `renew` from now on, on a separate queue: a file system that hangs does not
  /// block the other signals.
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
      Console.say("stopping when the database has started; another signal exits at once")
    }
  }

  var hasArrived: Bool { state.withLock { $0.count > 0 } }

  /// Makes a signal call `undo` and end the process from now on, also one that was already
  /// received.
  func started(undo: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.undo = undo
      return state.count > 0
    }
    guard isLate else { return }
    undo()
    _exit(0)
  }

  /// Makes signals go to `wait` from now on; the second calls `hurry`.
  func serve(hurry: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      guard state.count == 0 else { return true }
      state.isServing = true
      state.hurry = hurry
      return false
    }
    if isLate { waitForExit() }
  }

  /// Returns the next signal, or nil if none arrives in time.
  func wait(_ timeout: Duration? = nil) -> Int32? {
    guard let timeout else {
      arrived.wait()
      return last.load(ordering: .relaxed)
    }
    return arrived.wait(timeout: .now() + timeout.timeInterval) == .success
      ? last.load(ordering: .relaxed) : nil
  }

  /// Waits for the exit, on the thread whose work a signal undid.
  func waitForExit() -> Never {
    while true { sleep(1) }
  }
}

/// Runs one reload at a time on a separate queue; of requests that arrive meanwhile, one is kept.
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

  /// Waits until the requested reloads are done.
  func finish() { queue.sync {} }
}
