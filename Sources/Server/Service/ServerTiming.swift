import GraphQLExecution
import HTTP

extension RequestRecord {
  /// The times of the operation so far as `Server-Timing` (W3C), in milliseconds with three decimals.
  /// `total` counts from when the request was read. Phases that took time have the names of their
  /// spans.
  var serverTiming: HTTPField {
    let now = monotonicNanoseconds()
    var text = "total;dur=" + LogLine.milliseconds(now > began ? now - began : 0)
    let phases: KeyValuePairs = [
      "parse": times.parsing, "validate": times.validating, "plan": times.planning,
      "password": times.hashing, "wait": times.waiting, "postgresql": times.querying,
      "write": times.writing,
    ]
    for (name, nanoseconds) in phases where nanoseconds > 0 {
      text += ", \(name);dur=" + LogLine.milliseconds(nanoseconds)
    }
    return HTTPField("Server-Timing", text)
  }
}

extension HTTPRequest {
  /// Whether the client asks for the times of its request: `Prefer: metrics=timings` (RFC 7240).
  var asksForTimings: Bool {
    guard let preferences = headerList("prefer") else { return false }
    return preferences.split(separator: ",").contains { preference in
      preference.drop { $0 == " " }.prefix { $0 != ";" && $0 != " " }.lowercased()
        == "metrics=timings"
    }
  }
}
