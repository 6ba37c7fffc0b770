import Glibc
import GraphQLExecution
import GraphQLResponse
import GraphQLTransport
import HTTP
import Postgres

/// Where what happens becomes lines of the log, on standard error. No row data, statement text,
/// variable or token is ever among them.
package struct ServiceLog: Sendable {
  package struct Settings: Sendable {
    package var format = LogLine.Format.text
    package var access = AccessLog.off
    /// Operations that take at least so long have a line with where their time went; nil for none.
    package var slowOperation: Duration? = .milliseconds(500)

    package init() {}
  }

  /// Which answers have a line.
  package enum AccessLog: Sendable, Equatable {
    case off
    /// Responses with an error.
    case errors
    /// And of the others this part, between 0 and 1.
    case sampled(Double)
    case all
  }

  private let settings: Settings
  private let slowNanoseconds: UInt64
  private let writer: LogWriter

  package init(_ settings: Settings = Settings(), writer: LogWriter = .standardError) {
    self.settings = settings
    self.writer = writer
    slowNanoseconds = settings.slowOperation?.wholeNanoseconds ?? .max
  }

  /// - Parameter loop: where it happened; nil off the loops.
  package func report(_ event: ServerEvent, loop: Int?) {
    switch event {
    case .request(let record): report(record, loop)
    case .life(.step(let text)): line(.info, "server", text)
    case .life(.warning(let text)): line(.warning, "server", text)
    case .life(.failure(let text)): line(.error, "server", text)
    case .migration(let event): line(.info, "migration", event.description)
    case .outbox(.delivered): break
    case .outbox(.failed(let id, let reason, let isTriedAgain)):
      line(
        isTriedAgain ? .warning : .error, "outbox",
        "\(id) was not delivered and is \(isTriedAgain ? "tried again" : "given up"): \(reason)")
    case .task(.ran): break
    case .task(.failed(let name, let error)):
      line(.warning, "tasks", "\(name) failed, and is tried again: \(error)")
    case .http(let event): report(event, loop)
    case .endpoint(let event): report(event, loop)
    case .pool(let event): report(event, loop)
    case .replica(let host, .came): line(.info, "replica", "\(host) takes reads", at(loop))
    case .replica(let host, .left(let reason)):
      line(.warning, "replica", "\(host) takes no reads: \(reason.words)", at(loop))
    case .picture(let event): report(event, loop)
    case .push(let identity, let errors):
      for error in errors where error.isFault {
        line(error, of: "subscription", [("requestId", .text(identity.id))] + at(loop))
      }
    case .execution(.planned), .execution(.prepared), .execution(.dropped): break
    case .session(.refused(let fault)):
      line(.info, "token", "a signed token was refused: \(fault.reason)", at(loop))
    case .session(.found), .session(.unknown), .session(.failed): break
    }
  }

  // MARK: - Operations

  private func report(_ record: RequestRecord, _ loop: Int?) {
    for error in record.errors where error.isFault {
      line(
        error, of: Self.title(record),
        Self.fields(record, loop, isDetailed: error.code == .timeout))
    }
    let isSlow = !record.lasts && record.nanoseconds >= slowNanoseconds
    if isSlow {
      line(.warning, "slow", Self.title(record), Self.fields(record, loop, isDetailed: true))
    }
    if isWanted(record) {
      line(.info, "access", Self.title(record), Self.fields(record, loop, isDetailed: false))
    }
  }

  private func isWanted(_ record: RequestRecord) -> Bool {
    switch settings.access {
    case .off: false
    case .errors: record.code != nil
    case .sampled(let part): record.code != nil || Double.random(in: 0..<1) < part
    case .all: true
    }
  }

  /// Logs the reason for an error of which the client receives the code only.
  private func line(_ error: GraphQLError, of title: String, _ fields: LogLine.Fields) {
    let path = error.path.map { " at \($0.accessText.dropFirst())" } ?? ""
    line(
      error.code.level, "error",
      "\(title): \(error.code.rawValue)\(path): \(error.fullMessage)", fields)
  }

  /// `query Feed`, `query`, or what there is to say of a request that is no operation.
  private static func title(_ record: RequestRecord) -> String {
    guard let label = record.label else { return "no operation" }
    let name = label.name.map { "\(label.kind.rawValue) \($0)" } ?? label.kind.rawValue
    return record.clientLeft ? "\(name), which its client did not wait for" : name
  }

  private static func fields(
    _ record: RequestRecord, _ loop: Int?, isDetailed: Bool
  ) -> LogLine.Fields {
    var fields: LogLine.Fields = [
      ("requestId", .text(record.identity.id)),
      ("milliseconds", .nanoseconds(record.nanoseconds)),
    ]
    if !record.clientLeft { fields.append(("status", .number(record.status.code))) }
    if let code = record.code { fields.append(("code", .text(code.rawValue))) }
    if let label = record.label { fields.append(("document", .text(label.document))) }
    if let statement = record.statement { fields.append(("statement", .text(statement))) }
    if isDetailed {
      let times = record.times
      fields += [
        ("parse", .nanoseconds(times.parsing)), ("validate", .nanoseconds(times.validating)),
        ("plan", .nanoseconds(times.planning)), ("password", .nanoseconds(times.hashing)),
        ("wait", .nanoseconds(times.waiting)), ("postgresql", .nanoseconds(times.querying)),
        ("write", .nanoseconds(times.writing)),
      ]
    }
    fields += [
      ("requestBytes", .number(record.requestBytes)),
      ("responseBytes", .number(record.responseBytes)),
      ("client", .text(record.peer.description)),
    ]
    if let loop { fields.append(("loop", .number(loop))) }
    return fields
  }

  // MARK: - The rest

  private func report(_ event: HTTPEvent, _ loop: Int?) {
    switch event {
    case .acceptFailed(let code):
      line(.error, "http", "accept failed: \(unsafe String(cString: strerror(code)))", at(loop))
    case .requestRefused(let refusal, let peer):
      guard settings.access != .off else { return }
      let fields: LogLine.Fields = [
        ("status", .number(refusal.status.code)), ("client", .text(peer.description)),
      ]
      line(.info, "access", "refused: \(refusal.message)", fields + at(loop))
    case .connectionOpened, .connectionClosed, .clientGone, .handshakeFailed: break
    }
  }

  private func report(_ event: GraphQLEndpoint.Event, _ loop: Int?) {
    switch event {
    case .documentNotTrusted(let name):
      line(
        .warning, "graphql", "not a trusted document: operation \(name ?? "without a name")",
        at(loop))
    case .refused(let error, let status, let identity):
      guard settings.access != .off else { return }
      let fields: LogLine.Fields = [
        ("requestId", .text(identity.id)), ("status", .number(status.code)),
        ("code", .text(error.graphQLError.code.rawValue)),
      ]
      line(.info, "access", "refused: \(error.graphQLError.message)", fields + at(loop))
    }
  }

  private func report(_ event: PictureEvent, _ loop: Int?) {
    switch event {
    case .kept(let bytes, let identity):
      guard settings.access == .all else { return }
      let fields: LogLine.Fields = [
        ("requestId", .text(identity.id)), ("bytes", .number(bytes)),
      ]
      line(.info, "access", "photo kept", fields + at(loop))
    case .refused(let code, let reason, let identity):
      guard code == .internalServerError || code == .serviceOverloaded || settings.access != .off
      else { return }
      let fields: LogLine.Fields = [
        ("requestId", .text(identity.id)), ("code", .text(code.rawValue)),
      ]
      let message = "photo refused: \(reason ?? code.rawValue)"
      if code == .internalServerError {
        line(.error, "error", message, fields + at(loop))
      } else {
        line(.info, "access", message, fields + at(loop))
      }
    case .notServed(let code, let reason):
      guard let reason else { return }
      line(
        .error, "error", "photo not served: \(reason)", [("code", .text(code.rawValue))] + at(loop))
    case .notModerated(let reason):
      line(.warning, "uploads", "--photo-moderation did not decide: \(reason)", at(loop))
    case .forgotten(let count):
      line(.info, "uploads", "removed \(count) unused images", at(loop))
    case .served: break
    }
  }

  private func report(_ event: PoolEvent, _ loop: Int?) {
    switch event {
    case .connectFailed(_, let error, let next):
      line(
        .warning, "database",
        "connection failed: \(error); next attempt in \(next.wholeMilliseconds) ms", at(loop))
    case .hostRefused(let refusal):
      if refusal.isNew { line(.warning, "database", "\(refusal)", at(loop)) }
    case .closed(_, .outdated):
      line(.warning, "database", "closed a connection: another server became the primary", at(loop))
    case .breakerOpened:
      line(.error, "database", "cannot be reached; answering 503 until it can", at(loop))
    case .breakerClosed: line(.info, "database", "can be reached again", at(loop))
    case .closed(_, .lost(let error)):
      line(.warning, "database", "connection lost: \(error.message)", at(loop))
    case .closed(_, .cancelIgnored):
      line(
        .warning, "database", "connection closed, as its statement went on after a cancel", at(loop)
      )
    case .closed(_, .unresponsive):
      line(
        .warning, "database", "connection closed, as its statement went on past its timeout",
        at(loop))
    case .closed(_, .readOnly):
      line(.warning, "database", "connection closed, as the server only reads", at(loop))
    case .closed(_, .lifetime), .closed(_, .idle), .closed(_, .shutDown), .closed(_, .uncleanLease),
      .closed(_, .paused),
      .opened, .shed, .retried, .cancelSent, .prepared, .batched:
      break
    }
  }

  private func at(_ loop: Int?) -> LogLine.Fields {
    loop.map { [("loop", .number($0))] } ?? []
  }

  private func line(
    _ level: LogLine.Level, _ subject: StaticString, _ message: String,
    _ fields: LogLine.Fields = []
  ) {
    writer.write(LogLine(level, subject, message, fields), as: settings.format)
  }

  package var counts: LogWriter.Counts { writer.counts }

  /// Waits a moment until what was said is written.
  package func flush() { writer.flush() }
}

extension Duration {
  /// Saturates.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000)
  }

  var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}

extension ReplicaStates.Departure {
  fileprivate var words: String {
    switch self {
    case .lagging: "it is further behind than --replica-lag allows, or follows another timeline"
    case .noStandby: "it is not a standby"
    case .unreachable: "it does not answer"
    }
  }
}

extension ErrorCode {
  /// How urgent the reason of an error is: what the client sent is nothing to look at.
  fileprivate var level: LogLine.Level {
    switch self {
    case .badUserInput, .forbidden, .refused, .rolledBack, .conflict, .notFound: .info
    case .valueNotRepresentable, .lockTimeout: .warning
    default: .error
    }
  }
}
