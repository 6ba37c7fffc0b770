import Foundation
import GraphQLTransport
import HTTP
import Postgres

/// Where events of the modules below become log lines, on standard error. No row data, statement
/// text or token is ever among them.
package final class ServiceLog: Sendable {
  package enum Format: String, CaseIterable, Sendable {
    case text, json
  }

  private let format: Format

  package init(format: Format) { self.format = format }

  func report(_ event: PoolEvent, loop: Int) {
    switch event {
    case .connectFailed(_, let error, let next):
      line(
        "database",
        "connection failed: \(error); next attempt in \(Self.milliseconds(next)) ms", loop)
    case .breakerOpened: line("database", "cannot be reached; answering 503 until it can", loop)
    case .breakerClosed: line("database", "can be reached again", loop)
    default: break
    }
  }

  /// Why a request was answered with no more than a code. PostgreSQL's details can name values.
  func report(_ error: PostgresError, requestID: String) {
    let state = error.sqlState.isEmpty ? "" : " (SQLSTATE \(error.sqlState))"
    line("database", "a statement failed: \(error.message)\(state)", nil, requestID: requestID)
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }

  func report(_ event: HTTPEvent) {
    if case .acceptFailed(let code) = event {
      line("http", "accept failed: \(unsafe String(cString: strerror(code)))", nil)
    }
  }

  func report(_ event: GraphQLEndpoint.Event) {
    if case .documentNotTrusted(let name) = event {
      line("graphql", "not a trusted document: operation \(name ?? "without a name")", nil)
    }
  }

  func line(_ subject: String, _ text: String, _ loop: Int?, requestID: String? = nil) {
    let time = Date().formatted(.iso8601)
    let output: String
    switch format {
    case .text:
      // What a client sent must not look like a line of its own.
      let shown = text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }
      output =
        "\(time) \(subject)\(loop.map { " (loop \($0))" } ?? "")"
        + "\(requestID.map { " (request \($0))" } ?? ""): "
        + String(String.UnicodeScalarView(shown)) + "\n"
    case .json:
      var fields = ["time": time, "subject": subject, "message": text]
      if let loop { fields["loop"] = String(loop) }
      if let requestID { fields["requestId"] = requestID }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let data = (try? encoder.encode(fields)) ?? Data()
      output = String(decoding: data, as: UTF8.self) + "\n"
    }
    try? FileHandle.standardError.write(contentsOf: Data(output.utf8))
  }
}
