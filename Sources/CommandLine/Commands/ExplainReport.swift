import GraphQLExecution
import GraphQLPlanning
import JSON
import Server

/// What `explain` prints.
struct ExplainReport {
  let operation: PreparedOperation
  let viewer: Int64
  /// Parsing, validating and planning, with none of it kept from before.
  let preparation: Duration
  let parameterTexts: [String?]
  let showsShape: Bool
  let analysis: Analysis?

  /// What running the statement showed.
  struct Analysis {
    /// With PostgreSQL's own planning, as when a connection meets the statement.
    let first: Duration
    /// As from then on.
    let again: Duration
    /// Of the row that the response is written from.
    let bytes: Int
    /// As PostgreSQL wrote it.
    let json: [UInt8]
    let plan: StatementAnalysis
  }

  private var plan: Plan { operation.plan.plan }

  var text: String {
    var lines = ["# Statement \(operation.plan.statement?.alone.name ?? "")"]
    if let label = operation.plan.statement?.alone.label { lines.append("-- \(label.text)") }
    lines.append(plan.statement?.text ?? "-- nothing to ask the database")
    lines += ["", "# Parameters"]
    let descriptions = plan.parameterLines(variableNames: operation.variableNames)
    for (description, value) in zip(descriptions, parameterTexts) {
      lines.append(description + (value.map { " = \($0)" } ?? ""))
    }
    if showsShape { lines += ["", "# Output shape"] + plan.shapeLines }
    lines += ["", "# Prepared in \(preparation.microseconds) µs"]
    if let analysis {
      lines += ["", "# PostgreSQL's plan, the one that is served"] + analysis.plan.lines
      lines += [
        "", "# Summary",
        "Served in \(analysis.again.milliseconds) ms, \(analysis.bytes) bytes in binary; the first "
          + "time on a connection in \(analysis.first.milliseconds) ms. Measuring each node made it "
          + "\(StatementAnalysis.milliseconds(analysis.plan.executionMilliseconds)) ms.",
        "The dearest nodes by their own time, and the fields they serve:",
      ]
      lines += analysis.plan.summaryLines
    }
    return lines.joined(separator: "\n")
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
    if let analysis { write(analysis, to: &writer) }
    writer.append("}")
    return String(decoding: writer.finish(), as: UTF8.self)
  }

  private func write(_ analysis: Analysis, to writer: inout JSONWriter) {
    writer.append(",\"servedInMicroseconds\":")
    writer.write(analysis.again.microseconds)
    writer.append(",\"firstServedInMicroseconds\":")
    writer.write(analysis.first.microseconds)
    writer.append(",\"rowBytes\":")
    writer.write(analysis.bytes)
    writer.append(",\"dearest\":[")
    for (index, node) in analysis.plan.dearest(5).enumerated() {
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
