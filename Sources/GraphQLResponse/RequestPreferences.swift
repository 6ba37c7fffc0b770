/// The languages and the application that a request names, as the graph reads them: `:locale` and
/// `:app`.
package struct RequestPreferences: Sendable, Hashable {
  /// The language tags, best first, separated by spaces: `de-CH de fr`. Empty for no preference.
  package let locale: String
  /// The name of the application in lower case. Empty if the request names none.
  package let app: String

  private static let maximumLanguages = 10
  private static let maximumBytes = 1024

  package init() {
    locale = ""
    app = ""
  }

  /// Creates the preferences of a request from its headers. A malformed header counts as absent.
  ///
  /// - Parameters:
  ///   - acceptLanguage: `Accept-Language`, RFC 9110, 12.5.4: language ranges with weights.
  ///   - app: `Sociograph-App`: 1 to 50 of `a-z 0-9 - _ .`, regardless of case.
  package init(acceptLanguage: String?, app: String?) {
    locale = Self.languages(acceptLanguage ?? "").joined(separator: " ")
    let name = app?.lowercased() ?? ""
    self.app = (1...50).contains(name.utf8.count) && name.utf8.allSatisfy(Self.isOfName) ? name : ""
  }

  /// Returns the language tags of a header in the order of their weights. The range `*` and those
  /// with the weight 0 are left out.
  private static func languages(_ header: String) -> [Substring] {
    guard header.utf8.count <= maximumBytes else { return [] }
    var found: [(tag: Substring, weight: Int)] = []
    for part in header.split(separator: ",") {
      let pieces = part.split(separator: ";", maxSplits: 1)
      guard let first = pieces.first else { continue }
      let tag = first.trimmingSpaces
      guard isTag(tag), let weight = pieces.count == 1 ? 1000 : weight(pieces[1].trimmingSpaces),
        weight > 0
      else { continue }
      found.append((tag, weight))
    }
    // The sort is stable: of equal weights the first in the header is best.
    return found.sorted { $0.weight > $1.weight }.prefix(maximumLanguages).map(\.tag)
  }

  /// Returns the thousandfold of a weight: `q=0.8`, with up to three digits.
  private static func weight(_ text: Substring) -> Int? {
    guard text.lowercased().hasPrefix("q=") else { return nil }
    let parts = text.dropFirst(2).split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, whole == "0" || whole == "1" else { return nil }
    let digits = parts.count == 2 ? parts[1] : ""
    guard digits.utf8.count <= 3, digits.utf8.allSatisfy(isDigit),
      let fraction = Int((digits + "000").prefix(3))
    else { return nil }
    let weight = whole == "1" ? 1000 : fraction
    return whole == "1" && fraction > 0 ? nil : weight
  }

  /// Returns whether a text is a language tag: parts of 1 to 8 letters or digits.
  private static func isTag(_ text: Substring) -> Bool {
    guard text.utf8.count <= 35, text.utf8.first.map(isLetter) == true else { return false }
    return text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
      (1...8).contains(part.utf8.count)
        && part.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || isDigit(byte)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }
}

extension Substring {
  /// The text without spaces and tabs at its ends.
  fileprivate var trimmingSpaces: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}
