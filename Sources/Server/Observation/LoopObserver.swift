/// Passes the events of one event loop to the log, to the loop's counters and to the traces, if
/// they are enabled.
final class LoopObserver: @unchecked Sendable {
  // @unchecked: `metrics` is touched on its loop only.
  let loop: Int
  let log: ServiceLog
  let traces: TraceExporter?
  /// The counters, or nil without an address for operators.
  var metrics: LoopMetrics?

  init(
    loop: Int, log: ServiceLog, traces: TraceExporter?, countsMetrics: Bool,
    countsRequests: Bool
  ) {
    self.loop = loop
    self.log = log
    self.traces = traces
    metrics = countsMetrics ? LoopMetrics(countsRequests: countsRequests) : nil
  }

  func report(_ event: ServerEvent) {
    metrics?.count(event)
    traces?.record(event)
    log.report(event, loop: loop)
  }
}
