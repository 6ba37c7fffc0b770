import Testing

@testable import Load

@Suite struct KneeTests {
  /// Searches the knee of a server that is quick up to its capacity.
  private func search(
    _ capacity: Double, _ rates: ClosedRange<Double> = 10...20_000, precision: Double = 0.025
  ) -> (search: KneeSearch, tried: [Double]) {
    var search = KneeSearch(rates: rates, precision: precision)
    var tried: [Double] = []
    while let rate = search.next {
      tried.append(rate)
      search.record(rate, met: rate <= capacity)
      if tried.count > 200 { break }
    }
    return (search, tried)
  }

  @Test(arguments: [10, 11.3, 77, 640, 1234.5, 19_999])
  func `the capacity is between met and missed, which are as near as asked`(capacity: Double) throws
  {
    let (search, tried) = search(capacity)
    let met = try #require(search.met)
    let missed = try #require(search.missed)
    #expect(search.isFound && met <= capacity && missed > capacity && missed / met <= 1.025)
    #expect(tried.count <= search.maximumSteps, "\(tried)")
    #expect(Set(tried).count == tried.count)
  }

  @Test func `a server that meets everything or nothing has no knee between the rates`() {
    let high = search(1e9, 10...100)
    #expect(high.search.met == 100 && high.search.missed == nil && !high.search.isFound)
    #expect(high.tried == [10, 20, 40, 80, 100])
    let low = search(1, 10...100)
    #expect(low.search.met == nil && low.search.missed == 10 && low.tried == [10])
  }

  @Test func `a precision of half of it takes more steps`() {
    #expect(search(1000, precision: 0.01).tried.count > search(1000, precision: 0.05).tried.count)
  }

  // MARK: What limits

  private func measured(
    _ parts: [(String, Double)], throttled: Int = 0, code: String? = nil
  ) -> LoadMeasurement {
    var window = WindowResult()
    window.duration = 1_000_000_000
    window.codes = code.map { [$0] } ?? []
    var sums = SplitSums()
    for index in 0..<100 {
      var sample = Sample(operation: 0, intended: Int64(index), takenUp: Int64(index))
      sample.sent = sample.takenUp
      sample.done = sample.sent + Int64(parts.reduce(0) { $0 + $1.1 } * 1e6)
      sample.outcome = index < throttled ? .throttled : .ok
      if code != nil, index < throttled { sample.code = 0 }
      window.samples.append(sample)
      if !parts.isEmpty {
        sums.add(
          sample, total: parts.reduce(0) { $0 + $1.1 },
          parts: parts.enumerated().map { ($0.offset, $0.element.1) })
      }
    }
    window.partNames = parts.map(\.0)
    window.splits = [sums]
    return LoadMeasurement(
      window, operations: [Mix.Operation(name: "A", kind: .query, document: "", documentID: nil)])
  }

  @Test(arguments: [
    ("wait", "connections"), ("postgresql", "postgresql"), ("write", "server"), ("plan", "server"),
  ])
  func `the part that grew most names the resource`(part: String, resource: String) {
    let before = [("parse", 1.0), (part, 5.0)]
    let limit = KneeLimit(met: measured(before), missed: measured([("parse", 3), (part, 90)]))
    #expect(limit.resource == resource)
    #expect(limit.evidence == "\(part) grew from 5.00 ms to 90.0 ms")
  }

  @Test func `a wait for connections whose statements became slow is PostgreSQL's limit`() {
    let met = measured([("wait", 5), ("postgresql", 9)])
    for (statement, resource) in [(10.0, "postgresql"), (1.2, "connections")] {
      let limit = KneeLimit(
        first: measured([("wait", 0), ("postgresql", 1)]), met: met,
        missed: measured([("wait", 80), ("postgresql", statement)]), before: nil, after: nil)
      #expect(limit.resource == resource)
      #expect(limit.evidence.hasPrefix("wait grew from 5.00 ms to 80.0 ms"))
    }
  }

  @Test func `requests that queue for connections to a slow server are the server's limit`() {
    let first = measured([("queue", 0), ("wait", 0), ("postgresql", 1)])
    for (wait, statement, resource) in [
      (0.1, 1.0, "generator"), (9.0, 1.1, "connections"), (1.0, 7.0, "postgresql"),
    ] {
      let limit = KneeLimit(
        first: first, met: measured([("queue", 1), ("wait", 0), ("postgresql", 1)]),
        missed: measured([("queue", 400), ("wait", wait), ("postgresql", statement)]), before: nil,
        after: nil)
      #expect(limit.resource == resource)
    }
  }

  @Test func `refusals are named, and without times the resource is unknown`() {
    #expect(
      KneeLimit(met: measured([]), missed: measured([], throttled: 5)).resource == "throttled")
    #expect(KneeLimit(met: measured([]), missed: measured([])).resource == "unknown")
    #expect(KneeLimit(met: nil, missed: measured([("wait", 9)])).resource == "connections")
    // What waits too long for a connection is refused in the end.
    for (part, code, resource) in [
      ("wait", "SERVICE_OVERLOADED", "connections"), ("wait", "RATE_LIMITED", "throttled"),
      ("postgresql", "SERVICE_OVERLOADED", "postgresql"),
      ("parse", "SERVICE_OVERLOADED", "connections"),
    ] {
      let missed = measured([(part, 90)], throttled: 5, code: code)
      #expect(KneeLimit(met: measured([(part, 5)]), missed: missed).resource == resource)
    }
  }
}
