import Foundation
import Synchronization
import Testing

/// Runs blocking tests on dedicated threads, as many at once as threads and connections allow.
///
/// A test takes its resources before it begins, so that no running test waits for another. It
/// returns them at its end, when its servers, pools and sessions are closed.
final class TestTurns: Sendable {
  static let shared = TestTurns(threads: 8, connections: TestCluster.connectionsOfTests)

  private struct State {
    var threads: Int
    var connections: Int
    var waiting: [Waiting] = []
  }

  private struct Waiting {
    let connections: Int
    let turn: CheckedContinuation<Void, Never>
  }

  private let all: Int
  private let state: Mutex<State>
  private let executor: TestThreads

  init(threads: Int, connections: Int) {
    all = connections
    state = Mutex(State(threads: threads, connections: connections))
    executor = TestThreads(count: threads)
  }

  /// - Parameters:
  ///   - connections: to the cluster, at most.
  ///   - isFirst: before those that wait and are not, because others wait for its end.
  func run(
    connections: Int, isFirst: Bool, _ body: @Sendable () async throws -> Void
  ) async throws {
    precondition(connections <= all, "A test asks for more connections than the cluster has.")
    await withCheckedContinuation { turn in
      let waiting = Waiting(connections: connections, turn: turn)
      state.withLock { $0.waiting.insert(waiting, at: isFirst ? 0 : $0.waiting.endIndex) }
      admit()
    }
    defer {
      state.withLock {
        $0.threads += 1
        $0.connections += connections
      }
      admit()
    }
    try await withTaskExecutorPreference(executor) { try await body() }
  }

  /// In order: a test that needs many connections is not overtaken by those that need few.
  private func admit() {
    let admitted = state.withLock { state in
      var admitted: [Waiting] = []
      while let next = state.waiting.first, state.threads > 0,
        state.connections >= next.connections
      {
        state.threads -= 1
        state.connections -= next.connections
        admitted.append(state.waiting.removeFirst())
      }
      return admitted
    }
    for waiting in admitted { waiting.turn.resume() }
  }
}

/// Lets the tests of a suite block: see `TestTurns`.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
  let connections: Int
  let isFirst: Bool
  @TaskLocal private static var isInTurn = false

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // Of a suite's trait and those of suites and tests within, the innermost counts, once.
    let trait = test.traits.compactMap { $0 as? BlockingTrait }.last ?? self
    guard !Self.isInTurn else { return try await function() }
    try await TestTurns.shared.run(connections: trait.connections, isFirst: trait.isFirst) {
      let began = ContinuousClock.now
      defer { TestTimes.note(test, began.duration(to: .now)) }
      try await Self.$isInTurn.withValue(true) { try await function() }
    }
  }
}

extension Trait where Self == BlockingTrait {
  /// The tests block, for programs or sockets, and leave the tests' cluster alone.
  package static var blocks: Self { BlockingTrait(connections: 0, isFirst: false) }

  /// The tests use the tests' cluster, and block.
  package static var usesCluster: Self { usesCluster() }

  /// The same, with more connections than is usual or before others.
  ///
  /// - Parameters:
  ///   - connections: that each may have open at once, servers' included.
  ///   - isFirst: they take long, or run one after the other, and so begin before others.
  package static func usesCluster(connections: Int = 30, isFirst: Bool = false) -> Self {
    BlockingTrait(connections: connections, isFirst: isFirst)
  }
}

/// How long tests took without their wait for a turn, for `script/test`: lines in the file that
/// `SOCIOGRAPH_TEST_TIMES` names.
private enum TestTimes {
  private static let file = Mutex(
    ProcessInfo.processInfo.environment["SOCIOGRAPH_TEST_TIMES"].flatMap {
      FileHandle(forWritingAtPath: $0)
    })

  static func note(_ test: Test, _ duration: Duration) {
    let line = "\(duration.milliseconds) \(test.id)\n"
    file.withLock {
      guard let file = $0 else { return }
      _ = try? file.seekToEnd()
      try? file.write(contentsOf: Data(line.utf8))
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
