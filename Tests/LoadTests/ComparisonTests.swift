import Glibc
import JSON
import Testing

@testable import Load

@Suite struct ComparisonTests {
  /// The largest sum of ranks that is rejected, of the tables of the test for two sides.
  @Test(arguments: [(8, 0.01, 0), (10, 0.01, 3), (20, 0.01, 37), (25, 0.01, 68), (20, 0.05, 52)])
  func `the exact distribution gives the critical values of the tables`(
    count: Int, error: Double, rank: Int
  ) {
    #expect(SignedRanks.criticalRank(count, error: error) == rank)
  }

  @Test func `too few pairs have no interval`() {
    #expect(SignedRanks.criticalRank(7, error: 0.01) == nil)
    #expect(SignedRanks([0.1, 0.2]).estimate(error: 0.01).interval == nil)
  }

  @Test func `the estimate is the median of the averages of pairs`() throws {
    let estimate = SignedRanks([1, 2, 3, 4, 5, 6, 7, 8, 9, 100]).estimate(error: 0.05)
    // Of 55 averages the 28th; the interval leaves out 8 at either end.
    #expect(estimate.center == 5.5)
    let interval = try #require(estimate.interval)
    #expect(interval.low == 3 && interval.high == 51)
  }

  @Test(arguments: [
    (0.975, 10.0, 2.228139), (0.995, 5, 4.032143), (0.995, 18, 2.878440),
    (0.5, 3, 0), (0.975, 1, 12.706205),
  ])
  func `quantiles of Student's distribution are those of the tables`(
    share: Double, degrees: Double, value: Double
  ) {
    let found = StudentT.quantile(share, degrees: degrees)
    #expect(abs(found - value) < 1e-5, "\(found)")
  }

  /// Blocks of log-normal answers around a median.
  private func blocks(
    _ count: Int, answers: Int, median: Double, variation: Double, _ random: inout RandomSequence
  ) -> [[Int64]] {
    (0..<count).map { _ in
      (0..<answers).map { _ in
        let normal = sqrt(-2 * log(1 - random.unit())) * cos(2 * Double.pi * random.unit())
        return Int64(median * exp(variation * normal))
      }.sorted()
    }
  }

  private func subject(_ a: [[Int64]], _ b: [[Int64]]) -> Comparison.Subject {
    func whole(_ blocks: [[Int64]]) -> [Double?] {
      let all = blocks.flatMap(\.self).sorted()
      return [500, 990].map { DurationStatistics.quantile($0, of: all).map { Double($0) } }
    }
    return Comparison.Subject(
      name: "Feed", a: a.map { Comparison.Block($0) }, b: b.map { Comparison.Block($0) },
      wholeA: whole(a), wholeB: whole(b))
  }

  /// The verdicts of many comparisons of synthetic servers, of which one is slower by a factor.
  private func verdicts(
    _ factor: Double, blocks count: Int = 20, answers: Int = 30, method: Comparison.Method
  ) -> [Comparison.Verdict: Int] {
    var random = RandomSequence(seed: 11)
    var counts: [Comparison.Verdict: Int] = [:]
    for _ in 0..<60 {
      let a = blocks(count, answers: answers, median: 5e6, variation: 0.05, &random)
      let b = blocks(count, answers: answers, median: 5e6 * factor, variation: 0.05, &random)
      counts[Comparison([subject(a, b)], method: method).verdict, default: 0] += 1
    }
    return counts
  }

