import GraphQLExecution
import GraphQLResponse
import HTTP
import JSON

/// The clients that may learn where the time of their requests went, if they ask.
package enum ServerTimingAccess: String, CaseIterable, Sendable {
  case off
  /// Requests of a viewer.
  case signedIn = "signed-in"
  case all

  func timing(isAsked: Bool) -> RequestRecord.Timing {
    guard isAsked else { return .untold }
    return switch self {
    case .off: .untold
    case .signedIn: .toldToViewers
    case .all: .told
    }
  }
}

extension RequestRecord {
  /// Whether the response tells its client the times.
  package enum Timing: Sendable {
    case untold
    /// Once it is known that the request is a viewer's.
    case toldToViewers
    case told
  }

  /// Notes for whom the operation is run.
  func note(viewer: Int64) {
    if viewer != 0, timing == .toldToViewers { timing = .told }
  }

  /// The duration of the request, and those of the phases that took time, by the names of their
  /// spans. The request ends with it: the log has the same figures.
  private var phases: [(name: String, nanoseconds: UInt64)] {
    end()
    let phases = [
      ("parse", times.parsing), ("validate", times.validating), ("plan", times.planning),
      ("password", times.hashing), ("wait", times.waiting), ("postgresql", times.querying),
      ("write", times.writing),
    ]
    return [("total", nanoseconds)] + phases.filter { $0.1 > 0 }
  }

  /// The times of the operation as `Server-Timing` (W3C), in milliseconds with three decimals.
  /// `total` counts from when the request was read.
  var serverTiming: HTTPField {
    let entries = phases.map { "\($0.name);dur=\(LogLine.milliseconds($0.nanoseconds))" }
    return HTTPField("Server-Timing", entries.joined(separator: ", "))
  }

  /// Adds to a response of a socket what HTTP has headers for: the times, as
  /// `extensions.serverTiming`, and the position of a write, as `extensions.position`.
  ///
  /// - Parameter hasExtensions: whether the response ends with other extensions.
  func tellMore(in response: OperationResponse, hasExtensions: Bool) -> OperationResponse {
    guard timing == .told || position != nil,
      case .executed(var body, let errors, let isReplayed) = response
    else { return response }
    var members: [String] = []
    if timing == .told {
      let entries = phases.map { "\"\($0.name)\":\(LogLine.milliseconds($0.nanoseconds))" }
      members.append("\"serverTiming\":{\(entries.joined(separator: ","))}")
    }
    // Base64url needs no escapes.
    if let position { members.append("\"position\":\"\(position)\"") }
    // The braces of the response, and those of its extensions, are written again.
    let braces = hasExtensions ? 2 : 1
    guard body.suffix(braces).allSatisfy({ $0 == UInt8(ascii: "}") }) else { return response }
    body.removeLast(braces)
    body += (hasExtensions ? "," : ",\"extensions\":{").utf8
    body += (members.joined(separator: ",") + "}}").utf8
    return .executed(body: body, errors: errors, isReplayed: isReplayed)
  }
}

extension HTTPRequest {
  /// Whether the client asks for the times of its request: `Prefer: metrics=timings` (RFC 7240).
  var asksForTimings: Bool { prefers("metrics=timings") }

  /// Whether the client asks for the cost of its operation, although it may spend no points:
  /// `Prefer: metrics=cost`.
  var asksForCost: Bool { prefers("metrics=cost") }

  private func prefers(_ wanted: String) -> Bool {
    guard let preferences = headerList("prefer") else { return false }
    return preferences.split(separator: ",").contains { preference in
      preference.drop { $0 == " " }.prefix { $0 != ";" && $0 != " " }.lowercased() == wanted
    }
  }
}

extension GraphQLRequest {
  /// Whether a socket's client asks for the times of its operation: `"serverTiming": true` in the
  /// request's extensions.
  var asksForTimings: Bool {
    extensions.contains { $0.name == "serverTiming" && $0.value == .boolean(true) }
  }
}
