import TestSupport
import Testing

@testable import HTTP

/// Clients that read responses too slowly.
@Suite(.blocks) struct MinimumReadRateTests {
  private func second(_ number: Int) -> UInt64 { UInt64(1000 + number) * 1_000_000_000 }

  private func isTooSlow(_ pace: MinimumReadRate, at second: Int) -> Bool {
    pace.isTooSlow(at: self.second(second), grace: .seconds(10), least: 1000)
  }

  @Test func `an answer is to be taken at the least rate once the grace is over`() {
    var pace = MinimumReadRate()
    #expect(!isTooSlow(pace, at: 100))
    pace.begin(at: second(0))
    pace.took(50_000, leaving: 100_000, at: second(0))
    #expect(!isTooSlow(pace, at: 10))
    #expect(isTooSlow(pace, at: 11))
    pace.took(11_000, leaving: 89_000, at: second(11))
    #expect(!isTooSlow(pace, at: 11))
    #expect(isTooSlow(pace, at: 12))
  }

  @Test func `who takes nothing at all is too slow`() {
    var pace = MinimumReadRate()
    pace.begin(at: second(0))
    #expect(isTooSlow(pace, at: 11))
  }

  @Test func `of a stream a little may always be unsent, as long as it is not the same`() {
    var pace = MinimumReadRate()
    pace.begin(at: second(0))
    // Each second 100 bytes are made, and 100 of before are taken.
    for number in 0..<1000 {
      pace.took(100, leaving: 300, at: second(number))
      #expect(!isTooSlow(pace, at: number))
    }
    #expect(isTooSlow(pace, at: 1011))
  }
}
