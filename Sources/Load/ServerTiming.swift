/// Reads `Server-Timing` (W3C): `total;dur=3.412, parse;dur=0`.
struct ServerTiming {
  /// The milliseconds of `total`.
  private(set) var total: Double?
  private(set) var parts: [(name: ArraySlice<UInt8>, milliseconds: Double)] = []

  init(_ value: ArraySlice<UInt8>) {
    for entry in value.split(separator: UInt8(ascii: ",")) {
      let fields = entry.split(separator: UInt8(ascii: ";"))
      guard let first = fields.first else { continue }
      let name = Self.trimmed(first)
      for field in fields.dropFirst() {
        let field = Self.trimmed(field)
        guard field.starts(with: "dur=".utf8), let number = Self.decimal(field.dropFirst(4)) else {
          continue
        }
        if name.elementsEqual("total".utf8) {
          total = number
        } else {
          parts.append((name, number))
        }
      }
    }
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    return text
  }

  /// Reads digits with at most one point: what a server writes; nil for anything else.
  private static func decimal(_ text: ArraySlice<UInt8>) -> Double? {
    var number = 0.0
    var scale = 0.0
    var digits = 0
    for byte in text {
      if byte == UInt8(ascii: "."), scale == 0 {
        scale = 1
        continue
      }
      guard byte >= 0x30, byte <= 0x39, digits < 18 else {
        return Double(String(decoding: text, as: UTF8.self))
      }
      number = number * 10 + Double(byte - 0x30)
      scale *= 10
      digits += 1
    }
    guard digits > 0 else { return nil }
    return scale > 1 ? number / scale : number
  }
}
