import GraphQLExecution
import GraphQLPlanning
import JSON
import Server

/// The output of `explain`.
struct ExplainReport {
  let operation: PreparedOperation
  let viewer: Int64
  /// The time for parsing, validating and planning, without caches.
  let preparation: Duration
  let parameterTexts: [String?]
  /// The plans of a mutation's fields, in order; empty unless requested.
  let selectionPlans: [[String]]
  let showsShape: Bool
  let analysis: Analysis?

  /// The result of running the statement.
  struct Analysis {
    /// The time with PostgreSQL's own planning, as on a connection's first execution.
    let first: Duration
    /// The time of later executions.
    let again: Duration
    /// The size of the row that the response is written from.
    let bytes: Int
    /// The plan as PostgreSQL wrote it.
    let json: [UInt8]
    let plan: StatementAnalysis
  }

  private var plan: Plan { operation.plan.plan }

  var text: String {
    if case .mutation(let mutation) = plan { return text(of: mutation) }
    var lines = ["# Statement \(operation.plan.statement?.alone.name ?? "")"]
    if let label = operation.plan.statement?.alone.label { lines.append("-- \(label.text)") }
    lines.append(plan.statement?.text ?? "-- no statement")
    lines += ["", "# Parameters"]
    let descriptions = plan.parameterLines(variableNames: operation.variableNames)
    for (description, value) in zip(descriptions, parameterTexts) {
      lines.append(description + (value.map { " = \($0)" } ?? ""))
    }
    if showsShape { lines += ["", "# Output shape"] + plan.shapeLines }
    lines += ["", "# Prepared in \(preparation.microseconds) µs"]
    if let analysis {
      lines += ["", "# PostgreSQL's plan, as the server uses it"] + analysis.plan.lines
      lines += [
        "", "# Summary",
        "Served in \(analysis.again.milliseconds) ms, \(analysis.bytes) bytes in binary; the first "
          + "time on a connection in \(analysis.first.milliseconds) ms. Measuring each node made it "
          + "\(StatementAnalysis.milliseconds(analysis.plan.executionMilliseconds)) ms.",
        "The slowest nodes by their own time, and the fields that they serve:",
      ]
      lines += analysis.plan.summaryLines
    }
    return lines.joined(separator: "\n")
  }

  /// The statements of a mutation, none of which was run.
  private func text(of mutation: MutationPlan) -> String {
    var lines: [String] = []
    for (index, field) in mutation.fields.enumerated() {
      let name = field.frame.responseName
      switch field {
      case .constant: lines += ["# \(name)", "-- known without the database", ""]
      case .refused(_, let error): lines += ["# \(name)", "-- \(error.message)", ""]
      case .call(let call):
        lines += ["# \(name): \(call.coordinate) calls"] + self.lines(of: call.call)
        guard let selection = call.selection else { continue }
        lines += ["# \(name): its payload is selected in the same transaction"]
        lines += self.lines(of: selection)
        guard selectionPlans.indices.contains(index) else { continue }
        lines += ["# \(name): PostgreSQL's plan of the payload's selection, as the server uses it"]
        lines += selectionPlans[index] + [""]
      }
    }
    if showsShape {
      for case .call(let call) in mutation.fields {
        lines +=
          ["# Output shape of \(call.frame.responseName)"] + call.shape.lines(depth: 0) + [""]
      }
    }
    return
      (lines + [
        "# Prepared in \(preparation.microseconds) µs",
        "Nothing was run or written. The statements inside of the functions are not planned.",
      ]).joined(separator: "\n")
  }

  private func lines(of statement: PlannedStatement) -> [String] {
    [statement.text]
      + statement.parameters.enumerated().map { index, parameter in
        "-- $\(index + 1) \(parameter.description(operation.variableNames))"
      } + [""]
  }

  var json: String {
    var writer = JSONWriter()
    writer.append("{\"preparedInMicroseconds\":")
    writer.write(preparation.microseconds)
    writer.append(",\"name\":")
    writer.write(operation.plan.statement?.alone.name ?? "")
    writer.append(",\"statement\":")
    writer.write(plan.statement?.text ?? "")
    writer.append(",\"parameters\":[")
    for (index, parameter) in plan.parameters.enumerated() {
      writer.append(index > 0 ? ",{\"number\":" : "{\"number\":")
      writer.write(index + 1)
      writer.append(",\"source\":")
      writer.write(parameter.description(operation.variableNames))
      writer.append(",\"value\":")
      if let value = parameterTexts[index] { writer.write(value) } else { writer.writeNull() }
      writer.append("}")
    }
    writer.append("]")
    if showsShape {
      writer.append(",\"shape\":[")
      for (index, line) in plan.shapeLines.enumerated() {
        if index > 0 { writer.append(",") }
        writer.write(line)
      }
      writer.append("]")
    }
    if case .mutation(let mutation) = plan { write(mutation, to: &writer) }
    if let analysis { write(analysis, to: &writer) }
    writer.append("}")
    return String(decoding: writer.finish(), as: UTF8.self)
  }

  private func write(_ mutation: MutationPlan, to writer: inout JSONWriter) {
    writer.append(",\"mutation\":[")
    var isFirst = true
    for (index, field) in mutation.fields.enumerated() {
      guard case .call(let call) = field else { continue }
      writer.append(isFirst ? "{\"field\":" : ",{\"field\":")
      isFirst = false
      writer.write(call.frame.responseName)
      for (name, statement) in [("call", call.call), ("selection", call.selection)] {
        guard let statement else { continue }
        writer.append(Array(",\"\(name)\":".utf8))
        writer.write(statement.text)
        writer.append(Array(",\"\(name)Parameters\":".utf8))
        write(statement.parameters.map { $0.description(operation.variableNames) }, to: &writer)
      }
      if selectionPlans.indices.contains(index) {
        writer.append(",\"selectionPlan\":")
        write(selectionPlans[index], to: &writer)
      }
      writer.append("}")
    }
    writer.append("],\"isRun\":false")
  }

  private func write(_ texts: [String], to writer: inout JSONWriter) {
    writer.append("[")
    for (index, text) in texts.enumerated() {
      if index > 0 { writer.append(",") }
      writer.write(text)
    }
    writer.append("]")
  }

  private func write(_ analysis: Analysis, to writer: inout JSONWriter) {
    writer.append(",\"servedInMicroseconds\":")
    writer.write(analysis.again.microseconds)
    writer.append(",\"firstServedInMicroseconds\":")
    writer.write(analysis.first.microseconds)
    writer.append(",\"rowBytes\":")
    writer.write(analysis.bytes)
    writer.append(",\"slowest\":[")
    for (index, node) in analysis.plan.slowest(5).enumerated() {
      writer.append(index > 0 ? ",{\"field\":" : "{\"field\":")
      writer.write(node.field)
      writer.append(",\"node\":")
      writer.write(node.title)
      writer.append(",\"ownMilliseconds\":")
      writer.append(Array(StatementAnalysis.milliseconds(node.own).utf8))
      writer.append("}")
    }
    writer.append("],\"analysis\":")
    writer.append(analysis.json)
  }
}

extension Duration {
  fileprivate var microseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }

  fileprivate var milliseconds: String {
    StatementAnalysis.milliseconds(Double(microseconds) / 1000)
  }
}
