import Cryptography
import GraphQLResponse
import JSON

/// What a request that must not be done twice is known by.
package struct RequestKey: Sendable {
  /// The client's `Idempotency-Key`, or one made here.
  let text: String
  let isClient: Bool
  /// SHA-256 of operation and variables: a key that comes with another one is refused (R26).
  let bodyHash: [UInt8]

  init(_ request: GraphQLRequest, viewer: Int64) {
    let clientKey = request.idempotencyKey
    var body = Array(request.document.utf8)
    body.append(0)
    body += (request.operationName ?? "").utf8
    body.append(0)
    body += "\(JSONValue.object(request.variables))".utf8
    bodyHash = SHA256.hash(body)
    isClient = clientKey != nil
    let key = clientKey ?? Self.randomToken()
    // Nobody in particular has no keys of their own: there the body is part of it.
    text = viewer == 0 ? key + " " + Base64URL.encode(bodyHash) : key
  }

  /// 256 bits nobody can guess.
  package static func randomToken() -> String { Base64URL.encode(RandomBytes.make(32)) }
}
