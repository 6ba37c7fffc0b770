import DatabaseSetup
import Testing

@testable import Server

/// When background tasks are due, by a clock of the test's own.
@Suite struct TaskScheduleTests {
  private let start = ContinuousClock.now
  private let often = BackgroundTask(name: "often", period: .seconds(1))
  private let seldom = BackgroundTask(name: "seldom", period: .seconds(3600))

  @Test func `a task is due at once, and again a period after it was run`() {
    var schedule = TaskSchedule()
    #expect(schedule.due(now: start) == nil && schedule.nextDue == nil)
    schedule.set([often, seldom], now: start)
    #expect(schedule.due(now: start) == often)
    schedule.ran(often, now: start + .seconds(2))
    #expect(schedule.due(now: start + .seconds(2)) == seldom)
    schedule.ran(seldom, now: start + .seconds(2))
    #expect(schedule.due(now: start + .milliseconds(2_999)) == nil)
    #expect(schedule.nextDue == start + .seconds(3))
    #expect(schedule.due(now: start + .seconds(3)) == often)
  }

  @Test func `the one that has waited the longest comes first`() {
    var schedule = TaskSchedule()
    schedule.set([often, seldom], now: start)
    schedule.ran(often, now: start)
    #expect(schedule.due(now: start + .seconds(10)) == seldom)
  }

  @Test func `what failed rests, what is refused rests longer, and each is told once`() {
    var schedule = TaskSchedule()
    schedule.set([often], now: start)
    let first = schedule.failed(often, isRefused: false, now: start)
    #expect(first && schedule.nextDue == start + TaskSchedule.restAfterFailure)
    let second = schedule.failed(often, isRefused: true, now: start)
    #expect(!second && schedule.nextDue == start + TaskSchedule.restAfterRefusal)
    schedule.ran(often, now: start)
    let third = schedule.failed(often, isRefused: false, now: start)
    #expect(third)
  }

  @Test func `a list that is read again leaves what is known due when it was`() {
    var schedule = TaskSchedule()
    schedule.set([often, seldom], now: start)
    schedule.ran(often, now: start)
    schedule.ran(seldom, now: start)
    let sooner = BackgroundTask(name: "seldom", period: .seconds(60))
    let new = BackgroundTask(name: "new", period: .seconds(5))
    schedule.set([sooner, new], now: start + .milliseconds(500))
    #expect(schedule.due(now: start + .milliseconds(500)) == new)
    schedule.ran(new, now: start + .seconds(100))
    #expect(schedule.due(now: start + .seconds(60)) == nil)
    #expect(schedule.nextDue == start + .milliseconds(60_500))
  }
}
