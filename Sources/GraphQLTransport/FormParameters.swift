/// The format `application/x-www-form-urlencoded`, as a URL's query uses it.
enum FormParameters {
  /// Returns names and values in order, decoded. Invalid escapes and invalid UTF-8 are refused.
  static func parse(
    _ query: ArraySlice<UInt8>
  ) throws(TransportError) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    for pair in query.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try decode(parts[0])
      let value = parts.count > 1 ? try decode(parts[1]) : ""
      parameters.append((name, value))
    }
    return parameters
  }

  private static func decode(_ bytes: ArraySlice<UInt8>) throws(TransportError) -> String {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "+"): decoded.append(0x20)
      case UInt8(ascii: "%"):
        guard bytes.endIndex - index > 2, let high = digit(bytes[index + 1]),
          let low = digit(bytes[index + 2])
        else { throw .urlEncoding }
        decoded.append(high << 4 | low)
        index += 2
      case let byte: decoded.append(byte)
      }
      index += 1
    }
    guard let text = String(validating: decoded, as: UTF8.self) else { throw .urlEncoding }
    return text
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
