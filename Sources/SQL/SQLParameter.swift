/// One mention of a parameter in a statement: `$1`, with the cast behind it if there is one.
package struct SQLParameter: Sendable, Hashable {
  /// From 1.
  package let number: Int
  /// Where `$n` stands, in bytes.
  package let range: Range<Int>
  /// `bigint[]` of `$1::bigint[]`.
  package let cast: String?

  /// Every mention outside of string literals, in order.
  package static func mentions(in text: String) -> [SQLParameter] {
    let bytes = Array(text.utf8)
    var mentions: [SQLParameter] = []
    var isLiteral = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let start = index
      index += 1
      if byte == UInt8(ascii: "'") { isLiteral.toggle() }
      guard byte == UInt8(ascii: "$"), !isLiteral else { continue }
      var number = 0
      while index < bytes.count, isDigit(bytes[index]), number < 1_000_000 {
        number = number * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        index += 1
      }
      guard number > 0 else { continue }
      mentions.append(
        SQLParameter(number: number, range: start..<index, cast: cast(at: index, of: bytes)))
    }
    return mentions
  }

  private static func cast(at index: Int, of bytes: [UInt8]) -> String? {
    guard bytes[index...].starts(with: "::".utf8) else { return nil }
    var name = bytes[(index + 2)...].prefix {
      isDigit($0) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z"))
        || $0 == UInt8(ascii: "_")
    }
    if bytes[name.endIndex...].starts(with: "[]".utf8) { name += "[]".utf8 }
    return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}
