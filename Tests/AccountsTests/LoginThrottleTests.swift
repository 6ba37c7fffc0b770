import Testing

@testable import Accounts

@Suite struct LoginThrottleTests {
  private let start = ContinuousClock.Instant.now

  @Test func `five failures are free, then each doubles the wait up to a quarter of an hour`() {
    var throttle = LoginThrottle()
    var now = start
    var waits: [Duration] = []
    for number in 0..<20 {
      #expect(throttle.verdict(name: "ada", address: "a\(number)", now: now) == .mayTry)
      throttle.failed(name: "ada", address: "a\(number)", now: now)
      if case .nameWaits(let wait) = throttle.verdict(name: "ada", address: "b", now: now) {
        waits.append(wait)
        now += wait
      }
    }
    #expect(
      waits
        == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900, 900].map {
          .seconds($0)
        })
  }

  @Test func `who gets in starts anew, and so does who has been quiet for an hour`() {
    var throttle = LoginThrottle()
    for _ in 0..<6 { throttle.failed(name: "ada", address: "a", now: start) }
    #expect(throttle.verdict(name: "ada", address: "b", now: start) == .nameWaits(.seconds(2)))
    #expect(throttle.verdict(name: "eve", address: "b", now: start) == .mayTry)
    throttle.succeeded(name: "ada", address: "a")
    #expect(throttle.verdict(name: "ada", address: "b", now: start) == .mayTry)
    for _ in 0..<19 { throttle.failed(name: "ada", address: "c", now: start) }
    #expect(
      throttle.verdict(name: "ada", address: "b", now: start + .seconds(3_600)) == .mayTry)
    throttle.failed(name: "ada", address: "c", now: start + .seconds(3_600))
    #expect(
      throttle.verdict(name: "ada", address: "b", now: start + .seconds(3_600)) == .mayTry)
  }

  @Test
  func `an address that failed twenty times waits for the first of them to be ten minutes old`() {
    var throttle = LoginThrottle()
    for number in 0..<20 {
      let now = start + .seconds(number)
      #expect(throttle.verdict(name: "n\(number)", address: "a", now: now) == .mayTry)
      throttle.failed(name: "n\(number)", address: "a", now: now)
    }
    let now = start + .seconds(20)
    #expect(throttle.verdict(name: "x", address: "a", now: now) == .addressWaits(.seconds(580)))
    #expect(throttle.verdict(name: "x", address: "b", now: now) == .mayTry)
    #expect(throttle.verdict(name: "x", address: "a", now: start + .seconds(600)) == .mayTry)
  }

  @Test func `tries count from their admission: five at once, then one at a time`() {
    var throttle = LoginThrottle()
    let verdicts = (0..<16).map { throttle.admit(name: "ada", address: "a\($0)", now: start) }
    #expect(verdicts.prefix(5).allSatisfy { $0 == .mayTry })
    #expect(verdicts.dropFirst(5).allSatisfy { $0 == .nameWaits(.seconds(1)) })
    #expect(throttle.admit(name: "eve", address: "a", now: start) == .mayTry)
    // What was not compared is no failure.
    throttle.abandoned(name: "ada", address: "a0")
    #expect(throttle.admit(name: "ada", address: "a0", now: start) == .mayTry)
    for number in 0..<5 { throttle.failed(name: "ada", address: "a\(number)", now: start) }
    #expect(throttle.hasFailed(name: "ada"))
    #expect(
      throttle.admit(name: "ada", address: "b", now: start) == .nameWaits(.seconds(1)))
    let later = start + .seconds(1)
    #expect(throttle.admit(name: "ada", address: "b", now: later) == .mayTry)
    #expect(throttle.admit(name: "ada", address: "c", now: later) == .nameWaits(.seconds(1)))
    throttle.succeeded(name: "ada", address: "b")
    #expect(!throttle.hasFailed(name: "ada"))
    #expect(throttle.admit(name: "ada", address: "c", now: later) == .mayTry)
  }

  @Test func `an address has twenty tries under way at most, and one that is shared any number`() {
    var throttle = LoginThrottle()
    let verdicts = (0..<30).map { throttle.admit(name: "n\($0)", address: "a", now: start) }
    #expect(verdicts.count { $0 == .mayTry } == 20)
    #expect(verdicts.last == .addressWaits(.seconds(1)))
    for number in 0..<20 { throttle.succeeded(name: "n\(number)", address: "a") }
    #expect(throttle.admit(name: "m", address: "a", now: start) == .mayTry)
    for number in 0..<100 {
      #expect(throttle.admit(name: "s\(number)", address: nil, now: start) == .mayTry)
      throttle.failed(name: "s\(number)", address: nil, now: start)
    }
    #expect(throttle.admit(name: "s", address: nil, now: start) == .mayTry)
  }

  @Test func `what it remembers is bounded, the oldest goes first`() {
    var throttle = LoginThrottle(maximumCount: 100)
    for number in 0..<1_000 {
      for _ in 0..<6 {
        throttle.failed(
          name: "n\(number)", address: "a\(number)", now: start + .milliseconds(number))
      }
    }
    let now = start + .seconds(1)
    let waiting = (0..<1_000).filter {
      throttle.verdict(name: "n\($0)", address: "none", now: now) != .mayTry
    }
    #expect(waiting.count <= 100)
    #expect(waiting.last == 999)
  }
}
