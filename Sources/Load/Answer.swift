import HTTP
import JSON

/// The outcome of a request, from its response.
struct Answer {
  let status: Int
  let outcome: Outcome
  /// `errors[0].extensions.code`, `no code`, or such as `HTTP 503`; nil for a success.
  let code: String?
  /// In seconds.
  let retryAfter: Double?
  let timing: ServerTiming?
  let isReplayed: Bool

  init(_ response: borrowing HTTPResponseReader) {
    status = response.status
    retryAfter = response.header("retry-after").flatMap { value in
      Double(String(decoding: value, as: UTF8.self)).flatMap { $0 >= 0 ? $0 : nil }
    }
    timing = response.header("server-timing").map { ServerTiming($0) }
    isReplayed = response.header("idempotency-replayed") != nil
    // Most answers have no such member at any depth, and need not be parsed.
    let errors =
      response.bodyContains("\"errors\"")
      ? (try? JSONParser.parse(Array(response.body), maximumNesting: 512))?["errors"]?.elements
        ?? []
      : []
    let isSuccess = (200..<300).contains(status)
    if status == 429 || status == 503 && retryAfter != nil {
      outcome = .throttled
    } else if !isSuccess {
      outcome = .http
    } else {
      outcome = errors.isEmpty ? .ok : .graphql
    }
    if let first = errors.first {
      code = first["extensions"]?["code"]?.text ?? "no code"
    } else {
      code = isSuccess ? nil : "HTTP \(status)"
    }
  }
}
