/// Formats `SeedEvent`s: on a terminal as one line that is redrawn, elsewhere as one line per step.
package struct SeedProgress {
  private let isTerminal: Bool
  private var label = ""
  private var step = (number: 0, of: 0)
  private var isLineOpen = false

  package init(isTerminal: Bool) {
    self.isTerminal = isTerminal
  }

  /// Returns the text to write, including line ends; empty for nothing.
  package mutating func text(for event: SeedEvent) -> String {
    switch event {
    case .startingOver:
      return "removing the rows of an interrupted loading\n"
    case .began(let label, let number, let count):
      self.label = label
      step = (number, count)
      guard isTerminal else { return "" }
      if isLineOpen { return "" }
      isLineOpen = true
      return "\r\u{1b}[K[\(number)/\(count)] \(label)"
    case .progressed(let rows, _, let expected, let elapsed):
      guard isTerminal else { return "" }
      isLineOpen = true
      return "\r\u{1b}[K" + bar(rows: rows, expected: expected, elapsed: elapsed)
    case .finished(let label, let rows, let took):
      guard !isTerminal else { return "" }
      let count = rows > 0 ? ": \(Self.grouped(rows)) rows" : ""
      return "[\(step.number)/\(step.of)] \(label)\(count) in \(Self.seconds(took))\n"
    case .done(let rows, let took):
      let rate = Self.rate(rows, took)
      isLineOpen = false
      return (isTerminal ? "\r\u{1b}[K" : "")
        + "loaded \(Self.grouped(rows)) rows in \(Self.seconds(took)), \(rate)\n"
    }
  }

  /// Returns `[########------------]  41 %  1,240,000 rows  310,000/s  6 s left  follows`.
  private func bar(rows: Int, expected: Int, elapsed: Duration) -> String {
    let whole = max(expected, rows, 1)
    let percent = min(100, Int(Double(rows) / Double(whole) * 100))
    let width = 24
    let full = min(width, percent * width / 100)
    let time = Self.secondsValue(elapsed)
    var left = ""
    if rows > 0, time > 0.5 {
      let rest = time / Double(rows) * Double(whole - rows)
      left = "  \(Int(rest.rounded(.up))) s left"
    }
    let number = String(percent)
    return "[" + String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
      + "] " + String(repeating: " ", count: 3 - number.count) + "\(number) %  "
      + "\(Self.grouped(rows)) rows  \(Self.rate(rows, elapsed))\(left)  \(label)"
  }

  static func grouped(_ number: Int) -> String {
    var result = ""
    let digits = String(number)
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0, digits[digits.startIndex] != "-" || index > 1 {
        result.append(",")
      }
      result.append(digit)
    }
    return result
  }

  private static func secondsValue(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  private static func seconds(_ duration: Duration) -> String {
    let tenths = Int((secondsValue(duration) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) s"
  }

  private static func rate(_ rows: Int, _ duration: Duration) -> String {
    grouped(Int(Double(rows) / max(secondsValue(duration), 0.001))) + "/s"
  }
}
