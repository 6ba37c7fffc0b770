import GraphQLLanguage
import JSON

/// The figures of some requests of a window: of all, or of one operation.
package struct LoadGroup: Sendable {
  package let offered: Int
  package let ok: Int
  /// By `Outcome.rawValue`.
  package let outcomes: [Int]
  package let byCode: [(code: String, count: Int)]
  package let seconds: Double
  package let latency: DurationStatistics
  package let service: DurationStatistics
  package let firstByte: DurationStatistics
  package let failed: DurationStatistics
  package let retryAfter: ClosedRange<Double>?
  package let timed: Int
  package let split: [(name: String, milliseconds: Double)]
  package let receivedBytes: Int

  init(
    _ samples: some Sequence<Sample>, of window: WindowResult, split sums: SplitSums,
    retryAfter: ClosedRange<Double>?
  ) {
    var outcomes = Outcome.allCases.map { _ in 0 }
    var codes = window.codes.map { _ in 0 }
    var (latency, service, firstByte, failed): ([Int64], [Int64], [Int64], [Int64]) = (
      [], [], [], []
    )
    var (offered, received) = (0, 0)
    for sample in samples {
      offered += 1
      outcomes[Int(sample.outcome.rawValue)] += 1
      received += Int(sample.receivedBytes)
      if sample.code >= 0 { codes[Int(sample.code)] += 1 }
      switch sample.outcome {
      case .ok:
        latency.append(sample.latency)
        service.append(sample.service)
        firstByte.append(sample.firstByte - sample.intended)
      case .timeout:
        latency.append(sample.latency)
        // With its limit: what never came must not look quick.
        service.append(sample.latency)
      case .graphql, .throttled, .http, .transport: failed.append(sample.latency)
      }
    }
    self.offered = offered
    self.outcomes = outcomes
    ok = outcomes[Int(Outcome.ok.rawValue)]
    byCode = zip(window.codes, codes).filter { $0.1 > 0 }.map { (code: $0.0, count: $0.1) }
      .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    seconds = Double(window.duration) / 1e9
    self.latency = DurationStatistics(latency)
    self.service = DurationStatistics(service)
    self.firstByte = DurationStatistics(firstByte)
    self.failed = DurationStatistics(failed)
    self.retryAfter = outcomes[Int(Outcome.throttled.rawValue)] > 0 ? retryAfter : nil
    timed = sums.timed
    split = sums.means(window.partNames)
    receivedBytes = received
  }

  package func count(_ outcome: Outcome) -> Int { outcomes[Int(outcome.rawValue)] }

  package var errorCount: Int { offered - ok }

  package var offeredPerSecond: Double { seconds > 0 ? Double(offered) / seconds : 0 }
  package var okPerSecond: Double { seconds > 0 ? Double(ok) / seconds : 0 }

  package var json: JSONValue {
    .members([
      "offered": .of(offered), "ok": .of(ok),
      "errors": .members([
        "total": .of(errorCount), "transport": .of(count(.transport)),
        "timeout": .of(count(.timeout)), "http": .of(count(.http)),
        "graphql": .of(count(.graphql)), "throttled": .of(count(.throttled)),
        "by_code": .object(
          byCode.map { JSONValue.Member(name: $0.code, value: .of($0.count)) }),
      ]),
      "offered_per_s": .of(offeredPerSecond), "ok_per_s": .of(okPerSecond),
      "latency_ms": latency.json, "service_ms": service.json, "first_byte_ms": firstByte.json,
      "failed_ms": failed.json,
      "retry_after_s": retryAfter.map {
        .members(["min": .of($0.lowerBound), "max": .of($0.upperBound)])
      } ?? .null,
      "split": .members([
        "timed": .of(timed),
        "mean_ms": .object(
          split.map { JSONValue.Member(name: $0.name, value: .of($0.milliseconds)) }),
      ]),
      "received_bytes": .of(receivedBytes),
    ])
  }
}

