import TestSupport
import Testing

/// The history that checks the random schedules detects impossible responses.
@Suite(.usesCluster) struct ScheduleHistoryTests {
  typealias Span = ScheduleHistory.Span

  /// Blocked by a request from 10 to 20, and no longer by one from 30 to 40.
  @Test(arguments: [
    (1, 9, true, false), (1, 9, false, true), (1, 15, true, true), (15, 16, false, true),
    (15, 16, true, true), (21, 29, true, true), (21, 29, false, false), (21, 31, false, true),
    (39, 45, true, true), (41, 45, true, false), (41, 45, false, true), (1, 50, true, true),
  ])
  func `an answer is explained by what was so at some moment of its request`(
    sent: Int, answered: Int, isSo: Bool, isExplained: Bool
  ) {
    let history = ScheduleHistory()
    history.change("block", to: true, Span(sent: 10, answered: 20))
    history.change("block", to: false, Span(sent: 30, answered: 40))
    history.explain("an answer", by: ["block"], isSo: isSo, Span(sent: sent, answered: answered))
    #expect(history.unexplained().isEmpty == isExplained)
  }

  @Test func `one of several facts is enough, and none must be so otherwise`() {
    let history = ScheduleHistory()
    history.change("gone", to: true, Span(sent: 1, answered: 2))
    history.explain("not found", by: ["gone", "block"], isSo: true, Span(sent: 3, answered: 4))
    #expect(history.unexplained() == [])
    history.explain("found", by: ["gone", "block"], isSo: false, Span(sent: 5, answered: 6))
    #expect(history.unexplained().count == 1)
  }

  @Test func `a seat too many, and a refusal too early, are found`() {
    let history = ScheduleHistory()
    history.change("seat 0 1", to: true, Span(sent: 1, answered: 4))
    history.refuse("seat 0 ", Span(sent: 2, answered: 3))
    #expect(history.faults(of: "seat 0 ", most: 1) == [])
    #expect(history.faults(of: "seat 0 ", most: 2).count == 1)
    history.change("seat 0 1", to: false, Span(sent: 6, answered: 8))
    history.change("seat 0 2", to: true, Span(sent: 5, answered: 7))
    #expect(history.faults(of: "seat 0 ", most: 1) == [])
    history.change("seat 0 3", to: true, Span(sent: 9, answered: 10))
    #expect(history.faults(of: "seat 0 ", most: 1).count == 1)
  }
}
