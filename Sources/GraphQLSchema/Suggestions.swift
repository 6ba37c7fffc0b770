/// "Did you mean": the known names near a name nobody knows.
///
/// Distance counts edits (insertion, deletion, substitution, transposition of neighbours) with a
/// difference in case alone counting one; names further away than about two fifths of the input are
/// no help. Work is bounded: past `budget` compared characters there are no more suggestions, so a
/// text of thousands of wrong names costs little more than one.
package struct Suggestions: Sendable {
  /// What a whole check may spend, in compared characters.
  package static let defaultBudget = 400_000

  private var budget: Int

  package init(enabled: Bool = true, budget: Int = defaultBudget) {
    self.budget = enabled ? budget : 0
  }

  /// ` Did you mean "a", "b", or "c"?`, with a leading space; empty when nothing is near.
  package mutating func didYouMean(
    _ input: String, among options: some Sequence<String>, subject: String? = nil
  ) -> String {
    guard budget > 0 else { return "" }
    return Self.phrase(near(input, among: options), subject: subject)
  }

  /// The options near the input, nearest first, in natural order where equally near.
  package mutating func near(_ input: String, among options: some Sequence<String>) -> [String] {
    guard budget > 0 else { return [] }
    var distance = LexicalDistance(input)
    let threshold = distance.input.count * 2 / 5 + 1
    var found: [String: Int] = [:]
    for option in options where budget > 0 {
      budget -= 8
      guard abs(option.utf8.count - distance.byteCount) <= threshold + distance.slack(of: option)
      else { continue }
      budget -= option.utf8.count * 2 + distance.input.count
      if let measured = distance.measure(option, threshold: threshold, budget: &budget) {
        found[option] = measured
      }
    }
    return found.sorted {
      $0.value != $1.value ? $0.value < $1.value : naturalOrder($0.key, $1.key) < 0
    }.map(\.key)
  }

  /// At most five names in the words of the reference implementation.
  package static func phrase(_ names: [String], subject: String? = nil) -> String {
    let quoted = names.prefix(5).map { "\"\($0)\"" }
    guard let last = quoted.last else { return "" }
    let lead = subject.map { " Did you mean \($0) " } ?? " Did you mean "
    switch quoted.count {
    case 1: return "\(lead)\(last)?"
    case 2: return "\(lead)\(quoted[0]) or \(last)?"
    default: return "\(lead)\(quoted.dropLast().joined(separator: ", ")), or \(last)?"
    }
  }
}

/// Optimal string alignment over UTF-16 code units, giving up early.
private struct LexicalDistance {
  let text: String
  let byteCount: Int
  let lowercase: String
  let input: [UInt16]
  private var rows: [[Int]]

  init(_ text: String) {
    self.text = text
    byteCount = text.utf8.count
    lowercase = text.lowercased()
    input = Array(lowercase.utf16)
    rows = Array(repeating: Array(repeating: 0, count: input.count + 1), count: 3)
  }

  /// How much byte counts may differ beyond the difference in code units: nothing in ASCII.
  func slack(of option: String) -> Int {
    byteCount == input.count && option.utf8.count == option.utf16.count
      ? 0 : byteCount + option.utf8.count
  }

  mutating func measure(_ option: String, threshold: Int, budget: inout Int) -> Int? {
    if option == text { return 0 }
    let lowercaseOption = option.lowercased()
    if lowercaseOption == lowercase { return 1 }
    var long = Array(lowercaseOption.utf16)
    var short = input
    if long.count < short.count { swap(&long, &short) }
    guard long.count - short.count <= threshold else { return nil }
    for index in 0...short.count { rows[0][index] = index }
    for i in stride(from: 1, through: long.count, by: 1) {
      budget -= short.count
      let above = (i - 1) % 3
      let current = i % 3
      rows[current][0] = i
      var smallest = i
      for j in stride(from: 1, through: short.count, by: 1) {
        let cost = long[i - 1] == short[j - 1] ? 0 : 1
        var cell = min(rows[above][j] + 1, rows[current][j - 1] + 1, rows[above][j - 1] + cost)
        if i > 1, j > 1, long[i - 1] == short[j - 2], long[i - 2] == short[j - 1] {
          cell = min(cell, rows[(i - 2) % 3][j - 2] + 1)
        }
        smallest = min(smallest, cell)
        rows[current][j] = cell
      }
      if smallest > threshold { return nil }
    }
    let distance = rows[long.count % 3][short.count]
    return distance <= threshold ? distance : nil
  }
}

/// Below, at or above zero: runs of digits compare as numbers, the rest by UTF-16 code unit.
package func naturalOrder(_ left: String, _ right: String) -> Int {
  let a = Array(left.utf16)
  let b = Array(right.utf16)
  func isDigit(_ unit: UInt16) -> Bool { unit >= 0x30 && unit <= 0x39 }
  func number(_ units: [UInt16], _ index: inout Int) -> Double {
    var value = 0.0
    repeat {
      value = value * 10 + Double(units[index] - 0x30)
      index += 1
    } while index < units.count && isDigit(units[index]) && value > 0
    return value
  }
  var i = 0
  var j = 0
  while i < a.count, j < b.count {
    if isDigit(a[i]), isDigit(b[j]) {
      let first = number(a, &i)
      let second = number(b, &j)
      if first != second { return first < second ? -1 : 1 }
    } else {
      if a[i] != b[j] { return a[i] < b[j] ? -1 : 1 }
      i += 1
      j += 1
    }
  }
  return a.count - b.count
}
