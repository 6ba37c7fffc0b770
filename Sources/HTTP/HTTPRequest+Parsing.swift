import CLLHTTP

/// The storage in which the parser records the fields of a head; all connections of a loop share
/// it.
struct HTTPFieldPlaces {
  var spans: [llhttp_field_span] = []

  mutating func reserve(_ count: Int) {
    if spans.count != count { spans = Array(repeating: llhttp_field_span(), count: count) }
  }
}

extension HTTPRequest {
  /// Parses one complete request without a socket; returns nil if it is incomplete.
  package static func parse(
    _ bytes: [UInt8], from peer: HTTPPeer = .local, limits: HTTPLimits = HTTPLimits()
  ) throws(HTTPRefusal) -> HTTPRequest? {
    var scanner = HTTPHeadScanner()
    guard let end = try scanner.scan(bytes.span, limits: limits) else { return nil }
    let request = HTTPRequest()
    request.head = Array(bytes[..<end])
    request.peer = peer
    var places = HTTPFieldPlaces()
    try request.parseHead(limits: limits, places: &places)
    switch request.framing {
    case .none: return request
    case .length(let length):
      request.body = Array(bytes[end...].prefix(length))
      return request.body.count == length ? request : nil
    case .chunked:
      var chunked = HTTPChunkedBody(maximumBytes: request.maximumBodyBytes(limits))
      _ = try chunked.decode(bytes, from: end, into: &request.body, limits: limits)
      return chunked.isComplete ? request : nil
    }
  }

  /// Parses the head and determines the framing of the body.
  ///
  /// llhttp parses; this code refuses what the standard leaves to the server: a missing or second
  /// Host, every doubtful framing (RFC 9112, 3.2 and 6.3), compressed bodies.
  ///
  /// - Precondition: `head` has passed `HTTPHeadScanner`.
  func parseHead(
    limits: HTTPLimits, places: inout HTTPFieldPlaces
  ) throws(HTTPRefusal) {
    places.reserve(limits.maximumHeaderFields)
    var parsed = llhttp_request_head()
    let code = unsafe head.withUnsafeBufferPointer { bytes in
      unsafe places.spans.withUnsafeMutableBufferPointer { places in
        unsafe llhttp_parse_request_head(
          bytes.baseAddress, bytes.count, places.baseAddress, UInt32(places.count), &parsed)
      }
    }
    guard code != -1 else { throw .headersTooLarge }
    if UInt32(bitPattern: code) == HPE_INVALID_METHOD.rawValue, beginsWithToken {
      throw .methodNotAllowed
    }
    guard code == 0 else { throw .malformed(Self.malformation(code)) }

    fields.reserveCapacity(Int(parsed.field_count))
    for place in places.spans[..<Int(parsed.field_count)] {
      let name = Int(place.name)..<Int(place.name) + Int(place.name_length)
      try checkName(name)
      let value = Int(place.value)..<Int(place.value) + Int(place.value_length)
      fields.append(FieldPlace(name: name, value: trimmed(value)))
    }
    guard UInt32(parsed.method) != HTTP_CONNECT.rawValue else { throw .methodNotAllowed }
    method = HTTPMethod(parserNumber: parsed.method)
    minorVersion = Int(parsed.minor_version)
    keepsAlive = parsed.keeps_alive != 0
    wantsUpgrade = parsed.wants_upgrade != 0
    try splitTarget(Int(parsed.target)..<Int(parsed.target) + Int(parsed.target_length))
    try readFields(limits: limits)
    // Two opinions on the framing, or no request.
    switch framing {
    case .none: if parsed.is_chunked != 0 { throw .malformed(.transferEncoding) }
    case .chunked: if parsed.is_chunked == 0 { throw .malformed(.transferEncoding) }
    case .length(let length):
      guard parsed.has_content_length != 0, parsed.content_length == UInt64(length) else {
        throw .malformed(.contentLength)
      }
    }
    isParsed = true
  }

  /// Whether the head begins with a token, which may be a method that others know.
  private var beginsWithToken: Bool {
    let method = head.prefix { $0 != 0x20 }
    return !method.isEmpty && method.allSatisfy(isTokenByte)
  }

  private static func malformation(_ code: Int32) -> HTTPRefusal.Malformation {
    switch UInt32(bitPattern: code) {
    case HPE_INVALID_METHOD.rawValue, HPE_INVALID_VERSION.rawValue: .requestLine
    case HPE_INVALID_URL.rawValue: .target
    case HPE_INVALID_CONTENT_LENGTH.rawValue, HPE_UNEXPECTED_CONTENT_LENGTH.rawValue: .contentLength
    case HPE_INVALID_TRANSFER_ENCODING.rawValue: .transferEncoding
    default: .syntax
    }
  }

