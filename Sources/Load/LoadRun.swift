import Cryptography
import EventLoops
import HTTP
import JSON

/// The plan of a run, from its options.
package struct LoadPlan: Sendable {
  package var target: HTTPTarget
  package var mix: Mix
  package var requests = RequestWriter.Settings()
  package var driver = LoadDriver.Settings()
  package var arrivals = Schedule.Arrivals.poisson
  package var seed: UInt64 = 1
  /// In nanoseconds.
  package var warmUp: Int64 = 5_000_000_000
  package var duration: Int64 = 30_000_000_000

  package init(target: HTTPTarget, mix: Mix) {
    self.target = target
    self.mix = mix
  }
}

/// One server that requests are sent to: its connections and what they ask for.
package final class LoadSide {
  package let plan: LoadPlan
  private let driver: LoadDriver
  private let interrupt: LoadInterrupt
  private let handler: Int
  private let asking: BlockingClient
  package let writer: RequestWriter
  /// The values of its pools, which the pools of another server are compared with.
  package let pools: [[[UInt8]]]

  /// Connects to the server, fills the pools of the mix, and opens its subscriptions.
  ///
  /// - Throws: a `LoadFailure` if the server is not there or has not what the pools need.
  package init(
    _ plan: LoadPlan, interrupt: LoadInterrupt,
    onLedger: (@Sendable (LoadDriver.LedgerEntry) -> Void)? = nil
  ) throws {
    self.plan = plan
    self.interrupt = interrupt
    let endpoint: HTTPClientEndpoint
    let asking: BlockingClient
    do throws(HTTPClientError) {
      endpoint = try HTTPClientEndpoint(plan.target)
      let client = BlockingClient(
        endpoint, head: RequestWriter.head(plan.target, plan.requests),
        timeout: plan.driver.timeout, isInterrupted: { interrupt.isRaised })
      try client.connect()
      let filler = PoolFiller(client: client, token: plan.requests.tokens.first)
      do {
        pools = try filler.fill(plan.mix)
      } catch let error as HTTPClientError {
        throw error
      } catch {
        throw HTTPClientError(reason: "\(error)")
      }
      asking = client
    } catch {
      throw LoadFailure("\(plan.target.address): \(error.reason)")
    }
    writer = RequestWriter(
      plan.mix,
      pools: PoolValues(
        pools, seed: plan.seed, for: (plan.mix.sent + plan.mix.subscriptions).map(\.variables)),
      target: plan.target, settings: plan.requests,
      run: Hexadecimal.encode(RandomBytes.make(6)), seed: plan.seed)
    self.asking = asking
    let driver = try LoadDriver(
      endpoint: endpoint, writer: writer, settings: plan.driver, onLedger: onLedger)
    self.driver = driver
    handler = interrupt.add { driver.interrupt() }
    if let reason = driver.subscribe(to: plan.target) {
      close()
      throw LoadFailure("subscriptions: \(reason)")
    }
  }

  /// Asks each query once, so that a mistake in the mix is reported with the server's message, and not as
  /// the errors of a whole run. A mutation is not tried out.
  package func tryOut() throws(LoadFailure) {
    for index in 0..<writer.operationCount where writer.operation(index).kind == .query {
      let trial = writer.trial(of: index)
      let name = writer.operation(index).name
      let (status, body): (Int, [UInt8])
      do throws(HTTPClientError) {
        (status, body) = try asking.ask(trial.body, token: trial.token)
      } catch {
        throw LoadFailure("\(name): \(error.reason)")
      }
      // A server that refuses for its load is what a run may be for.
      guard status != 429, status != 503 else { continue }
      let answer = try? JSONParser.parse(body, maximumNesting: 512)
      if let error = answer?["errors"]?.elements?.first {
        throw LoadFailure(
          "\(name): the server answered \(status): \(error["message"]?.text ?? "an error")")
      }
      guard (200..<300).contains(status), answer?["data"] != nil else {
        throw LoadFailure("\(name): the server answered \(status) without data.")
      }
    }
  }

  package func close() {
    interrupt.forget(handler)
    driver.close()
  }

  package func run(
    _ schedule: Schedule, onProgress: (LoadDriver.Progress) -> Void = { _ in }
  ) -> WindowResult {
    driver.run(schedule, onProgress: onProgress)
  }

  /// Sends at a rate for the window of the plan.
  package func measure(
    rate: Double, around window: (() -> WindowResult) -> WindowResult = { $0() },
    onProgress: @escaping (LoadDriver.Progress) -> Void = { _ in }
  ) -> LoadMeasurement {
    let schedule = Schedule(
      rate: rate, arrivals: plan.arrivals, warmUp: plan.warmUp, duration: plan.duration,
      seed: plan.seed)
    return LoadMeasurement(
      window { run(schedule, onProgress: onProgress) }, operations: plan.mix.sent)
  }
}

