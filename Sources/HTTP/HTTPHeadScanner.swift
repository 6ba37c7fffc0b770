/// Finds the end of a request head, and refuses every byte that two parsers could interpret
/// differently: control characters, bare CR and LF, folded lines (RFC 9112, 2.2 and 5.2).
///
/// It keeps its position between reads, so each byte is read once.
struct HTTPHeadScanner {
  private var offset = 0
  private var lineStart = 0
  private var requestLineEnd: Int?

  /// Returns the end of the head, after its empty line; nil if it is not complete yet.
  ///
  /// - Parameters:
  ///   - bytes: everything received of this head so far, from its first byte.
  mutating func scan(
    _ bytes: Span<UInt8>, limits: HTTPLimits
  ) throws(HTTPRefusal) -> Int? {
    let count = bytes.count
    while offset < count {
      let byte = bytes[offset]
      if byte >= 0x20, byte != 0x7F {
        // A line that begins with a space continues the one before it.
        if byte == 0x20, offset == lineStart {
          throw .malformed(requestLineEnd == nil ? .requestLine : .foldedHeader)
        }
        if byte >= 0x80, requestLineEnd == nil { throw .malformed(.requestLine) }
        offset += 1
        continue
      }
      switch byte {
      case 0x0D:
        guard offset + 1 < count else { return try incomplete(count, limits) }
        guard bytes[offset + 1] == 0x0A else { throw .malformed(.bareLineEnd) }
        let lineEnd = offset
        offset += 2
        if lineEnd == lineStart {
          guard requestLineEnd != nil else { throw .malformed(.requestLine) }
          try checkSize(offset, limits)
          return offset
        }
        if requestLineEnd == nil {
          try checkRequestLine(bytes, end: lineEnd, limits)
          requestLineEnd = lineEnd
        }
        lineStart = offset
      case 0x09:
        if requestLineEnd == nil { throw .malformed(.requestLine) }
        if offset == lineStart { throw .malformed(.foldedHeader) }
        offset += 1
      case 0x0A:
        throw .malformed(.bareLineEnd)
      default:
        throw .malformed(.controlCharacter)
      }
    }
    return try incomplete(count, limits)
  }

  private func incomplete(_ count: Int, _ limits: HTTPLimits) throws(HTTPRefusal) -> Int? {
    if requestLineEnd == nil {
      if count > limits.maximumRequestLineBytes { throw .requestLineTooLong }
    } else {
      try checkSize(count, limits)
    }
    return nil
  }

  private func checkSize(_ end: Int, _ limits: HTTPLimits) throws(HTTPRefusal) {
    if end - (requestLineEnd ?? 0) > limits.maximumHeaderBytes { throw .headersTooLarge }
  }

  /// Checks `METHOD SP target SP HTTP/1.x`, as far as it must be known before the head is complete:
  /// HTTP/0.9 sends nothing after its first line, so waiting for more would not end.
  private func checkRequestLine(
    _ bytes: Span<UInt8>, end: Int, _ limits: HTTPLimits
  ) throws(HTTPRefusal) {
    if end > limits.maximumRequestLineBytes { throw .requestLineTooLong }
    let version: StaticString = " HTTP/"
    let start = end - 9
    guard start > 0 else { throw .malformed(.requestLine) }
    let isVersion = version.withUTF8Buffer { wanted in
      for index in 0..<6 where unsafe bytes[start + index] != wanted[index] { return false }
      return true
    }
    let major = bytes[end - 3]
    let minor = bytes[end - 1]
    guard isVersion, bytes[end - 2] == UInt8(ascii: "."), major &- 0x30 < 10, minor &- 0x30 < 10
    else { throw .malformed(.requestLine) }
    // Exactly two spaces: more would let two parsers disagree on where the target begins.
    var spaces = 0
    for index in 0..<end where bytes[index] == 0x20 { spaces += 1 }
    guard spaces == 2 else { throw .malformed(.requestLine) }
    guard major == UInt8(ascii: "1") else { throw .versionUnsupported }
    guard minor <= UInt8(ascii: "1") else { throw .versionUnsupported }
  }
}
