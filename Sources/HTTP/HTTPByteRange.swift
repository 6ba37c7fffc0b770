/// The bytes that a request asks for (RFC 9110, 14).
package enum HTTPByteRange: Sendable, Equatable {
  /// All bytes, also if the field asks for several ranges or is malformed: a server may always
  /// respond so.
  case whole
  case part(Range<Int>)
  case notSatisfiable

  /// - Parameters:
  ///   - field: the value of `Range`, if any.
  ///   - size: the size of the content in bytes.
  package init(_ field: String?, size: Int) {
    self = .whole
    guard let field, field.lowercased().hasPrefix("bytes=") else { return }
    let spec = field.dropFirst(6)
    let ends = spec.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else {
      return
    }
    switch (first, last) {
    case (nil, nil): return
    case (nil, let suffix?):
      self =
        suffix == 0 || size == 0 ? .notSatisfiable : .part(max(0, size - suffix)..<size)
    case (let start?, let end):
      if let end, end < start { return }
      guard start < size else {
        self = .notSatisfiable
        return
      }
      self = .part(start..<(end.map { min($0, size - 1) } ?? size - 1) + 1)
    }
  }

  /// Returns an inner nil for an empty text, and an outer nil for a text that is not a number. A
  /// number that is too large becomes the largest one.
  private static func number(_ text: Substring) -> Int?? {
    let digits = text.trimming()
    guard !digits.isEmpty else { return .some(nil) }
    guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return .some(Int(digits) ?? Int.max)
  }
}

extension Substring {
  fileprivate func trimming() -> Substring {
    var text = self
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
