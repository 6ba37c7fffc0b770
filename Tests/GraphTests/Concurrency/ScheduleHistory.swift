import Synchronization

/// The requests of many clients and their responses, each with its position in the sequence of
/// events: a request took effect at a moment between the two.
///
/// A fact is a statement that is true or false, and is false at first. A response that implies a
/// value of a fact which it had at no moment of the request has no order that explains it.
final class ScheduleHistory: Sendable {
  struct Span: Sendable {
    let sent: Int
    let answered: Int
  }

  fileprivate struct Change {
    let value: Bool
    let span: Span
  }

  private struct Answer {
    let text: String
    let facts: [String]
    let value: Bool
    let span: Span
  }

  private struct State {
    var now = 0
    var changes: [String: [Change]] = [:]
    var answers: [Answer] = []
    var refusals: [String: [Span]] = [:]
  }

  private let state = Mutex(State())

  /// The next number.
  func next() -> Int {
    state.withLock {
      $0.now += 1
      return $0.now
    }
  }

  /// A request made it so.
  func change(_ fact: String, to value: Bool, _ span: Span) {
    state.withLock { $0.changes[fact, default: []].append(Change(value: value, span: span)) }
  }

  /// An answer that can only be when one of the facts is so; or, with `isSo` false, none is.
  func explain(_ answer: String, by facts: [String], isSo: Bool, _ span: Span) {
    state.withLock {
      for facts in isSo ? [facts] : facts.map({ [$0] }) {
        $0.answers.append(Answer(text: answer, facts: facts, value: isSo, span: span))
      }
    }
  }

  /// An answer that can only be when no place is left among the facts that begin so.
  func refuse(_ places: String, _ span: Span) {
    state.withLock { $0.refusals[places, default: []].append(span) }
  }

  /// The number of responses that implied values of facts.
  var count: Int {
    state.withLock { $0.answers.count + $0.refusals.values.reduce(0) { $0 + $1.count } }
  }

  /// Answers that no order explains.
  func unexplained() -> [String] {
    state.withLock { state in
      state.answers.compactMap { answer in
        answer.facts.contains {
          state.changes[$0, default: []].mayBe(answer.value, during: answer.span)
        }
          ? nil : "\(answer.text): \(answer.facts) cannot be \(answer.value) in \(answer.span)"
      }
    }
  }

  /// Returns the violations of a limit of `most` places, whose holders are the facts with this
  /// prefix.
  func faults(of places: String, most: Int) -> [String] {
    state.withLock { state in
      let holders = state.changes.filter { $0.key.hasPrefix(places) }.values
      var faults: [String] = []
      for span in state.refusals[places, default: []] {
        let possible = holders.count { $0.mayBe(true, during: span) }
        if possible < most {
          faults.append("\(places): refused at \(span), where at most \(possible) were taken")
        }
      }
      // Taken for certain from the answer to who took it to the request of who gives it back.
      var steps: [(number: Int, change: Int)] = []
      for changes in holders {
        var isTaken = false
        for change in changes where change.value != isTaken {
          isTaken = change.value
          steps.append(isTaken ? (change.span.answered, 1) : (change.span.sent, -1))
        }
      }
      var taken = 0
      for step in steps.sorted(by: { $0.number < $1.number }) {
        taken += step.change
        if taken > most { faults.append("\(places): \(taken) at \(step.number)") }
      }
      return faults
    }
  }
}

extension [ScheduleHistory.Change] {
  /// Whether it may have been so at some moment of a request.
  fileprivate func mayBe(_ value: Bool, during span: ScheduleHistory.Span) -> Bool {
    if !value, !contains(where: { $0.value && $0.span.answered < span.sent }) { return true }
    return contains { change in
      change.value == value && change.span.sent < span.answered
        && !contains {
          $0.value != value && $0.span.sent > change.span.answered
            && $0.span.answered < span.sent
        }
    }
  }
}
