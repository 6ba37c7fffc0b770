import GraphQLResponse
import HTTP
import JSON

/// Assigns an identity to every request of one loop: the one that a trusted proxy sends
/// (`X-Request-Id`, `traceparent`), or a new one.
package struct RequestIdentification {
  private let proxies: TrustedProxies
  private var identifiers: TraceIDs

  /// - Parameter seed: determines all IDs that are created here; no two loops may have the same.
  package init(proxies: TrustedProxies, seed: TraceID) {
    self.proxies = proxies
    identifiers = TraceIDs(seed: seed)
  }

  package mutating func identify(_ request: HTTPRequest) -> RequestIdentity {
    guard proxies.isSender(of: request) else {
      return RequestIdentity(trace: TraceContext(id: identifiers.next()))
    }
    // A field that came twice names nothing.
    let id = request.headerList("x-request-id").flatMap {
      RequestIdentity.isValid(id: $0.utf8) ? $0 : nil
    }
    let trace = request.headerList("traceparent").flatMap { TraceContext(traceparent: $0) }
    return RequestIdentity(id: id, trace: trace ?? TraceContext(id: identifiers.next()))
  }
}

extension RequestIdentification {
  /// Returns the identity for an operation without an HTTP request.
  package mutating func next() -> RequestIdentity {
    RequestIdentity(trace: TraceContext(id: identifiers.next()))
  }
}

/// Trace IDs that never repeat for one seed. The high half is the seed's. The low half is a
/// bijection of a counter (the last step of SplitMix64), so that IDs look random to samplers.
struct TraceIDs {
  private let high: UInt64
  private var state: UInt64

  init(seed: TraceID) {
    high = max(seed.high, 1)
    state = seed.low
  }

  mutating func next() -> TraceID {
    state &+= 0x9E37_79B9_7F4A_7C15
    var low = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    low = (low ^ (low >> 27)) &* 0x94D0_49BB_1331_11EB
    return TraceID(high: high, low: low ^ (low >> 31))
  }
}

extension HTTPRefusal {
  /// Returns the response to a refusal by HTTP, in the form of all errors. HTTP never saw a GraphQL
  /// request, so the media type is plain JSON. For `HTTPServer.Configuration.refusalBody`.
  ///
  /// - Parameter requestID: nil if it was refused before it had an identity.
  @Sendable package static func answer(
    _ refusal: HTTPRefusal, requestID: String?
  ) -> (contentType: String, requestID: String?, body: [UInt8]) {
    let requestID = requestID ?? RequestIdentity.random().id
    let error = GraphQLError(refusal.message, code: ErrorCode(refusal))
    return (
      ResponseFormat.MediaType.json.contentType, requestID,
      JSONWriter.response([error], requestID: requestID)
    )
  }
}
