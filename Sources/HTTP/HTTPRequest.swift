import CLLHTTP
import Glibc

/// A complete request as a handler receives it: the bytes of its head with the ranges of the
/// fields, and the body. Nothing is copied into a `String` before it is used.
///
/// A connection reuses the object for its next request, but only if nothing else references it.
package final class HTTPRequest: @unchecked Sendable {
  // @unchecked: written only by its connection, before the handler gets it and never while anybody
  // else has a reference.
  package internal(set) var method = HTTPMethod.get
  package internal(set) var body: [UInt8] = []
  package internal(set) var peer = HTTPPeer.local
  /// Whether the request came through TLS.
  package internal(set) var isSecure = false
  /// The minor version of HTTP/1: 0 or 1.
  package internal(set) var minorVersion = 1
  /// Whether the client asked for another protocol (WebSocket).
  package internal(set) var wantsUpgrade = false

  /// Whether the header differs from that of the previous request on the connection. If it does
  /// not, values that a handler has read from it are still valid.
  package internal(set) var isNewHead = true

  var head: [UInt8] = []
  var fields: [FieldPlace] = []
  var pathRange = 0..<0
  var queryRange = 0..<0
  var keepsAlive = true
  var framing = Framing.none
  var expectsContinue = false
  /// Whether the request is one of the limits' uploads.
  var isUpload = false
  /// Whether all of the above was parsed from `head` without a refusal.
  var isParsed = false

  /// The range of a header field in `head`; the value without surrounding white space.
  struct FieldPlace {
    var name: Range<Int>
    var value: Range<Int>
  }

  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }

  init() {}

  /// Returns whether this is the path, without creating text.
  package func isPath(_ path: StaticString) -> Bool {
    guard pathRange.count == path.utf8CodeUnitCount else { return false }
    return path.withUTF8Buffer { unsafe head[pathRange].elementsEqual($0) }
  }

  /// The path, still percent-encoded: `/graphql`.
  package var path: String { String(decoding: head[pathRange], as: UTF8.self) }

  /// The query after the `?`, still percent-encoded; empty if there is none.
  package var query: String { String(decoding: head[queryRange], as: UTF8.self) }
  package var queryBytes: ArraySlice<UInt8> { head[queryRange] }

  /// Returns the first value of a field, whose name is given in lower case.
  package func header(_ name: StaticString) -> String? {
    headerBytes(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the first value of a field without creating a `String`.
  package func headerBytes(_ name: StaticString) -> ArraySlice<UInt8>? {
    guard let place = fields.first(where: { isName($0.name, name) }) else { return nil }
    return head[place.value]
  }

  /// Returns all values of a field, in order; lists are joined with commas as RFC 9110, 5.3 allows.
  package func headerList(_ name: StaticString) -> String? {
    var joined: String?
    for place in fields where isName(place.name, name) {
      let value = String(decoding: head[place.value], as: UTF8.self)
      joined = joined.map { "\($0), \(value)" } ?? value
    }
    return joined
  }

  package func hasHeader(_ name: StaticString) -> Bool {
    fields.contains { isName($0.name, name) }
  }

  /// Compares a name without regard to case; `name` is in lower case.
  func isName(_ range: Range<Int>, _ name: StaticString) -> Bool {
    matchesIgnoringCase(range, name)
  }

  func matchesIgnoringCase(_ range: Range<Int>, _ word: StaticString) -> Bool {
    guard range.count == word.utf8CodeUnitCount else { return false }
    let head = head
    let bytes = head.span
    var start = range.lowerBound
    return word.withUTF8Buffer { wanted in
      for index in 0..<wanted.count {
        let found = bytes[start]
        let lowered = found &- 0x41 < 26 ? found | 0x20 : found
        if unsafe lowered != wanted[index] { return false }
        start += 1
      }
      return true
    }
  }

  /// Returns whether `bytes` continue, from `start`, with the same head that was parsed last, so
  /// that all that was parsed in it still holds. A client repeats its head from one request to the
  /// next.
  func isHead(of bytes: [UInt8], from start: Int) -> Bool {
    guard isParsed, bytes.count - start >= head.count else { return false }
    return unsafe head.withUnsafeBytes { head in
      unsafe bytes.withUnsafeBytes { bytes in
        guard let known = head.baseAddress, let found = bytes.baseAddress else { return false }
        // In bounds: the count was compared.
        return unsafe memcmp(known, found + start, head.count) == 0
      }
    }
  }

  func forgetBody() {
    body.removeAll(keepingCapacity: body.capacity <= 64 * 1024)
  }

  func reset() {
    isParsed = false
    isNewHead = true
    forgetBody()
    head.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    pathRange = 0..<0
    queryRange = 0..<0
    keepsAlive = true
    wantsUpgrade = false
    framing = .none
    expectsContinue = false
    isUpload = false
  }
}
