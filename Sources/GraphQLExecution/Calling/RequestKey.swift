import Cryptography
import GraphQLResponse
import JSON

/// The key of a request that must not be done twice.
package struct RequestKey: Sendable {
  /// The client's `Idempotency-Key`, or one made here.
  let text: String
  let isClient: Bool
  /// SHA-256 of operation and variables: a client's key that comes with another one is refused (R26). Empty
  /// for one made here, with which no other request can come.
  let bodyHash: [UInt8]

  init(_ request: GraphQLRequest, viewer: Int64) {
    guard let key = request.idempotencyKey else {
      (text, isClient, bodyHash) = (Self.randomToken(), false, [])
      return
    }
    isClient = true
    bodyHash = Self.hash(of: request)
    // Anonymous clients share all keys, so the body is part of the key.
    text = viewer == 0 ? key + " " + Base64URL.encode(bodyHash) : key
  }

  private static func hash(of request: GraphQLRequest) -> [UInt8] {
    var body = Array(request.document.utf8)
    body.append(0)
    body += (request.operationName ?? "").utf8
    body.append(0)
    body += JSONValue.object(request.variables).bytes
    return SHA256.hash(body)
  }

  /// Returns an unpredictable token of 256 bits.
  package static func randomToken() -> String { Base64URL.encode(RandomBytes.make(32)) }
}
