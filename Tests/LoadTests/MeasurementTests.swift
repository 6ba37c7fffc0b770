import JSON
import Testing

@testable import Load

@Suite struct MeasurementTests {
  private let operations = [
    Mix.Operation(name: "A", kind: .query, document: "", documentID: nil),
    Mix.Operation(name: "B", kind: .query, document: "", documentID: nil),
  ]

  private func sample(
    _ operation: Int32 = 0, at intended: Int64, lag: Int64 = 0, queue: Int64 = 0,
    service: Int64 = 1_000_000, _ outcome: Outcome = .ok
  ) -> Sample {
    var sample = Sample(operation: operation, intended: intended, takenUp: intended + lag)
    sample.sent = sample.takenUp + queue
    sample.firstByte = sample.sent + service
    sample.done = sample.sent + service
    sample.outcome = outcome
    sample.isFinished = true
    return sample
  }

  private func measure(
    _ samples: [Sample], seconds: Int64 = 10, _ change: (inout WindowResult) -> Void = { _ in }
  ) -> LoadMeasurement {
    var window = WindowResult()
    window.samples = samples
    window.duration = seconds * 1_000_000_000
    change(&window)
    return LoadMeasurement(window, operations: operations)
  }

  /// A server that answers nothing during the last of ten seconds: of even arrivals a tenth waits, all times up to
  /// a second alike.
  @Test func `a stall is in the percentiles of open arrivals as its closed form says`() {
    let end: Int64 = 10_000_000_000
    let measured = measure(
      (0..<1000).map { number in
        let intended = Int64(number) * 10_000_000
        return sample(at: intended, service: intended >= 9_000_000_000 ? end - intended : 100_000)
      })
    let latency = measured.totals.latency
    for (thousandths, expected) in [(500, 0.0001), (950, 0.5), (990, 0.9), (999, 0.99)] {
      let found = Double(latency.quantile(thousandths) ?? 0) / 1e9
      #expect(abs(found - expected) <= max(expected * 0.03, 0.0001), "\(thousandths): \(found)")
    }
    #expect(measured.totals.offeredPerSecond == 100)
  }

  @Test func `refusals are no latencies, and timeouts have their limit`() {
    let measured = measure([
      sample(at: 0), sample(at: 1, service: 9_000_000_000, .timeout), sample(at: 2, .throttled),
      sample(at: 3, .http), sample(at: 4, .graphql), sample(1, at: 5, .transport),
    ])
    let totals = measured.totals
    #expect(totals.offered == 6 && totals.ok == 1 && totals.errorCount == 5)
    #expect(totals.latency.sorted == [1_000_000, 9_000_000_000])
    #expect(totals.service.count == 2 && totals.failed.count == 4 && totals.firstByte.count == 1)
    let errors = totals.json["errors"]
    #expect(errors?["total"] == .number("5") && errors?["timeout"] == .number("1"))
    #expect(measured.operations.map(\.group.offered) == [5, 1])
  }

  @Test func `latency counts from the intended start, service from the sending`() {
    let totals = measure([sample(at: 0, lag: 10, queue: 200, service: 3000)]).totals
    #expect(totals.latency.sorted == [3210] && totals.service.sorted == [3000])
    #expect(totals.firstByte.sorted == [3210])
  }