/// The search for the knee of a server.
package struct KneeRun {
  package struct Settings: Sendable {
    package var rates = 10.0...20_000
    package var step: Int64 = 10_000_000_000
    package var precision = 0.025

    package init() {}
  }

  /// The maximum number of times that a step is repeated because the generator was late in it, or because it is
  /// the first that is missed: a disturbance there would end the stairs far below the knee.
  private static let repetitions = 2

  private let side: LoadSide
  private let settings: Settings
  private let objective: Objective

  package init(_ side: LoadSide, _ settings: Settings, objective: Objective) {
    self.side = side
    self.settings = settings
    self.objective = objective
  }

  /// Takes steps until the knee is found or the run is interrupted.
  ///
  /// - Parameters:
  ///   - window: runs each step, and may observe it.
  ///   - onStep: called after each step.
  package func run(
    interrupt: LoadInterrupt, window: (Int, () -> WindowResult) -> WindowResult,
    onProgress: @escaping (LoadDriver.Progress) -> Void, onStep: (KneeStep) -> Void
  ) -> (search: KneeSearch, steps: [KneeStep]) {
    var search = KneeSearch(rates: settings.rates, precision: settings.precision)
    var steps: [KneeStep] = []
    var repeated = 0
    while let rate = search.next, !interrupt.isRaised {
      var seeds = RandomSequence(seed: side.plan.seed, part: 0x57E9 + UInt64(steps.count))
      let schedule = Schedule(
        rate: rate, arrivals: side.plan.arrivals, warmUp: steps.isEmpty ? side.plan.warmUp : 0,
        duration: settings.step, seed: seeds.next())
      let result = window(steps.count) { side.run(schedule, onProgress: onProgress) }
      guard result.isComplete else { break }
      let measured = LoadMeasurement(result, operations: side.plan.mix.sent)
      let step = KneeStep(rate: rate, misses: objective.misses(measured), measured: measured)
      steps.append(step)
      onStep(step)
      if !measured.faults.isEmpty, repeated < Self.repetitions {
        repeated += 1
        continue
      }
      if !step.isMet, search.missed == nil, repeated == 0 {
        repeated += 1
        continue
      }
      repeated = 0
      search.record(rate, met: step.isMet)
    }
    return (search, steps)
  }
}

/// Two servers that are compared in alternating blocks.
package struct PairedRun {
  private let sides: [LoadSide]
  private let rate: Double
  private let blocks: Int

  package init(_ a: LoadSide, _ b: LoadSide, rate: Double, blocks: Int) {
    sides = [a, b]
    self.rate = rate
    self.blocks = blocks
  }

  /// Runs the blocks in the order A B B A, both of a pair with the same requests at the same times,
  /// and nothing in flight between them.
  ///
  /// - Returns: the comparison, and the figures of both sides; the comparison is nil if it was
  ///   interrupted.
  package func run(
    interrupt: LoadInterrupt, onBlock: (_ pair: Int, _ side: Int) -> Void
  ) -> (comparison: Comparison?, sides: [LoadMeasurement]) {
    let plan = sides[0].plan
    let operations = plan.mix.sent
    var latencies = sides.map { _ in [[[Int64]]]() }
    var samples = sides.map { _ in WindowResult() }
    var isComplete = true
    for pair in 0..<blocks where isComplete {
      var seeds = RandomSequence(seed: plan.seed, part: 0xAB00 + UInt64(pair))
      let schedule = Schedule(
        rate: rate, arrivals: plan.arrivals, warmUp: pair == 0 ? plan.warmUp : 0,
        duration: plan.duration / Int64(blocks), seed: seeds.next())
      for side in pair % 2 == 0 ? [0, 1] : [1, 0] where isComplete {
        onBlock(pair, side)
        let result = sides[side].run(schedule)
        isComplete = result.isComplete && !interrupt.isRaised
        samples[side].append(result)
        var byOperation = operations.map { _ in [Int64]() }
        for sample in result.samples where sample.outcome == .ok || sample.outcome == .timeout {
          byOperation[Int(sample.operation)].append(sample.latency)
        }
        latencies[side].append(byOperation.map { $0.sorted() })
      }
    }
    let measured = samples.map { LoadMeasurement($0, operations: operations) }
    guard isComplete else { return (nil, measured) }
    let subjects = operations.indices.map { operation in
      let blocks = latencies.map { side in side.map { Comparison.Block($0[operation]) } }
      let whole = latencies.map { side -> [Double?] in
        let sorted = side.flatMap { $0[operation] }.sorted()
        return [500, 990].map { DurationStatistics.quantile($0, of: sorted).map { Double($0) } }
      }
      return Comparison.Subject(
        name: operations[operation].name, a: blocks[0], b: blocks[1], wholeA: whole[0],
        wholeB: whole[1])
    }
    var comparison = Comparison(subjects, method: .pairedBlocks)
    for (name, side) in zip(["A", "B"], measured) {
      comparison.faults += side.faults.map { "\(name): \($0)" }
    }
    return (comparison, measured)
  }
}

extension WindowResult {
  /// Appends the samples of another window; its codes are told apart by their own names.
  mutating func append(_ other: WindowResult) {
    let places = other.codes.map { code -> Int16 in
      if let known = codes.firstIndex(of: code) { return Int16(clamping: known) }
      codes.append(code)
      return Int16(clamping: codes.count - 1)
    }
    for var sample in other.samples {
      if sample.code >= 0 { sample.code = places[Int(sample.code)] }
      samples.append(sample)
    }
    duration += other.duration
    isComplete = isComplete && other.isComplete
    generatorCores = max(generatorCores, other.generatorCores)
  }
}
