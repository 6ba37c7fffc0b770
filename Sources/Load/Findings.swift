import JSON

/// The figures of PostgreSQL's own views for a window.
package struct PostgresFindings: Sendable {
  package struct Statement: Sendable {
    package let name: String
    package let calls: Double
    package let milliseconds: Double
    package let rows: Double
    package let hits: Double
    package let reads: Double
    package let walBytes: Double
    package let text: String
  }

  package struct Wait: Sendable {
    package let type: String
    package let event: String
    package let samples: Int
    /// The number of samples in each second of the window.
    package let bySecond: [Int]
  }

  package var statements: [Statement]?
  package var waits: [Wait]?
  package var walBytes: Double?
  package var checkpoints: Double?
  package var checkpointSeconds: [Int] = []
  package var deadlocks: Double?
  package var temporaryBytes: Double?
  package var sampleCount = 0
  package var remarks: [String] = []

  package init() {}

  package var json: JSONValue {
    .members([
      "statements": statements.map { statements in
        .array(
          statements.map { statement in
            .members([
              "name": .string(statement.name), "calls": .of(statement.calls),
              "execution_ms": .of(statement.milliseconds), "rows": .of(statement.rows),
              "buffers_hit": .of(statement.hits), "buffers_read": .of(statement.reads),
              "wal_bytes": .of(statement.walBytes),
            ])
          })
      } ?? .null,
      "waits": waits.map { waits in
        .array(
          waits.map { wait in
            .members([
              "type": .string(wait.type), "event": .string(wait.event),
              "samples": .of(wait.samples),
              "by_second": .array(wait.bySecond.map { .of($0) }),
            ])
          })
      } ?? .null,
      "samples": .of(sampleCount), "wal_bytes": .of(walBytes), "checkpoints": .of(checkpoints),
      "deadlocks": .of(deadlocks), "temporary_bytes": .of(temporaryBytes),
      "remarks": .array(remarks.map { .string($0) }),
    ])
  }

  /// The lines of the summary.
  func lines(_ measured: LoadMeasurement) -> [String] {
    var lines: [String] = []
    if let statements {
      let total = statements.reduce(0) { $0 + $1.milliseconds }
      for statement in statements.prefix(3) {
        lines.append(
          "postgresql: \(statement.name) \(LoadTime.decimal(statement.calls, 0)) calls, "
            + "\(LoadTime.decimal(statement.milliseconds / max(statement.calls, 1), 3)) ms each, "
            + "\(LoadTime.decimal(statement.milliseconds / max(total, 1e-9) * 100, 0)) % of execution"
        )
      }
      let split = measured.totals.split.first { $0.name == "postgresql" }?.milliseconds
      if let split, measured.totals.timed > 0, total > 0 {
        let told = split * Double(measured.totals.timed)
        lines.append(
          "postgresql: \(LoadTime.decimal(told, 1)) ms by Server-Timing, \(LoadTime.decimal(total, 1)) ms "
            + "by pg_stat_statements, ratio \(LoadTime.decimal(told / total, 2))")
      }
    }
    if let waits, !waits.isEmpty {
      lines.append(
        "waits: "
          + waits.prefix(4).map { "\($0.type)/\($0.event) \($0.samples)" }.joined(separator: ", "))
    }
    return lines + remarks.map { "postgresql: \($0)" }
  }
}
