/// Who a request is, from the moment its head was read: named in the answer's `X-Request-Id`, in
/// `extensions.requestId` of its errors, in every line of the log about it and in its trace.
package struct RequestIdentity: Sendable, Hashable {
  /// The name a trusted proxy gave it; nil for one that has the trace's.
  private let given: String?
  package let trace: TraceContext

  /// - Parameter id: `isValid(id:)` holds for it; nil to be named like the trace.
  package init(id: String? = nil, trace: TraceContext) {
    given = id
    self.trace = trace
  }

  /// One that nobody has named, where no maker of them is at hand.
  package static func random() -> RequestIdentity {
    var generator = SystemRandomNumberGenerator()
    return RequestIdentity(trace: TraceContext(id: .random(using: &generator)))
  }

  /// 1 to 128 of `A-Z a-z 0-9 - _ . ~ + / = : @`: safe in a header, in JSON and in a line of the log.
  package var id: String { given ?? trace.id.description }

  /// Whether a name may be taken from outside.
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

/// Where a request stands in a distributed trace. W3C Trace Context, 3.2 Traceparent Header.
package struct TraceContext: Sendable, Hashable {
  package let id: TraceID
  /// The span of the caller; nil when the trace begins here.
  package let parentSpan: SpanID?
  /// Whether the caller records the trace; nil when the trace begins here.
  package let isSampled: Bool?

  /// A trace that begins here.
  package init(id: TraceID) {
    self.id = id
    parentSpan = nil
    isSampled = nil
  }

  /// From `00-<32 digits>-<16 digits>-<2 digits>`, or what a later version may add behind; nil when
  /// it is anything else.
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

  /// Lower case only, as the recommendation has it.
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

/// Never zero.
package struct TraceID: Sendable, Hashable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  /// - Parameters: not both zero.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  package static func random(using generator: inout some RandomNumberGenerator) -> TraceID {
    TraceID(high: .random(in: 1 ... .max, using: &generator), low: generator.next())
  }

  /// 32 digits.
  package var description: String {
    unsafe String(unsafeUninitializedCapacity: 32) { text in
      unsafe Hexadecimal.write(high, to: text, at: 0)
      unsafe Hexadecimal.write(low, to: text, at: 16)
      return 32
    }
  }
}

/// Never zero.
package struct SpanID: Sendable, Hashable, CustomStringConvertible {
  package let value: UInt64

  /// - Parameter value: not zero.
  package init(_ value: UInt64) { self.value = value }

  /// 16 digits.
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
