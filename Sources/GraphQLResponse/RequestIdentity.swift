/// The identity of a request from the moment its head was read. It is in the response's
/// `X-Request-Id`, in `extensions.requestId` of errors, in every log line about the request, and in
/// its trace.
package struct RequestIdentity: Sendable, Hashable {
  /// The ID that a trusted proxy gave; nil to use the trace's ID.
  private let given: String?
  package let trace: TraceContext

  /// Creates an identity.
  ///
  /// - Parameter id: an ID that satisfies `isValid(id:)`; nil to use the trace's ID.
  package init(id: String? = nil, trace: TraceContext) {
    given = id
    self.trace = trace
  }

  /// Returns a random identity, for code that has no generator.
  package static func random() -> RequestIdentity {
    var generator = SystemRandomNumberGenerator()
    return RequestIdentity(trace: TraceContext(id: .random(using: &generator)))
  }

  /// The ID: 1 to 128 of `A-Z a-z 0-9 - _ . ~ + / = : @`, which are safe in a header, in JSON and
  /// in a log line.
  package var id: String { given ?? trace.id.description }

  /// Returns whether an ID from outside may be used.
  package static func isValid(id: some Collection<UInt8>) -> Bool {
    (1...128).contains(id.count)
      && id.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"),
          UInt8(ascii: "="), UInt8(ascii: "@"):
          true
        default: false
        }
      }
  }
}

/// The position of a request in a distributed trace. W3C Trace Context, 3.2 Traceparent Header.
package struct TraceContext: Sendable, Hashable {
  package let id: TraceID
  /// The span of the caller; nil if the trace starts here.
  package let parentSpan: SpanID?
  /// Whether the caller records the trace; nil if the trace starts here.
  package let isSampled: Bool?

  /// Creates a trace that starts here.
  package init(id: TraceID) {
    self.id = id
    parentSpan = nil
    isSampled = nil
  }

  /// Parses `00-<32 digits>-<16 digits>-<2 digits>`, or a later version that appends fields; nil
  /// for any other text.
  package init?(traceparent text: some StringProtocol) {
    let parts = text.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
    guard text.utf8.count <= 512, parts.count >= 4,
      let version = Self.hexadecimal(parts[0], digits: 2), version != 0xFF,
      version > 0 || parts.count == 4,
      parts[1].utf8.count == 32,
      let high = Self.hexadecimal(parts[1].prefix(16), digits: 16),
      let low = Self.hexadecimal(parts[1].suffix(16), digits: 16), high | low != 0,
      let span = Self.hexadecimal(parts[2], digits: 16), span != 0,
      let flags = Self.hexadecimal(parts[3], digits: 2)
    else { return nil }
    id = TraceID(high: high, low: low)
    parentSpan = SpanID(span)
    isSampled = flags & 1 != 0
  }

  /// Returns the value of hexadecimal digits, which are lower case only, as the recommendation
  /// requires.
  private static func hexadecimal(_ text: some StringProtocol, digits: Int) -> UInt64? {
    var value: UInt64 = 0
    guard text.utf8.count == digits else { return nil }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value << 4 | UInt64(byte &- UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        value = value << 4 | UInt64(byte &- UInt8(ascii: "a") &+ 10)
      default: return nil
      }
    }
    return value
  }
}

/// The ID of a trace, never zero.
package struct TraceID: Sendable, Hashable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  /// Creates an ID from its halves, of which at least one is not zero.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package static func random(using generator: inout some RandomNumberGenerator) -> TraceID {
    TraceID(high: .random(in: 1 ... .max, using: &generator), low: generator.next())
  }

  /// The ID as 32 hexadecimal digits.
  package var description: String {
    unsafe String(unsafeUninitializedCapacity: 32) { text in
      unsafe Hexadecimal.write(high, to: text, at: 0)
      unsafe Hexadecimal.write(low, to: text, at: 16)
      return 32
    }
  }
}

/// The ID of a span, never zero.
package struct SpanID: Sendable, Hashable, CustomStringConvertible {
  package let value: UInt64

  /// Creates an ID.
  ///
  /// - Parameter value: a number that is not zero.
  package init(_ value: UInt64) { self.value = value }

  /// The ID as 16 hexadecimal digits.
  package var description: String {
    unsafe String(unsafeUninitializedCapacity: 16) { text in
      unsafe Hexadecimal.write(value, to: text, at: 0)
      return 16
    }
  }
}

private enum Hexadecimal {
  static func write(
    _ value: UInt64, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int
  ) {
    for place in 0..<16 {
      let digit = UInt8(truncatingIfNeeded: value >> (60 - 4 * UInt64(place))) & 15
      unsafe text[start + place] =
        digit < 10 ? UInt8(ascii: "0") &+ digit : UInt8(ascii: "a") &+ digit &- 10
    }
  }
}
