import EventLoops
import Postgres
import Testing

@testable import GraphQLExecution

/// The conditions and limits of retries, with a clock of the tests.
@Suite struct CallProgressTests {
  private struct Always: RandomNumberGenerator {
    private let value = UInt64.max / 2

    mutating func next() -> UInt64 { value }
  }

  private let start = Moment.now
  private var random = Always()

  private func progress(client: Bool = false) -> CallProgress {
    CallProgress(hasClientKey: client, deadline: start + .seconds(8))
  }

  private func error(_ kind: PostgresError.Kind, _ state: String = "") -> PostgresError {
    PostgresError(kind, sqlState: state, message: "")
  }

  @Test func `what is lost is sent again until its time is over, and then it is not known`() {
    var (progress, random, now, tries) = (progress(), random, start, 0)
    while true {
      tries += 1
      let step = progress.failed(error(.lost), now: now, random: &random)
      guard case .wait(let time) = step else {
        #expect(step == .finish(.unknown))
        break
      }
      #expect(time > .zero && time <= .milliseconds(500))
      now += time
    }
    #expect(tries > 16)
    #expect(now <= start + .seconds(8))
  }

  @Test func `what was never sent has failed at once, and after a loss is waited for`() {
    var (first, random) = (progress(), random)
    #expect(
      first.failed(error(.unavailable), now: start, random: &random) == .finish(.failed))
    #expect(first.failed(error(.overloaded), now: start, random: &random) == .finish(.failed))
    var second = progress()
    _ = second.failed(error(.lost), now: start, random: &random)
    guard case .wait = second.failed(error(.unavailable), now: start, random: &random) else {
      Issue.record("it was not waited for")
      return
    }
    #expect(
      second.failed(error(.unavailable), now: start + .seconds(8), random: &random)
        == .finish(.unknown))
  }

  @Test func `a conflict of transactions is tried three times`() {
    for kind in [PostgresError.Kind.retry, .lock] {
      var (progress, random) = (progress(), random)
      for _ in 0..<2 {
        guard case .wait(let time) = progress.failed(error(kind), now: start, random: &random)
        else {
          Issue.record("it was not tried again")
          return
        }
        #expect(time >= .milliseconds(10) && time <= .milliseconds(100))
      }
      #expect(progress.failed(error(kind), now: start, random: &random) == .finish(.failed))
    }
  }

  @Test func `what was done before is answered from what was kept`() {
    var (client, random) = (progress(client: true), random)
    #expect(
      client.failed(error(.userRaised, "SG208"), now: start, random: &random) == .replay)
    #expect(client.succeeded() == .finish(.replayed))
    // Done by a try of this very request, whose answer was lost: to the client it is the first.
    var lost = progress(client: true)
    _ = lost.failed(error(.lost), now: start, random: &random)
    #expect(lost.failed(error(.userRaised, "SG208"), now: start, random: &random) == .replay)
    #expect(lost.succeeded() == .finish(.done))
  }

  @Test func `somebody else's request with the key is not waited for, one's own lost one is`() {
    var (other, random) = (progress(client: true), random)
    #expect(
      other.failed(error(.userRaised, "SG409"), now: start, random: &random)
        == .finish(.inProgress))
    var own = progress()
    _ = own.failed(error(.lost), now: start, random: &random)
    guard case .wait = own.failed(error(.userRaised, "SG409"), now: start, random: &random) else {
      Issue.record("it was not waited for")
      return
    }
    #expect(
      own.failed(error(.userRaised, "SG409"), now: start + .seconds(9), random: &random)
        == .finish(.unknown))
    var reused = progress(client: true)
    #expect(
      reused.failed(error(.userRaised, "SG422"), now: start, random: &random)
        == .finish(.keyReused))
  }

  @Test func `a cancel past the deadline ends it, a stray one does not`() {
    var (stray, random) = (progress(), random)
    #expect(stray.failed(error(.timeout), now: start, random: &random) == .perform)
    #expect(stray.failed(error(.timeout), now: start, random: &random) == .finish(.failed))
    var late = progress()
    #expect(
      late.failed(error(.timeout), now: start + .seconds(8), random: &random) == .finish(.failed))
  }
}
