/// Decodes a chunked body strictly (RFC 9112, 7.1): CR LF line ends, at most eight digits of size,
/// short extensions, no trailer that could change the meaning of the request.
///
/// It is a state machine that takes bytes as they arrive. llhttp's own decoder accepts sizes of any
/// number of digits and does not expose the bytes of a line.
struct HTTPChunkedBody {
  private enum State {
    case size
    case extensions
    case sizeLineFeed
    case data(left: Int)
    case dataReturn
    case dataLineFeed
    case trailerStart
    case trailerName
    case trailerValue
    case trailerLineFeed
    case lastLineFeed
    case done
  }

  private let maximumBytes: Int
  private var state = State.size
  private var size = 0
  private var sizeDigits = 0
  private var extensionBytes = 0
  private var trailerBytes = 0
  private var trailerName: [UInt8] = []

  /// - Parameter maximumBytes: the maximum size of the body.
  init(maximumBytes: Int = 0) { self.maximumBytes = maximumBytes }

  var isComplete: Bool {
    if case .done = state { true } else { false }
  }

  /// Decodes from `start`, appends to `body`, and returns the first offset not consumed.
  mutating func decode(
    _ input: [UInt8], from start: Int, into body: inout [UInt8], limits: HTTPLimits
  ) throws(HTTPRefusal) -> Int {
    var offset = start
    while offset < input.count {
      if case .data(let left) = state {
        let taken = min(left, input.count - offset)
        body.append(contentsOf: input[offset..<offset + taken])
        offset += taken
        state = taken == left ? .dataReturn : .data(left: left - taken)
        continue
      }
      try step(input[offset], bodyBytes: body.count, limits)
      offset += 1
      if isComplete { break }
    }
    return offset
  }

  private mutating func step(
    _ byte: UInt8, bodyBytes: Int, _ limits: HTTPLimits
  ) throws(HTTPRefusal) {
    switch state {
    case .size:
      if let digit = Self.hexadecimal(byte) {
        guard sizeDigits < 8 else { throw .malformed(.chunk) }
        sizeDigits += 1
        size = size << 4 | digit
      } else {
        guard sizeDigits > 0 else { throw .malformed(.chunk) }
        try endSize(byte)
      }
    case .extensions:
      if byte == 0x0D {
        state = .sizeLineFeed
      } else {
        extensionBytes += 1
        guard byte >= 0x20 || byte == 0x09, byte != 0x7F,
          extensionBytes <= limits.maximumChunkExtensionBytes
        else { throw .malformed(.chunk) }
      }
    case .sizeLineFeed:
      guard byte == 0x0A else { throw .malformed(.chunk) }
      guard size <= maximumBytes - bodyBytes else { throw .bodyTooLarge }
      state = size == 0 ? .trailerStart : .data(left: size)
    case .data, .done: break
    case .dataReturn:
      guard byte == 0x0D else { throw .malformed(.chunk) }
      state = .dataLineFeed
    case .dataLineFeed:
      guard byte == 0x0A else { throw .malformed(.chunk) }
      size = 0
      sizeDigits = 0
      state = .size
    case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed, .lastLineFeed:
      try stepTrailer(byte, limits)
    }
  }

  private mutating func endSize(_ byte: UInt8) throws(HTTPRefusal) {
    switch byte {
    case 0x0D: state = .sizeLineFeed
    case UInt8(ascii: ";"):
      extensionBytes += 1
      state = .extensions
    default: throw .malformed(.chunk)
    }
  }

  private mutating func stepTrailer(_ byte: UInt8, _ limits: HTTPLimits) throws(HTTPRefusal) {
    trailerBytes += 1
    guard trailerBytes <= limits.maximumTrailerBytes else { throw .headersTooLarge }
    switch state {
    case .trailerStart where byte == 0x0D: state = .lastLineFeed
    case .trailerStart, .trailerName:
      if byte == UInt8(ascii: ":") {
        guard !trailerName.isEmpty, !Self.isForbidden(trailerName) else {
          throw .malformed(.trailer)
        }
        trailerName.removeAll(keepingCapacity: true)
        state = .trailerValue
      } else {
        guard isTokenByte(byte) else { throw .malformed(.trailer) }
        trailerName.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
        state = .trailerName
      }
    case .trailerValue:
      if byte == 0x0D {
        state = .trailerLineFeed
      } else {
        guard byte >= 0x20 || byte == 0x09, byte != 0x7F else { throw .malformed(.trailer) }
      }
    case .trailerLineFeed:
      guard byte == 0x0A else { throw .malformed(.trailer) }
      state = .trailerStart
    case .lastLineFeed:
      guard byte == 0x0A else { throw .malformed(.trailer) }
      state = .done
    default: break
    }
  }

  /// Returns whether a field may not be in a trailer, because it frames, routes, authorizes or
  /// describes content (RFC 9110, 6.5.1).
  private static func isForbidden(_ name: [UInt8]) -> Bool {
    switch String(decoding: name, as: UTF8.self) {
    case "transfer-encoding", "content-length", "host", "connection", "trailer", "te", "upgrade",
      "expect", "authorization", "proxy-authorization", "cookie", "set-cookie",
      "content-encoding", "content-type", "content-range", "cache-control", "origin", "range",
      "max-forwards", "idempotency-key":
      true
    default: false
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
  }
}
