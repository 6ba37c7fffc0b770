/// Numbers in the notation of the reference implementation.
package enum LiteralText {
  /// A number as JavaScript writes it: `1`, `0.5`, `1e+21`.
  package static func number(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity" }
    guard value != 0 else { return "0" }
    let sign = value < 0 ? "-" : ""
    // Swift gives the same shortest digits, in another layout: take digits and exponent apart.
    let parts = "\(value.magnitude)".split(separator: "e")
    guard let mantissa = parts.first else { return "0" }
    let pieces = mantissa.split(separator: ".", omittingEmptySubsequences: false)
    let whole = pieces.first.map(String.init) ?? ""
    let fraction = pieces.count > 1 ? String(pieces[1]) : ""
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    var digits = whole + fraction
    var point = whole.utf8.count + exponent
    while digits.hasPrefix("0") {
      digits.removeFirst()
      point -= 1
    }
    while digits.hasSuffix("0") { digits.removeLast() }
    let count = digits.utf8.count
    func zeros(_ count: Int) -> String { String(repeating: "0", count: max(0, count)) }
    if point >= count, point <= 21 { return sign + digits + zeros(point - count) }
    if point > 0, point <= 21 { return "\(sign)\(digits.prefix(point)).\(digits.dropFirst(point))" }
    if point <= 0, point > -6 { return "\(sign)0.\(zeros(-point))\(digits)" }
    let rest = digits.dropFirst()
    let power = point - 1
    return
      "\(sign)\(digits.prefix(1))\(rest.isEmpty ? "" : ".\(rest)")e\(power < 0 ? "-" : "+")\(abs(power))"
  }
}
