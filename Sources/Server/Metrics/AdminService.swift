import Dispatch
import EventLoops
import Foundation
import GraphQLExecution
import GraphQLSchema
import HTTP

/// Serves `/metrics`, `/usage`, `/live` and `/ready` for the whole process, on a separate address and event
/// loop.
///
/// A few times a second it sends a heartbeat to each event loop and measures the delay. A loop that
/// does not respond is shown in its last state.
final class AdminService: @unchecked Sendable {
  // @unchecked: after `init` everything is touched on `loop` only.
  private let loop: EventLoop
  private let services: [LoopService]
  private let schema: Schema
  /// The start of counting, by RFC 3339.
  private let since = Date.now.formatted(.iso8601)
  private let log: ServiceLog
  private let traces: TraceExporter?
  private let tasks: TaskRunner?
  private let outbox: Outbox?
  /// The buffer of unsent responses.
  private let budget: HTTPBufferBudget?
  private var server: HTTPServer?
  private var pulse: LoopTimer?
  private var latest: [LoopSnapshot?]
  /// The times of the heartbeats that event loops have not returned yet.
  private var askedAt: [UInt64?]
  let address: HTTPAddress

  private static let pulseInterval = Duration.milliseconds(250)
  /// The time after which a loop without a heartbeat fails `/live`, in nanoseconds.
  private static let silenceLimit: UInt64 = 1_000_000_000

  init(
    _ listener: HTTPListener, services: [LoopService], schema: Schema, log: ServiceLog,
    traces: TraceExporter?,
    tasks: TaskRunner?, outbox: Outbox?, budget: HTTPBufferBudget?
  ) throws {
    loop = try EventLoop(label: "sociograph.admin")
    self.services = services
    self.schema = schema
    self.log = log
    self.traces = traces
    self.tasks = tasks
    self.outbox = outbox
    self.budget = budget
    latest = Array(repeating: nil, count: services.count)
    askedAt = Array(repeating: nil, count: services.count)
    address = listener.address
    var configuration = HTTPServer.Configuration()
    configuration.limits.maximumSockets = 100
    server = HTTPServer(
      loop: loop, listener: listener, configuration: configuration,
      handler: { [unowned self] request, exchange in answer(request, exchange) })
  }

  func start() {
    loop.execute { [self] in
      pulse = loop.schedule(after: .zero, repeating: Self.pulseInterval) { [unowned self] in
        askForLife()
      }
    }
    server?.start()
  }

  /// - Parameter handsOver: leaves the listener open, because another server accepts its clients.
  func stop(handsOver: Bool = false) {
    let hasEnded = DispatchSemaphore(value: 0)
    server?.closeAll(handsOver: handsOver)
    loop.execute { [self] in
      pulse = nil
      server = nil
      loop.stop()
      hasEnded.signal()
    }
    hasEnded.wait()
  }

  // MARK: - Loops

  private func askForLife() {
    for (index, service) in services.enumerated() where askedAt[index] == nil {
      let asked = monotonicNanoseconds()
      askedAt[index] = asked
      service.loop.execute { [self] in
        service.observer.metrics?.delay.observe(monotonicNanoseconds() &- asked)
        loop.execute { [self] in askedAt[index] = nil }
      }
    }
  }

  /// The loop that has not answered for too long.
  private var silentLoop: Int? {
    let now = monotonicNanoseconds()
    return askedAt.firstIndex { $0.map { now > $0 && now - $0 > Self.silenceLimit } ?? false }
  }

  /// Calls `done` once every loop has shown itself, or after a second.
  private func gather(_ done: @escaping () -> Void) {
    let round = Round(services.count, done)
    for (index, service) in services.enumerated() {
      service.loop.execute { [self] in
        let snapshot = service.snapshot()
        loop.execute { [self] in
          latest[index] = snapshot
          round.answered()
        }
      }
    }
    round.timer = loop.schedule(after: .seconds(1)) { round.end() }
  }

  /// Calls `done` with the sum of all loops that answer within a second.
  private func gatherUsage(_ done: @escaping (UsageReport) -> Void) {
    let sum = Sum()
    let round = Round(services.count) { done(sum.report) }
    for service in services {
      service.loop.execute { [self] in
        let report = service.usages?.report() ?? UsageReport()
        loop.execute {
          sum.report.add(report)
          round.answered()
        }
      }
    }
    round.timer = loop.schedule(after: .seconds(1)) { round.end() }
  }

  private final class Sum: @unchecked Sendable {
    // @unchecked: touched on the admin loop only.
    var report = UsageReport()
  }

  private final class Round: @unchecked Sendable {
    // @unchecked: touched on the admin loop only.
    private var remaining: Int
    private var done: (() -> Void)?
    var timer: LoopTimer?

    init(_ count: Int, _ done: @escaping () -> Void) {
      remaining = count
      self.done = done
    }

    func answered() {
      remaining -= 1
      if remaining == 0 { end() }
    }

    func end() {
      timer = nil
      let done = done
      self.done = nil
      done?()
    }
  }

  // MARK: - Pages

  private func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
    guard request.method == .get || request.method == .head else {
      return exchange.respond(.methodNotAllowed, headers: [HTTPField("Allow", "GET, HEAD")])
    }
    let path = request.path
    switch path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path {
    case "/live":
      if let silent = silentLoop {
        text("loop \(silent) does not answer", .serviceUnavailable, exchange)
      } else {
        text("live", .ok, exchange)
      }
    case "/ready":
      gather { [self] in
        let isReady = silentLoop == nil && latest.allSatisfy { $0?.isReady ?? false }
        let isStopping = latest.contains { $0?.isStopping ?? false }
        text(
          isReady ? "ready" : isStopping ? "stopping" : "not ready",
          isReady ? .ok : .serviceUnavailable, exchange)
      }
    case "/metrics":
      gather { [self] in
        let page = MetricsPage(
          loops: latest.compactMap(\.self), process: .read(), log: log.counts,
          traces: traces?.counts ?? TraceExporter.Counts(), tasks: tasks?.counts ?? [:],
          outbox: outbox?.counts ?? Outbox.Counts(), heldBytes: budget?.heldBytes ?? 0,
          version: serverVersion)
        exchange.respond(contentType: PrometheusText.contentType, body: page.bytes)
      }
    case "/usage":
      gatherUsage { [self] report in
        exchange.respond(contentType: "application/json", body: report.json(schema, since: since))
      }
    default: text("There is /metrics, /usage, /live and /ready.", .notFound, exchange)
    }
  }

  private func text(_ text: String, _ status: HTTPStatus, _ exchange: HTTPExchange) {
    exchange.respond(
      status, contentType: "text/plain; charset=utf-8", body: Array("\(text)\n".utf8))
  }
}
