import Glibc
import GraphQLExecution
import GraphQLResponse
import HTTP
import JSON

/// Operations as an `ExportTraceServiceRequest` of OTLP 1 in JSON: ids in hexadecimal, times as decimal
/// texts, enums as numbers (OTLP specification, "JSON Protobuf Encoding").
///
///     query Feed                       the operation, kind SERVER
///       parse validate plan            what was not kept from before
///       password                       passwords and credentials: in the queue, and their hashing
///       wait                           for a database connection
///       postgresql                     the statement, kind CLIENT
///       write
///
/// With OpenTelemetry's semantic conventions for HTTP and GraphQL (1.38), the names have no part that
/// clients choose:
///
///     POST /graphql                    the request, kind SERVER
///       query                          the operation, kind SERVER
///         ...
///         SELECT                       the statement, kind CLIENT
enum TraceDocument {
  /// - Parameter resource: attributes of the resource, which replace the program's own of the same name.
  static func json(
    _ records: [RequestRecord], usesConventions: Bool = false,
    resource: [(name: String, value: String)] = []
  ) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    let offset = wallClockOffset()
    var writer = JSONWriter(capacity: 2_048 * records.count)
    writer.append(#"{"resourceSpans":[{"resource":{"attributes":["#)
    if !resource.contains(where: { $0.name == "service.name" }) {
      attribute("service.name", .text("sociograph"), &writer)
      writer.append(",")
    }
    for (name, value) in resource {
      attribute(name, .text(value), &writer)
      writer.append(",")
    }
    attribute("service.version", .text(serverVersion), &writer)
    writer.append(",")
    attribute("process.pid", .number(Int(getpid())), &writer)
    writer.append(#"]},"scopeSpans":[{"scope":{"name":"sociograph"},"spans":["#)
    var isFirst = true
    for record in records {
      let trace = record.identity.trace
      let root = SpanID(.random(in: 1 ... .max, using: &random))
      if !isFirst { writer.append(",") }
      isFirst = false
      var parent = trace.parentSpan
      if usesConventions, let http = record.http {
        let id = SpanID(.random(in: 1 ... .max, using: &random))
        write(
          Span(
            trace: trace.id, id: id, parent: parent, name: "\(http.method.text) \(path)", kind: 2,
            began: record.began, ended: record.ended, attributes: attributes(http, record),
            isError: record.status.code >= 500), offset, &writer)
        writer.append(",")
        parent = id
      }
      write(
        Span(
          trace: trace.id, id: root, parent: parent,
          name: usesConventions
            ? record.label?.kind.rawValue ?? "GraphQL Operation" : title(record),
          kind: 2,
          began: record.began, ended: record.ended, attributes: attributes(record),
          isError: record.code != nil || record.clientLeft), offset, &writer)
      for phase in phases(record, usesConventions) {
        writer.append(",")
        write(
          Span(
            trace: trace.id, id: SpanID(.random(in: 1 ... .max, using: &random)), parent: root,
            name: phase.name, kind: phase.kind, began: phase.began, ended: phase.ended,
            attributes: phase.attributes, isError: false), offset, &writer)
      }
    }
    writer.append("]}]}]}")
    return writer.finish()
  }

  static func spanCount(of record: RequestRecord, _ usesConventions: Bool) -> Int {
    (usesConventions && record.http != nil ? 2 : 1) + phases(record, usesConventions).count
  }

  private static let path = "/graphql"

  private static func attributes(
    _ http: RequestRecord.HTTPKind, _ record: RequestRecord
  ) -> Attributes {
    var result: Attributes = [
      ("http.request.method", .text(http.method.text)), ("url.path", .text(path)),
      ("url.scheme", .text(http.scheme)), ("http.route", .text(path)),
      ("http.request.body.size", .number(record.requestBytes)),
      ("http.response.body.size", .number(record.responseBytes)),
    ]
    // A client of a Unix socket has none.
    if record.peer != .local {
      result.append(("client.address", .text(record.peer.description)))
    }
    if !record.clientLeft {
      result.append(("http.response.status_code", .number(record.status.code)))
      if record.status.code >= 500 {
        result.append(("error.type", .text(String(record.status.code))))
      }
    }
    return result
  }

  // MARK: - What there is to say

  private enum Value {
    case text(String)
    case number(Int)
  }

  private typealias Attributes = [(name: String, value: Value)]

  private struct Phase {
    let name: String
    /// 1 INTERNAL, 3 CLIENT.
    let kind: Int
    let began: UInt64
    let ended: UInt64
    var attributes: Attributes = []
  }

  /// One after the other from the beginning; the statement and what follows it, back from the end.
  private static func phases(_ record: RequestRecord, _ usesConventions: Bool) -> [Phase] {
    let times = record.times
    var phases: [Phase] = []
    var at = record.began
    for (name, took) in [
      ("parse", times.parsing), ("validate", times.validating), ("plan", times.planning),
      ("password", times.hashing),
    ] where took > 0 {
      phases.append(Phase(name: name, kind: 1, began: at, ended: at &+ took))
      at &+= took
    }
    let written = record.ended
    let answered = max(written &- min(times.writing, written), record.began)
    let sent = max(answered &- min(times.querying, answered), record.began)
    let submitted = max(sent &- min(times.waiting, sent), record.began)
    if times.waiting > 0 {
      phases.append(Phase(name: "wait", kind: 1, began: submitted, ended: sent))
    }
    if times.querying > 0 {
      var attributes: Attributes = [("db.system.name", .text("postgresql"))]
      if usesConventions { attributes.append(("db.operation.name", .text("SELECT"))) }
      if let statement = record.statement {
        attributes.append(("sociograph.statement", .text(statement)))
      }
      phases.append(
        Phase(
          name: usesConventions ? "SELECT" : "postgresql", kind: 3, began: sent, ended: answered,
          attributes: attributes))
    }
    if times.writing > 0 {
      phases.append(Phase(name: "write", kind: 1, began: answered, ended: written))
    }
    return phases
  }

  private static func title(_ record: RequestRecord) -> String {
    guard let label = record.label else { return "graphql" }
    return label.name.map { "\(label.kind.rawValue) \($0)" } ?? label.kind.rawValue
  }

  private static func attributes(_ record: RequestRecord) -> Attributes {
    var result: Attributes = [
      ("http.request.body.size", .number(record.requestBytes)),
      ("http.response.body.size", .number(record.responseBytes)),
      ("sociograph.request.id", .text(record.identity.id)),
    ]
    if !record.clientLeft {
      result.append(("http.response.status_code", .number(record.status.code)))
    }
    if let label = record.label {
      result.append(("graphql.operation.type", .text(label.kind.rawValue)))
      if let name = label.name { result.append(("graphql.operation.name", .text(name))) }
      result.append(("sociograph.document", .text(label.document)))
    }
    if let code = record.code { result.append(("error.type", .text(code.rawValue))) }
    if record.clientLeft { result.append(("error.type", .text("CLIENT_LEFT"))) }
    return result
  }

  // MARK: - JSON

  private struct Span {
    let trace: TraceID
    let id: SpanID
    let parent: SpanID?
    let name: String
    let kind: Int
    let began: UInt64
    let ended: UInt64
    let attributes: Attributes
    let isError: Bool
  }

  private static func write(_ span: Span, _ offset: UInt64, _ writer: inout JSONWriter) {
    writer.append(#"{"traceId":"#)
    writer.write(span.trace.description)
    writer.append(#","spanId":"#)
    writer.write(span.id.description)
    if let parent = span.parent {
      writer.append(#","parentSpanId":"#)
      writer.write(parent.description)
    }
    writer.append(#","name":"#)
    writer.write(span.name)
    writer.append(#","kind":"#)
    writer.write(Int64(span.kind))
    writer.append(#","startTimeUnixNano":"#)
    writer.write(String(span.began &+ offset))
    writer.append(#","endTimeUnixNano":"#)
    writer.write(String(span.ended &+ offset))
    writer.append(#","attributes":["#)
    for (index, entry) in span.attributes.enumerated() {
      if index > 0 { writer.append(",") }
      attribute(entry.name, entry.value, &writer)
    }
    writer.append(#"],"status":{"#)
    if span.isError { writer.append(#""code":2"#) }
    writer.append("}}")
  }

  private static func attribute(
    _ name: String, _ value: Value, _ writer: inout JSONWriter
  ) {
    writer.append(#"{"key":"#)
    writer.write(name)
    switch value {
    case .text(let text):
      writer.append(#","value":{"stringValue":"#)
      writer.write(text)
    case .number(let number):
      writer.append(#","value":{"intValue":"#)
      writer.write(String(number))
    }
    writer.append("}}")
  }

  /// What to add to the monotonic clock for Unix time.
  private static func wallClockOffset() -> UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    let wall = UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    return wall &- monotonicNanoseconds()
  }
}

extension HTTPMethod {
  /// The method, as OpenTelemetry's conventions name it.
  var text: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .patch: "PATCH"
    case .query: "QUERY"
    case .other: "_OTHER"
    }
  }
}

extension RequestRecord.HTTPKind {
  var scheme: String { isSecure ? "https" : "http" }
}
