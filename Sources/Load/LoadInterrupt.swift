import Synchronization

/// Whether a run is to end early, and what to call when it is.
package final class LoadInterrupt: Sendable {
  private struct State: Sendable {
    var isRaised = false
    var handlers: [Int: @Sendable () -> Void] = [:]
    var next = 0
  }

  private let state = Mutex(State())

  package init() {}

  package var isRaised: Bool { state.withLock { $0.isRaised } }

  /// Ends the run, from any thread.
  package func raise() {
    let handlers = state.withLock { state in
      state.isRaised = true
      return Array(state.handlers.values)
    }
    for handler in handlers { handler() }
  }

  /// Calls a handler when the run is to end, at once if it is already.
  ///
  /// - Returns: what `forget` takes.
  package func add(_ handler: @escaping @Sendable () -> Void) -> Int {
    let (number, isLate) = state.withLock { state in
      state.next += 1
      state.handlers[state.next] = handler
      return (state.next, state.isRaised)
    }
    if isLate { handler() }
    return number
  }

  package func forget(_ number: Int) { state.withLock { $0.handlers[number] = nil } }
}
