import Dispatch
import Foundation
import GraphQLResponse
import Synchronization

/// Sends spans of sampled operations to a collector, from a thread of its own.
///
/// Loops only put records in a queue. A batch that the collector does not take for the moment is sent
/// again, after the time that it says or twice the last pause. Meanwhile the queue fills, and what does
/// not fit is dropped and counted.
package final class TraceExporter: Sendable {
  package struct Settings: Sendable {
    package var endpoint: TraceEndpoint
    /// The part of traces that begin here which are recorded, between 0 and 1. Others are recorded if
    /// their caller records them.
    package var sample: Double
    /// Operations that wait to be sent.
    package var maximumWaiting = 2_048
    /// Operations in one request to the collector.
    package var maximumBatch = 256
    package var interval = Duration.seconds(1)
    /// The timeout of one request to the collector.
    package var timeout = Duration.seconds(5)
    /// How often one batch is sent at most, and the pause before the second time.
    package var maximumAttempts = 5
    package var pause = Duration.seconds(1)
    /// The longest pause, also if the collector asks for a longer one.
    package var maximumPause = Duration.seconds(30)
    /// Header fields of each request, such as a key of the collector.
    var headers: [(name: String, value: String)] = []
    /// Attributes of the resource, in addition to the program's own.
    var attributes: [(name: String, value: String)] = []
    /// Whether spans have the names of OpenTelemetry's conventions, with one for the HTTP request.
    package var usesConventions = false

    package init(endpoint: TraceEndpoint, sample: Double) {
      self.endpoint = endpoint
      self.sample = sample
    }

    /// Takes what the variables of OpenTelemetry say.
    package mutating func read(_ environment: TraceEnvironment) {
      headers = environment.headers
      attributes = environment.attributes
      if let given = environment.timeout { timeout = given }
    }
  }

  /// Spans since the start.
  package struct Counts: Sendable {
    package var sent = 0
    /// The number of traces that were dropped because the queue was full.
    package var dropped = 0
    /// Refused by the collector, or it could not be reached.
    package var failed = 0
  }

  private struct State {
    var waiting: [RequestRecord] = []
    var isStopping = false
    var counts = Counts()
  }

  private let settings: Settings
  private let threshold: UInt64
  private let state = Mutex(State())
  private let isDue = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let onFailure: @Sendable (String) -> Void

  /// Creates an exporter.
  ///
  /// - Parameter onFailure: called off the event loops with the reason why spans could not be sent,
  ///   once until the collector accepts some again.
  package init(_ settings: Settings, onFailure: @escaping @Sendable (String) -> Void) {
    self.settings = settings
    self.onFailure = onFailure
    threshold = UInt64(max(0, min(settings.sample, 1)) * Double(1 << 53))
    let thread = Thread { [self] in run() }
    thread.name = "traces"
    thread.start()
  }

  func record(_ event: ServerEvent) {
    switch event {
    case .request(let record): if isSampled(record.identity.trace) { add(record) }
    case .life, .migration, .task, .outbox, .http, .endpoint, .execution, .session, .pool, .replica,
      .picture,
      .push:
      break
    }
  }

  /// The caller's decision, where there is one; else one by the trace's id, so that every server
  /// decides alike.
  func isSampled(_ trace: TraceContext) -> Bool {
    trace.isSampled ?? (trace.id.low >> 11 < threshold)
  }

  private func add(_ record: RequestRecord) {
    let isFull = state.withLock { state in
      guard state.waiting.count < settings.maximumWaiting, !state.isStopping else {
        state.counts.dropped += TraceDocument.spanCount(of: record, settings.usesConventions)
        return false
      }
      state.waiting.append(record)
      return state.waiting.count == settings.maximumBatch
    }
    if isFull { isDue.signal() }
  }

  package var counts: Counts { state.withLock { $0.counts } }

  /// Sends what waits, if that is soon done, and ends the thread.
  package func stop(patience: Duration = .seconds(2)) {
    state.withLock { $0.isStopping = true }
    isDue.signal()
    if hasEnded.wait(timeout: .now() + patience.timeInterval) == .success { hasEnded.signal() }
  }

  private func run() {
    var isFailing = false
    while true {
      _ = isDue.wait(timeout: .now() + settings.interval.timeInterval)
      while true {
        let batch = state.withLock { state in
          let batch = Array(state.waiting.prefix(settings.maximumBatch))
          state.waiting.removeFirst(batch.count)
          return batch
        }
        guard !batch.isEmpty else { break }
        let failure = send(batch)
        if let failure, !isFailing { onFailure(failure) }
        isFailing = failure != nil
      }
      if state.withLock({ $0.isStopping }) { break }
    }
    hasEnded.signal()
  }

  /// Sends a batch.
  ///
  /// - Returns: the reason for a failure, or nil.
  private func send(_ batch: [RequestRecord]) -> String? {
    let count = batch.reduce(0) { $0 + TraceDocument.spanCount(of: $1, settings.usesConventions) }
    let body = TraceDocument.json(
      batch, usesConventions: settings.usesConventions, resource: settings.attributes)
    var pause = settings.pause
    var attempt = 1
    while true {
      do throws(TraceEndpoint.Failure) {
        let rejected = try settings.endpoint.post(
          body, headers: settings.headers, timeout: settings.timeout)
        state.withLock { state in
          state.counts.sent += max(count - rejected, 0)
          state.counts.failed += min(rejected, count)
        }
        return rejected > 0 ? "it rejected \(rejected) spans" : nil
      } catch {
        guard error.isTemporary, attempt < settings.maximumAttempts,
          rests(min(error.retryAfter ?? pause, settings.maximumPause))
        else {
          state.withLock { $0.counts.failed += count }
          return error.description
        }
      }
      pause = pause * 2
      attempt += 1
    }
  }

  /// Waits, and returns whether the exporter goes on.
  private func rests(_ pause: Duration) -> Bool {
    let end = ContinuousClock.now + pause
    while ContinuousClock.now < end {
      if state.withLock({ $0.isStopping }) { return false }
      Thread.sleep(
        forTimeInterval: min(ContinuousClock.now.duration(to: end), .milliseconds(50)).timeInterval)
    }
    return !state.withLock { $0.isStopping }
  }
}