/// All figures of one window.
package struct LoadMeasurement: Sendable {
  package struct OperationFigures: Sendable {
    package let name: String
    package let kind: OperationKind
    package let weight: Double
    package let group: LoadGroup
  }

  package struct Second: Sendable {
    package let number: Int
    package var offered = 0
    package var ok = 0
    package var errors = 0
    package var inFlight = 0
    package var p50: Int64?
    package var p99: Int64?
    package var split: [(name: String, milliseconds: Double)] = []
  }

  package struct Block: Sendable {
    package let seconds: Double
    /// The latencies of each operation, ascending.
    package let latencies: [[Int64]]
  }

  package let totals: LoadGroup
  package let operations: [OperationFigures]
  package let seconds: [Second]
  package let blocks: [Block]
  package let lag: DurationStatistics
  package let generatorCores: Double
  package let isComplete: Bool
  package let deliveries: [DeliveryFigures]

  package static let blockCount = 10

  package init(_ window: WindowResult, operations sent: [Mix.Operation]) {
    var sum = SplitSums()
    for split in window.splits { sum.add(split) }
    totals = LoadGroup(window.samples, of: window, split: sum, retryAfter: window.retryAfter)
    var byOperation = sent.map { _ in [Sample]() }
    for sample in window.samples { byOperation[Int(sample.operation)].append(sample) }
    operations = sent.enumerated().map { index, operation in
      OperationFigures(
        name: operation.name, kind: operation.kind, weight: operation.weight,
        group: LoadGroup(
          byOperation[index], of: window,
          split: index < window.splits.count ? window.splits[index] : SplitSums(),
          retryAfter: window.retryAfter))
    }
    seconds = Self.seconds(window)
    blocks = Self.blocks(window, sent.count)
    lag = DurationStatistics(window.samples.map(\.lag))
    generatorCores = window.generatorCores
    isComplete = window.isComplete
    deliveries = window.deliveries
  }

  private static func seconds(_ window: WindowResult) -> [Second] {
    let count = Int((window.duration + 999_999_999) / 1_000_000_000)
    var seconds = (0..<count).map { Second(number: $0) }
    var latencies = seconds.map { _ in [Int64]() }
    for sample in window.samples {
      let second = min(Int(sample.intended / 1_000_000_000), count - 1)
      guard second >= 0 else { continue }
      seconds[second].offered += 1
      if sample.outcome == .ok { seconds[second].ok += 1 } else { seconds[second].errors += 1 }
      if sample.outcome == .ok || sample.outcome == .timeout {
        latencies[second].append(sample.latency)
      }
    }
    let ends = window.samples.map(\.done).sorted()
    var (begun, ended) = (0, 0)
    for index in seconds.indices {
      let end = Int64(index + 1) * 1_000_000_000
      begun += seconds[index].offered
      while ended < ends.count, ends[ended] < end { ended += 1 }
      seconds[index].inFlight = max(begun - ended, 0)
      let sorted = latencies[index].sorted()
      seconds[index].p50 = DurationStatistics.quantile(500, of: sorted)
      seconds[index].p99 = DurationStatistics.quantile(990, of: sorted)
      if index < window.secondSplits.count {
        seconds[index].split = window.secondSplits[index].means(window.partNames)
      }
    }
    return seconds
  }

  private static func blocks(_ window: WindowResult, _ operations: Int) -> [Block] {
    guard window.duration > 0 else { return [] }
    var latencies = (0..<blockCount).map { _ in (0..<operations).map { _ in [Int64]() } }
    for sample in window.samples where sample.outcome == .ok || sample.outcome == .timeout {
      let block = Int(Double(sample.intended) / Double(window.duration) * Double(blockCount))
      latencies[min(max(block, 0), blockCount - 1)][Int(sample.operation)].append(sample.latency)
    }
    return latencies.map { operations in
      Block(
        seconds: Double(window.duration) / 1e9 / Double(blockCount),
        latencies: operations.map { $0.sorted() })
    }
  }

  // MARK: - Validity

  /// Why the figures are the generator's rather than the server's; empty if they are the server's.
  package var faults: [String] {
    guard let lag = lag.quantile(990) else { return [] }
    let limit = max(1_000_000, (totals.latency.quantile(990) ?? 0) / 10)
    guard lag > limit else { return [] }
    return [
      "the generator was late: 1 % of the requests were taken up \(LoadTime.text(Double(lag))) or more "
        + "after their time, where \(LoadTime.text(Double(limit))) is the limit; give it a free core"
    ]
  }

  // MARK: - JSON

  package var operationsJSON: JSONValue {
    .array(
      operations.map { operation in
        JSONValue.members([
          "name": .string(operation.name), "kind": .string(operation.kind.rawValue),
          "weight": .of(operation.weight),
        ]).merged(operation.group.json)
      })
  }

  package var deliveriesJSON: JSONValue {
    .array(
      deliveries.map { figures in
        .members([
          "name": .string(figures.name), "subscribers": .of(figures.subscribers),
          "ended": .of(figures.ended), "events": .of(figures.events),
          "missed": .of(figures.missed), "twice": .of(figures.twice),
          "from_send_ms": figures.fromSend.json, "from_answer_ms": figures.fromAnswer.json,
        ])
      })
  }

  package var secondsJSON: JSONValue {
    .array(
      seconds.map { second in
        .members([
          "t": .of(second.number), "offered": .of(second.offered), "ok": .of(second.ok),
          "errors": .of(second.errors), "in_flight": .of(second.inFlight),
          "p50_ms": .milliseconds(second.p50), "p99_ms": .milliseconds(second.p99),
        ])
      })
  }

  package var blocksJSON: JSONValue {
    .array(
      blocks.map { block in
        .members([
          "seconds": .of(block.seconds),
          "operations": .object(
            zip(operations, block.latencies).map { operation, latencies in
              JSONValue.Member(
                name: operation.name,
                value: .members([
                  "count": .of(latencies.count),
                  "p50_ms": .milliseconds(DurationStatistics.quantile(500, of: latencies)),
                  "p99_ms": .milliseconds(DurationStatistics.quantile(990, of: latencies)),
                ]))
            }),
        ])
      })
  }
}
