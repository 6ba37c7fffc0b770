import GraphQLResponse
import HTTP
import JSON

// Variable batching: `variables` is a list, and the operation is executed for each of its objects.
// GraphQL over HTTP, proposal 307, open in November 2026.

/// The form of the responses to a request with several sets of variables. Each has the index of its
/// set as `variableIndex`.
package enum VariableSetsForm: Sendable, Equatable {
  /// A JSON list, for a client that takes plain JSON.
  case list
  /// JSON Lines: one response a line.
  case lines(JSONLines)
}

/// The names that clients use for JSON Lines with GraphQL responses.
package enum JSONLines: String, Sendable, CaseIterable {
  case response = "application/graphql-response+jsonl"
  case graphQL = "application/graphql+jsonl"
  case plain = "application/jsonl"

  package var contentType: String { rawValue + "; charset=utf-8" }

  /// Returns the name that the client likes best, or nil if it accepts none.
  init?(accept: String?) {
    guard let accept, accept.contains("jsonl") else { return nil }
    var best = 0
    var found: JSONLines?
    let ranges = MediaRange.split(accept[...], at: ",").compactMap(MediaRange.init)
    for range in ranges where range.isUTF8 && range.quality > best {
      guard let name = JSONLines(rawValue: String(range.type)) else { continue }
      (best, found) = (range.quality, name)
    }
    guard let found else { return nil }
    self = found
  }
}

extension ResponseFormat {
  /// The type of several responses in one body.
  package var batchContentType: String {
    if case .lines(let lines)? = sets { lines.contentType } else { contentType }
  }
}

extension GraphQLEndpoint {
  /// Returns a request for each set of variables. What is refused here is refused for all sets.
  func readSets(
    _ sets: [JSONValue], _ parameters: RequestParameters, _ request: HTTPRequest, _ head: Head,
    _ identity: RequestIdentity
  ) throws(TransportError) -> Reception {
    let expected =
      configuration.maximumVariableSets > 0
      ? "an object, or for a client that accepts application/jsonl a list of objects" : "an object"
    // A list of responses is none of the media type of one.
    guard configuration.maximumVariableSets > 0, !sets.isEmpty,
      head.format.lines != nil || head.format.mediaType != .graphQLResponse
        || head.format.profile == .audit
    else { throw .parameter("variables", expected: expected) }
    guard !request.hasHeader("idempotency-key") else { throw .idempotencyKeyOfBatch }
    guard sets.count <= configuration.maximumVariableSets else {
      throw .tooManyVariableSets(maximum: configuration.maximumVariableSets)
    }
    let first = try resolve(parameters, identity)
    var requests: [GraphQLRequest] = []
    for set in sets {
      guard case .object(let variables) = set else {
        throw .parameter("variables", expected: expected)
      }
      try checkSize(of: variables, inBytes: request.body.count)
      var one = first
      one.variables = variables
      requests.append(one)
    }
    var format = head.format
    format.sets = format.lines.map { VariableSetsForm.lines($0) } ?? .list
    return .batch(requests, format)
  }
}
