import EventLoops
import Testing

@testable import Postgres

/// How a pool stands to its database, transition by transition.
struct PoolConditionTests {
  private static let serving = PoolCondition.serving
  private static let all: [PoolCondition] = [
    .serving, .recovering(failures: 2), .broken(failures: 3), .paused, .stopping,
  ]

  @Test func `the breaker opens when the last connection is gone and the threshold is reached`() {
    var condition = PoolCondition.serving
    condition.connectFailed(isLast: true, threshold: 3)
    #expect(condition == .recovering(failures: 1))
    condition.connectFailed(isLast: true, threshold: 3)
    #expect(condition == .recovering(failures: 2))
    condition.connectFailed(isLast: true, threshold: 3)
    #expect(condition == .broken(failures: 3))
    condition.connectFailed(isLast: true, threshold: 3)
    #expect(condition == .broken(failures: 4))
    condition.connected()
    #expect(condition == .serving)
  }

  @Test func `beside a connection that works no failure opens the breaker`() {
    var condition = PoolCondition.serving
    for count in 1...10 {
      condition.connectFailed(isLast: false, threshold: 3)
      #expect(condition == .recovering(failures: count))
    }
    condition.brokeAtOnce()
    #expect(condition == .recovering(failures: 11))
    condition.connectFailed(isLast: true, threshold: 3)
    #expect(condition == .broken(failures: 12))
  }

  @Test(arguments: all)
  func `a pause ends whatever was wrong, and only a pause is resumed`(_ before: PoolCondition) {
    var condition = before
    let isOver = before == .paused || before == .stopping
    let isPaused = condition.pause()
    #expect(isPaused != isOver)
    #expect(condition == (before == .stopping ? .stopping : .paused))
    let isResumed = condition.resume()
    #expect(isResumed == (before != .stopping))
    #expect(condition == (before == .stopping ? .stopping : .serving))
    let isResumedAgain = condition.resume()
    #expect(!isResumedAgain)
  }

  @Test(arguments: [PoolCondition.paused, .stopping])
  func `while it is paused or stopping nothing that connections do matters`(
    _ before: PoolCondition
  ) {
    var condition = before
    condition.connectFailed(isLast: true, threshold: 1)
    condition.brokeAtOnce()
    condition.connected()
    #expect(condition == before)
    #expect(!condition.mayConnect && condition.failures == 0)
    #expect(condition.closeReason != nil)
  }

  @Test(arguments: all)
  func `stopping is for good`(_ before: PoolCondition) {
    var condition = before
    condition.stop()
    #expect(condition == .stopping)
  }

  @Test func `a request is refused while the breaker is open, and kept while the pool is paused`() {
    let start = Moment.now
    var state = PoolState(settings: PoolSettings(size: 1), seed: 1, now: start)
    var now = start
    var actions: [PoolAction] = []
    func failures() -> [PoolFailure] {
      actions.compactMap { if case .fail(_, let failure) = $0 { failure } else { nil } }
    }
    func submit() {
      actions.removeAll()
      _ = state.submit(
        kind: .quick, estimate: 50_000, mayRetry: true, deadline: now + .seconds(5), now: now,
        actions: &actions)
    }
    state.start(now: now, actions: &actions)
    while !state.condition.isBroken {
      state.connectFailed(
        slot: 0, PostgresError(.unavailable, message: ""), now: now, actions: &actions)
      now += .seconds(2)
      if !state.condition.isBroken { state.tick(now: now, actions: &actions) }
    }
    // The first has an attempt started for it, and waits for that; when it fails, all are refused.
    submit()
    #expect(failures().isEmpty)
    actions.removeAll()
    state.connectFailed(
      slot: 0, PostgresError(.unavailable, message: ""), now: now, actions: &actions)
    #expect(failures() == [.refused(.noDatabase)])
    submit()
    #expect(failures() == [.refused(.noDatabase)])
    actions.removeAll()
    state.pause(now: now, actions: &actions)
    #expect(state.currentStatistics.isBreakerOpen == false)
    submit()
    #expect(failures().isEmpty && state.waitingCount == 1)
    actions.removeAll()
    state.resume(now: now, actions: &actions)
    #expect(actions.contains { if case .connect(0) = $0 { true } else { false } })
    state.stop(now: now, actions: &actions)
    #expect(failures() == [.refused(.stopping)])
  }
}