  @Test func `the parts of the split sum to the mean latency`() throws {
    var sums = SplitSums()
    let samples = [
      sample(at: 0, lag: 100_000, queue: 2_000_000, service: 5_000_000),
      sample(at: 10, lag: 300_000, queue: 0, service: 9_000_000),
    ]
    sums.add(samples[0], total: 4, parts: [(0, 1.5), (1, 2)])
    sums.add(samples[1], total: 8.5, parts: [(1, 8)])
    let measured = measure(samples) { window in
      window.splits = [sums]
      window.partNames = ["wait", "postgresql"]
    }
    let split = measured.totals.split
    #expect(
      split.map(\.name) == ["generator", "queue", "network", "wait", "postgresql", "other"])
    let mean = try #require(measured.totals.latency.mean) / 1e6
    #expect(abs(split.reduce(0) { $0 + $1.milliseconds } - mean) < 1e-9)
    let parts = Dictionary(uniqueKeysWithValues: split.map { ($0.name, $0.milliseconds) })
    #expect(parts["generator"] == 0.2 && parts["queue"] == 1 && parts["wait"] == 0.75)
    #expect(parts["postgresql"] == 5 && parts["network"] == 0.75 && parts["other"] == 0.5)
    #expect(measured.totals.timed == 2)
  }

  @Test func `Server-Timing is read as it is written`() {
    let timing = ServerTiming(
      Array("total;dur=3.412, parse;dur=0,wait;desc=\"x\";dur=12 , bad, odd;dur=x".utf8)[...])
    #expect(timing.total == 3.412)
    #expect(timing.parts.map { String(decoding: $0.name, as: UTF8.self) } == ["parse", "wait"])
    #expect(timing.parts.map(\.milliseconds) == [0, 12])
    #expect(ServerTiming([][...]).total == nil)
  }

  @Test func `seconds are those of the intended start, and know what is in flight`() {
    let measured = measure(
      [
        sample(at: 0), sample(at: 500_000_000, service: 1_700_000_000),
        sample(at: 1_200_000_000, .http),
      ], seconds: 3)
    #expect(measured.seconds.map(\.offered) == [2, 1, 0])
    #expect(measured.seconds.map(\.ok) == [2, 0, 0])
    #expect(measured.seconds.map(\.errors) == [0, 1, 0])
    #expect(measured.seconds.map(\.inFlight) == [1, 1, 0])
    #expect(measured.seconds[0].p50 == 1_000_000 && measured.seconds[1].p50 == nil)
  }

  @Test func `ten blocks of equal length have the latencies of each operation`() {
    let measured = measure((0..<100).map { sample(Int32($0 % 2), at: Int64($0) * 100_000_000) })
    #expect(measured.blocks.count == 10)
    #expect(measured.blocks.allSatisfy { $0.seconds == 1 && $0.latencies.map(\.count) == [5, 5] })
    #expect(measured.blocksJSON.elements?[3]["operations"]?["B"]?["count"] == .number("5"))
  }

  @Test func `a run is void when the lag is beyond a millisecond and a tenth of the latency`() {
    func faults(lag: Int64, service: Int64) -> Int {
      measure((0..<1000).map { sample(at: Int64($0), lag: lag, service: service) }).faults.count
    }
    #expect(faults(lag: 900_000, service: 1000) == 0)
    #expect(faults(lag: 1_100_000, service: 1000) == 1)
    #expect(faults(lag: 3_000_000, service: 100_000_000) == 0)
    #expect(faults(lag: 30_000_000, service: 100_000_000) == 1)
  }

  // MARK: Objectives

  @Test func `an objective says what is missed, of all or of one operation`() throws {
    let measured = measure(
      (0..<100).map { sample(Int32($0 % 2), at: Int64($0), service: Int64($0 + 1) * 1_000_000) }
        + [sample(1, at: 200, .http)])
    func misses(_ text: String) throws -> [String] { try Objective(text).misses(measured) }
    #expect(try misses("p50<51ms p99<100ms errors<1%") == [])
    #expect(try misses("p50<50ms") == ["p50<50ms: 50.0 ms"])
    #expect(try misses("errors<0.5%") == ["errors<0.5%: 0.990 %"])
    #expect(try misses("A:p99.9<99.5ms A:errors<0.1% B:errors<1.97%").count == 0)
    #expect(try misses("B:errors<1%").count == 1)
    #expect(try Objective("p99<100ms p50<3s errors<1%").longest == 3_000_000_000)
  }

  @Test(arguments: [
    "", " ", "p98<1s", "p99>1s", "p99<1", "p99<0s", "errors<1", "errors<101%", ":p50<1s",
  ])
  func `another text is no objective`(text: String) {
    #expect(throws: LoadInputError.self) { try Objective(text) }
  }

  // MARK: JSON

  @Test func `a result has the members of its format`() throws {
    var result = LoadResult(
      program: "sociograph", started: "2026-01-01T00:00:00Z", seed: 3, kind: .rate, url: "u",
      settings: [("rate", "1")])
    let none = try JSONParser.parse(result.json.bytes)
    #expect(none["totals"]?["offered"] == .number("0") && none["knee"] == .null)
    result.measured = measure([sample(at: 0)])
    let json = try JSONParser.parse(result.json.bytes)
    #expect(
      json.members?.map(\.name) == [
        "format", "program", "started", "complete", "seed", "kind", "target", "settings", "totals",
        "validity", "operations", "seconds", "blocks", "stairs", "knee", "postgresql",
        "subscriptions",
      ])
    #expect(
      json["totals"]?.members?.map(\.name) == [
        "offered", "ok", "errors", "offered_per_s", "ok_per_s", "latency_ms", "service_ms",
        "first_byte_ms", "failed_ms", "retry_after_s", "split", "received_bytes",
      ])
    #expect(json["operations"]?.elements?[0]["kind"] == .string("query"))
    #expect(json["validity"]?["valid"] == .boolean(true))
    #expect(result.text.contains("1 requests, 1 ok, 0 errors"))
  }
}
