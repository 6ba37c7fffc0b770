import CLLHTTP

package enum HTTPMethod: Sendable, Hashable {
  case get, head, post, put, delete, options, patch
  /// RFC 10008: like POST, but it changes nothing.
  case query
  /// One of the many other methods that the parser knows. CONNECT is refused earlier.
  case other

  init(parserNumber: UInt8) {
    switch UInt32(parserNumber) {
    case HTTP_GET.rawValue: self = .get
    case HTTP_HEAD.rawValue: self = .head
    case HTTP_POST.rawValue: self = .post
    case HTTP_PUT.rawValue: self = .put
    case HTTP_DELETE.rawValue: self = .delete
    case HTTP_OPTIONS.rawValue: self = .options
    case HTTP_PATCH.rawValue: self = .patch
    case UInt32(LLHTTP_QUERY): self = .query
    default: self = .other
    }
  }
}
