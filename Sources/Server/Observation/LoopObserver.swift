/// The eyes of one loop: tells what happens there to the log, to the loop's own counters and to the
/// traces, each if it is wanted.
final class LoopObserver: @unchecked Sendable {
  // @unchecked: `metrics` is touched on its loop only.
  let loop: Int
  let log: ServiceLog
  let traces: TraceExporter?
  /// Nil where nobody can ask for them.
  var metrics: LoopMetrics?

  init(loop: Int, log: ServiceLog, traces: TraceExporter?, countsMetrics: Bool) {
    self.loop = loop
    self.log = log
    self.traces = traces
    metrics = countsMetrics ? LoopMetrics() : nil
  }

  func report(_ event: ServerEvent) {
    metrics?.count(event)
    traces?.record(event)
    log.report(event, loop: loop)
  }
}
