import Cryptography
import HTTP

/// The response that a client already has, by `If-None-Match` (RFC 9110, 13.1.2), of a request that
/// changes nothing: GET, HEAD or QUERY.
package final class ResponseCondition: Sendable {
  private let ifNoneMatch: String?

  /// Returns nil for other methods. HTTP defines no condition under which a POST is not executed
  /// because nothing has changed.
  init?(_ request: HTTPRequest) {
    switch request.method {
    case .get, .head, .query: break
    case .post, .put, .delete, .options, .patch, .other: return nil
    }
    ifNoneMatch = request.headerList("if-none-match")
  }

  /// Returns whether the client has the representation with this tag. Weak tags match strong ones
  /// (RFC 9110, 8.8.3.2).
  package func matches(_ tag: ResponseTag) -> Bool {
    guard let ifNoneMatch else { return false }
    return ifNoneMatch.split(separator: ",").contains { entry in
      var entry = entry.drop { $0 == " " || $0 == "\t" }
      while let last = entry.last, last == " " || last == "\t" { entry.removeLast() }
      if entry.hasPrefix("W/") { entry = entry.dropFirst(2) }
      return entry == "*" || entry == "\"\(tag.opaque)\""
    }
  }
}

/// The tag of one representation of a response: each media type and coding has its own.
package struct ResponseTag: Sendable {
  fileprivate let opaque: String
  /// Whether responses with other bytes have the same tag.
  private var isWeak: Bool

  /// Creates the tag of a response that is not coded: 128 bits of its hash.
  ///
  /// - Parameters:
  ///   - bytes: what is hashed.
  ///   - isWhole: whether the response has no other bytes.
  package init(of bytes: some Collection<UInt8>, as type: ResponseFormat.MediaType, isWhole: Bool) {
    let hash = Base64URL.encode(Array(SHA256.hash(Array(bytes)).prefix(16)))
    opaque = type == .json ? hash + ".json" : hash
    isWeak = !isWhole
  }

  private init(_ tag: ResponseTag, _ coding: String) {
    opaque = "\(tag.opaque).\(coding)"
    isWeak = true
  }

  /// Returns the tag of the response in a coding. It is weak: the padding differs each time.
  package func coded(_ coding: String) -> ResponseTag { ResponseTag(self, coding) }

  /// The tag as it is in the header field.
  package var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }
}

extension GraphQLAnswer {
  private static let revalidated = HTTPField("Cache-Control", "no-cache")

  /// Adds the tag.
  package mutating func add(_ tag: ResponseTag) {
    headers.append(HTTPField("ETag", tag.text))
    // A cache that keeps it asks each time. That of a viewer is not kept: `no-store`.
    if !headers.contains(where: { $0.name == "Cache-Control" }) { headers.append(Self.revalidated) }
  }

  /// Removes the body, because the client has it.
  package mutating func becomeNotModified() {
    status = .notModified
    contentType = nil
    body = []
  }
}
