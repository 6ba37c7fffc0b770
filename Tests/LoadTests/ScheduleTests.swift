import Testing

@testable import Load

@Suite struct ScheduleTests {
  private func schedule(
    _ rate: Double, _ arrivals: Schedule.Arrivals, warmUp: Int64 = 0, seconds: Int64 = 10,
    seed: UInt64 = 1
  ) -> Schedule {
    Schedule(
      rate: rate, arrivals: arrivals, warmUp: warmUp, duration: seconds * 1_000_000_000, seed: seed)
  }

  @Test func `even arrivals are all 1/N apart and fill the window`() {
    let schedule = schedule(4, .even, seconds: 3)
    #expect(schedule.arrivals == (0..<12).map { Int64($0) * 250_000_000 })
    #expect(self.schedule(0.5, .even, seconds: 4).arrivals == [0, 2_000_000_000])
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `Poisson arrivals are as many as the rate says, with exponential gaps`(seed: UInt64) throws {
    let arrivals = schedule(1000, .poisson, seconds: 100, seed: seed).arrivals
    // Five standard deviations.
    #expect(abs(Double(arrivals.count) - 100_000) < 5 * 316.3)
    #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(try #require(arrivals.last) < 100_000_000_000)
    let gaps = zip(arrivals, arrivals.dropFirst()).map { Double($1 - $0) / 1e6 }
    // A share of 1/e of exponential gaps is longer than their mean.
    let long = Double(gaps.count { $0 > 1 }) / Double(gaps.count)
    #expect(abs(long - 0.36788) < 0.008)
  }

  @Test func `the same seed gives the same arrivals, with any warm-up`() {
    let alone = schedule(50, .poisson)
    let warmed = schedule(50, .poisson, warmUp: 5_000_000_000)
    #expect(alone.warmUpCount == 0 && warmed.warmUpCount > 150)
    #expect(Array(warmed.arrivals.dropFirst(warmed.warmUpCount)) == alone.arrivals)
    #expect(
      warmed.arrivals.prefix(warmed.warmUpCount).allSatisfy { $0 < 0 && $0 >= -5_000_000_000 })
    #expect(schedule(50, .poisson, seed: 2).arrivals != alone.arrivals)
  }

  @Test func `ranks of Zipf are drawn with their probabilities`() {
    let weights = Weights(zipf: 1, count: 4)
    var random = RandomSequence(seed: 9)
    var counts = [0, 0, 0, 0]
    for _ in 0..<100_000 { counts[weights.draw(&random)] += 1 }
    // 1, 1/2, 1/3 and 1/4 of 25/12.
    for (count, share) in zip(counts, [0.48, 0.24, 0.16, 0.12]) {
      #expect(abs(Double(count) / 100_000 - share) < 0.008, "\(counts)")
    }
  }

  @Test func `a weight of 0 is never drawn`() {
    let weights = Weights([0, 1, 0, 3, 0])
    var random = RandomSequence(seed: 3)
    let drawn = Set((0..<1000).map { _ in weights.draw(&random) })
    #expect(drawn == [1, 3])
  }
}
