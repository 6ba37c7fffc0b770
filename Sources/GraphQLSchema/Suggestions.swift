/// The known names that are near an unknown name: "Did you mean".
///
/// The distance counts edits (insertion, deletion, substitution, transposition of neighbors); a
/// difference in case alone counts one. Names further away than about two fifths of the input are
/// not suggested. The work is bounded: after `budget` compared characters there are no more
/// suggestions, so a text with thousands of wrong names costs little more than one.
package struct Suggestions: Sendable {
  /// The budget of a whole check, in compared characters.
  package static let defaultBudget = 1_500_000

  private static let longestInput = 1_000
  private static let maximumCount = 5

  private var budget: Int

  package init(enabled: Bool = true, budget: Int = defaultBudget) {
    self.budget = enabled ? budget : 0
  }

  /// Whether the budget is used up, so that callers need not list options.
  package var isExhausted: Bool { budget <= 0 }

  /// Returns ` Did you mean "a", "b", or "c"?`, with a leading space; empty if no option is near.
  package mutating func didYouMean(
    _ input: String, among options: some Sequence<String>, subject: String? = nil
  ) -> String {
    guard budget > 0 else { return "" }
    return Self.phrase(near(input, among: options), subject: subject)
  }

  /// Returns the five options nearest to the input, in natural order if equally near.
  package mutating func near(_ input: String, among options: some Sequence<String>) -> [String] {
    // A very long name is not a typing mistake.
    guard budget > 0, input.utf8.count <= Self.longestInput else { return [] }
    let input = Candidate(input)
    var threshold = input.units.count * 2 / 5 + 1
    var rows: [Int] = []
    var found: [(name: String, distance: Int)] = []
    for option in options where budget > 0 {
      budget -= 2
      // Names are ASCII: a code unit is a byte.
      guard abs(option.utf8.count - input.units.count) <= threshold else { continue }
      let option = Candidate(option)
      budget -= option.units.count
      guard let distance = input.distance(to: option, threshold, &rows, &budget),
        !found.contains(where: { $0.name == option.text })
      else { continue }
      let place = found.firstIndex {
        distance != $0.distance
          ? distance < $0.distance : naturalOrder(option.text, $0.name) < 0
      }
      found.insert((option.text, distance), at: place ?? found.count)
      if found.count > Self.maximumCount { found.removeLast() }
      if found.count == Self.maximumCount { threshold = found[Self.maximumCount - 1].distance }
    }
    return found.map(\.name)
  }

  /// Returns a phrase with at most five names, in the words of the reference implementation.
  package static func phrase(_ names: [String], subject: String? = nil) -> String {
    let quoted = names.prefix(Self.maximumCount).map { "\"\($0)\"" }
    guard let last = quoted.last else { return "" }
    let lead = subject.map { " Did you mean \($0) " } ?? " Did you mean "
    switch quoted.count {
    case 1: return "\(lead)\(last)?"
    case 2: return "\(lead)\(quoted[0]) or \(last)?"
    default: return "\(lead)\(quoted.dropLast().joined(separator: ", ")), or \(last)?"
    }
  }
}

/// A name and its lower case in UTF-16 code units.
private struct Candidate {
  let text: String
  let units: [UInt16]

  init(_ text: String) {
    self.text = text
    var units: [UInt16] = []
    units.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      guard byte < 0x80 else {
        self.units = Array(text.lowercased().utf16)
        return
      }
      units.append(UInt16(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte))
    }
    self.units = units
  }

  /// Returns the optimal string alignment distance; nil, computed early, if it exceeds the
  /// threshold.
  ///
  /// - Parameter rows: space for three rows of the matrix, one after the other.
  func distance(
    to option: Candidate, _ threshold: Int, _ rows: inout [Int], _ budget: inout Int
  ) -> Int? {
    if option.text == text { return 0 }
    if option.units == units { return 1 }
    var (long, short) = (option.units, units)
    if long.count < short.count { swap(&long, &short) }
    guard long.count - short.count <= threshold, long.count * short.count <= budget else {
      return nil
    }
    let width = short.count + 1
    if rows.count < 3 * width {
      rows.append(contentsOf: repeatElement(0, count: 3 * width - rows.count))
    }
    for index in 0...short.count { rows[index] = index }
    for i in stride(from: 1, through: long.count, by: 1) {
      budget -= short.count
      let above = (i - 1) % 3 * width
      let beforeThat = (i + 1) % 3 * width
      let current = i % 3 * width
      rows[current] = i
      var smallest = i
      for j in stride(from: 1, through: short.count, by: 1) {
        let cost = long[i - 1] == short[j - 1] ? 0 : 1
        var cell = min(rows[above + j] + 1, rows[current + j - 1] + 1, rows[above + j - 1] + cost)
        if i > 1, j > 1, long[i - 1] == short[j - 2], long[i - 2] == short[j - 1] {
          cell = min(cell, rows[beforeThat + j - 2] + 1)
        }
        smallest = min(smallest, cell)
        rows[current + j] = cell
      }
      if smallest > threshold { return nil }
    }
    let distance = rows[long.count % 3 * width + short.count]
    return distance <= threshold ? distance : nil
  }
}

/// Compares runs of digits as numbers, and the rest by UTF-16 code unit; returns a negative number,
/// zero, or a positive number.
package func naturalOrder(_ left: String, _ right: String) -> Int {
  naturalOrder(left.utf16, right.utf16)
}

private func naturalOrder(_ a: String.UTF16View, _ b: String.UTF16View) -> Int {
  func isDigit(_ unit: UInt16) -> Bool { unit >= 0x30 && unit <= 0x39 }
  func number(_ units: String.UTF16View, _ index: inout String.Index) -> Double {
    var value = 0.0
    repeat {
      value = value * 10 + Double(units[index] - 0x30)
      index = units.index(after: index)
    } while index < units.endIndex && isDigit(units[index]) && value > 0
    return value
  }
  var i = a.startIndex
  var j = b.startIndex
  while i < a.endIndex, j < b.endIndex {
    if isDigit(a[i]), isDigit(b[j]) {
      let first = number(a, &i)
      let second = number(b, &j)
      if first != second { return first < second ? -1 : 1 }
    } else {
      if a[i] != b[j] { return a[i] < b[j] ? -1 : 1 }
      i = a.index(after: i)
      j = b.index(after: j)
    }
  }
  return a.count - b.count
}