  @Test func `servers alike are the same, one that is 5 % slower is slower, in 19 of 20`() {
    #expect(verdicts(1, method: .pairedBlocks)[.same, default: 0] >= 57)
    #expect(verdicts(1.05, method: .pairedBlocks)[.slower, default: 0] >= 57)
    #expect(verdicts(1 / 1.05, method: .pairedBlocks)[.faster, default: 0] >= 57)
    #expect(
      verdicts(1.05, blocks: 10, answers: 60, method: .welchBlocks)[.slower, default: 0] >= 57)
    #expect(verdicts(1, blocks: 10, answers: 60, method: .welchBlocks)[.same, default: 0] >= 57)
  }

  @Test func `one block beside a checkpoint does not make the ranks unsure`() {
    var random = RandomSequence(seed: 12)
    let a = blocks(20, answers: 30, median: 5e6, variation: 0.05, &random)
    var b = blocks(20, answers: 30, median: 5e6, variation: 0.05, &random)
    b[7] = b[7].map { $0 * 20 }
    #expect(Comparison([subject(a, b)], method: .pairedBlocks).verdict == .same)
  }

  @Test func `too few answers are unsure, and slower goes before unsure`() throws {
    var random = RandomSequence(seed: 13)
    let few = blocks(20, answers: 15, median: 5e6, variation: 0.05, &random)
    let unsure = Comparison([subject(few, few)], method: .pairedBlocks)
    #expect(
      unsure.verdict == .unsure && unsure.operations[0].metrics.allSatisfy { $0.ratio == nil })
    #expect(unsure.json["operations"]?.elements?[0]["metrics"]?.elements?[0]["low"] == .null)
    let a = blocks(20, answers: 30, median: 5e6, variation: 0.05, &random)
    let b = blocks(20, answers: 30, median: 6e6, variation: 0.05, &random)
    #expect(
      Comparison([subject(a, b), subject(few, few)], method: .pairedBlocks).verdict == .slower)
    #expect(
      Comparison([subject(b, a), subject(few, few)], method: .pairedBlocks).verdict == .unsure)
    #expect(Comparison([subject(b, a), subject(a, a)], method: .pairedBlocks).verdict == .faster)
    // One block with less than half of what is asked.
    var holed = a
    holed[3] = Array(holed[3].prefix(9))
    #expect(Comparison([subject(a, holed)], method: .pairedBlocks).verdict == .unsure)
  }

  @Test func `the 99th percentile needs 400 answers a block`() {
    var random = RandomSequence(seed: 14)
    let a = blocks(20, answers: 400, median: 5e6, variation: 0.05, &random)
    let comparison = Comparison([subject(a, a.map { $0.map { $0 * 2 } })], method: .pairedBlocks)
    #expect(comparison.operations[0].metrics.map(\.verdict) == [.slower, .slower])
    #expect(
      comparison.lines[0].hasSuffix("2.00 (2.00..2.00) slower")
        && comparison.lines[0].hasPrefix("Feed p50 "))
    let json = comparison.json
    #expect(json["format"] == .string("sociograph-load-compare/1"))
    #expect(json["method"]?["name"] == .string("paired-blocks"))
    #expect(json["method"]?["blocks"] == .number("20") && json["verdict"] == .string("slower"))
  }

  @Test func `a saved run is compared by its blocks, and a void one makes the comparison void`()
    throws
  {
    func run(_ factor: Int64, lag: Int64 = 0, name: String = "Feed") throws -> SavedRun {
      var random = RandomSequence(seed: UInt64(factor))
      var window = WindowResult()
      window.duration = 10_000_000_000
      for number in 0..<1000 {
        let intended = Int64(number) * 10_000_000
        var sample = Sample(operation: 0, intended: intended, takenUp: intended + lag)
        sample.sent = sample.takenUp
        sample.done = intended + factor * (1_000_000 + Int64(random.index(below: 100_000)))
        sample.outcome = .ok
        window.samples.append(sample)
      }
      var result = LoadResult(
        program: "", started: "", seed: 1, kind: .rate, url: "", settings: [("rate", "\(factor)")])
      result.measured = LoadMeasurement(
        window,
        operations: [Mix.Operation(name: name, kind: .query, document: "", documentID: nil)])
      return try SavedRun(result.json.bytes)
    }
    let slower = try SavedRun.compare(try run(10), try run(11))
    #expect(slower.verdict == .slower && slower.faults.isEmpty && slower.blockCount == 10)
    #expect(try SavedRun.compare(try run(10), try run(10)).verdict == .same)
    #expect(try run(10).differences(try run(11)) == ["rate"])
    #expect(try SavedRun.compare(try run(10), try run(10, lag: 9_000_000)).faults.count == 1)
    let refusal = #expect(throws: LoadInputError.self) {
      try SavedRun.compare(try run(10), try run(10, name: "Other"))
    }
    #expect(
      refusal?.description
        == "the runs have no operation in common: the first one has Feed, the second one Other.")
    #expect(throws: LoadInputError.self) { try SavedRun(Array("{}".utf8)) }
    #expect(throws: LoadInputError.self) { try SavedRun(Array("no".utf8)) }
  }
}