  /// Reads the fields that determine framing and routing, in one pass.
  private func readFields(limits: HTTPLimits) throws(HTTPRefusal) {
    var hosts = 0
    var length: Int?
    var isChunked = false
    var isAuthorized = false
    for place in fields {
      switch place.name.count {
      case 4 where isName(place.name, "host"):
        hosts += 1
        try checkHost(place.value)
      case 6 where isName(place.name, "expect"):
        guard matchesIgnoringCase(place.value, "100-continue") else { throw .expectationUnknown }
        expectsContinue = minorVersion == 1
      case 13 where isName(place.name, "authorization"):
        // A proxy may have verified the other one.
        guard !isAuthorized else { throw .malformed(.authorization) }
        isAuthorized = true
      case 14 where isName(place.name, "content-length"):
        guard length == nil else { throw .malformed(.contentLength) }
        length = try contentLength(place.value)
      case 16 where isName(place.name, "content-encoding"):
        guard matchesIgnoringCase(place.value, "identity") else {
          throw .contentEncodingUnsupported
        }
      case 17 where isName(place.name, "transfer-encoding"):
        guard !isChunked, minorVersion == 1, matchesIgnoringCase(place.value, "chunked") else {
          throw .malformed(.transferEncoding)
        }
        isChunked = true
      default: break
      }
    }
    guard hosts == 1 || (hosts == 0 && minorVersion == 0) else { throw .malformed(.host) }
    try admitUpload(limits)
    if isChunked {
      guard length == nil else { throw .malformed(.lengthAndTransferEncoding) }
      framing = .chunked
    } else if let length {
      guard length <= maximumBodyBytes(limits) else { throw .bodyTooLarge }
      framing = .length(length)
    }
  }

  /// Refuses an upload without a credential before its body is read.
  private func admitUpload(_ limits: HTTPLimits) throws(HTTPRefusal) {
    guard let uploads = limits.uploads, method == .post,
      isPath(uploads.path) || hasForm && uploads.formPaths.contains(where: isPath)
    else { return }
    guard hasHeader("authorization") else { throw .unauthenticated }
    isUpload = true
  }

  /// Whether the body is `multipart/form-data`.
  package var hasForm: Bool {
    headerBytes("content-type")?.prefix { $0 != 0x3B }.elementsEqual("multipart/form-data".utf8) {
      // Types are without regard to case.
      ($0 &- 0x41 < 26 ? $0 | 0x20 : $0) == $1
    } ?? false
  }

  private func isPath(_ path: String) -> Bool { head[pathRange].elementsEqual(path.utf8) }

  func maximumBodyBytes(_ limits: HTTPLimits) -> Int {
    isUpload ? limits.uploads?.maximumBodyBytes ?? 0 : limits.maximumBodyBytes
  }

  private func contentLength(_ range: Range<Int>) throws(HTTPRefusal) -> Int {
    guard !range.isEmpty else { throw .malformed(.contentLength) }
    var length = 0
    for byte in head[range] {
      let digit = byte &- 0x30
      guard digit < 10 else { throw .malformed(.contentLength) }
      let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(Int(digit))
      // A number no machine can hold is still a number: too large, not malformed.
      guard !overflow, !carry else { throw .bodyTooLarge }
      length = sum
    }
    return length
  }

  private func checkName(_ range: Range<Int>) throws(HTTPRefusal) {
    guard !range.isEmpty else { throw .malformed(.headerName) }
    let head = head
    let bytes = head.span
    for index in range where !isTokenByte(bytes[index]) { throw .malformed(.headerName) }
  }

  /// Checks the characters of a host and port, not what they name.
  private func checkHost(_ range: Range<Int>) throws(HTTPRefusal) {
    let head = head
    let bytes = head.span
    for index in range {
      switch bytes[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "["),
        UInt8(ascii: "]"), UInt8(ascii: "%"):
        continue
      default: throw .malformed(.host)
      }
    }
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    let head = head
    let bytes = head.span
    var lower = range.lowerBound
    var upper = range.upperBound
    while lower < upper, bytes[lower] == 0x20 || bytes[lower] == 0x09 { lower += 1 }
    while upper > lower, bytes[upper - 1] == 0x20 || bytes[upper - 1] == 0x09 { upper -= 1 }
    return lower..<upper
  }

  /// Splits the target: origin form, absolute form or `*` (RFC 9112, 3.2).
  private func splitTarget(_ range: Range<Int>) throws(HTTPRefusal) {
    let head = head
    let bytes = head.span
    var start = range.lowerBound
    guard let first = range.first else { throw .malformed(.target) }
    if bytes[first] == UInt8(ascii: "*") {
      guard range.count == 1, method == .options else { throw .malformed(.target) }
    } else if bytes[first] != UInt8(ascii: "/") {
      // Absolute form: the path begins behind the authority.
      guard hasScheme(range) else { throw .malformed(.target) }
      var slashes = 0
      while start < range.upperBound {
        if bytes[start] == UInt8(ascii: "/") {
          slashes += 1
          if slashes == 3 { break }
        }
        if bytes[start] == UInt8(ascii: "?") { throw .malformed(.target) }
        start += 1
      }
      guard slashes == 3 else { throw .malformed(.target) }
    }
    pathRange = start..<range.upperBound
    queryRange = range.upperBound..<range.upperBound
    for index in start..<range.upperBound {
      if bytes[index] == UInt8(ascii: "#") { throw .malformed(.target) }
      if bytes[index] == UInt8(ascii: "?"), queryRange.isEmpty, pathRange.upperBound > index {
        pathRange = start..<index
        queryRange = index + 1..<range.upperBound
      }
    }
  }

  private func hasScheme(_ range: Range<Int>) -> Bool {
    let lower = range.lowerBound
    return (range.count > 7 && matchesIgnoringCase(lower..<lower + 7, "http://"))
      || (range.count > 8 && matchesIgnoringCase(lower..<lower + 8, "https://"))
  }
}

/// Returns whether the byte is a `tchar` of RFC 9110, 5.6.2.
func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "!"),
    UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
    UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "."),
    UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
    UInt8(ascii: "~"):
    true
  default: false
  }
}
