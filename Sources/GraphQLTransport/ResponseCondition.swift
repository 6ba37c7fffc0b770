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

  /// Returns the tag of a response, without quotes: 128 bits of its hash.
  package static func tag(of bytes: [UInt8]) -> String {
    Base64URL.encode(Array(SHA256.hash(bytes).prefix(16)))
  }

  /// Returns whether the client has a response with this tag, in any coding.
  package func matches(_ tag: String) -> Bool {
    guard let ifNoneMatch else { return false }
    return ifNoneMatch.split(separator: ",").contains { entry in
      var entry = entry.drop { $0 == " " || $0 == "\t" }
      while let last = entry.last, last == " " || last == "\t" { entry.removeLast() }
      if entry.hasPrefix("W/") { entry = entry.dropFirst(2) }
      return entry == "*" || entry == "\"\(tag)\""
    }
  }
}

extension GraphQLAnswer {
  private static let revalidated = HTTPField("Cache-Control", "no-cache")

  /// Adds the tag.
  ///
  /// - Parameter isWeak: whether responses with other bytes, such as those of a coding, have the same
  ///   tag.
  package mutating func add(tag: String, isWeak: Bool) {
    headers.append(HTTPField("ETag", "\(isWeak ? "W/" : "")\"\(tag)\""))
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
