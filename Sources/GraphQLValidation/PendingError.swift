import GraphQLLanguage

/// A finding whose places are still byte offsets, and whose turn in the report is already fixed.
///
/// Rules that need the whole document take their turn while the walk passes and report later.
struct PendingError {
  let turn: Int
  let message: String
  let positions: [Position]
  let rule: ValidationRule
  /// Of a limit; findings of a rule have one code in common.
  var code: String?
}

extension Source {
  /// The places of many positions in one pass over the text, however many there are.
  func locations(of positions: [Position]) -> [Position: SourceLocation] {
    var wanted = Set(positions).sorted { $0.offset < $1.offset }[...]
    var found: [Position: SourceLocation] = [:]
    found.reserveCapacity(wanted.count)
    var line = 1
    var column = 1
    var index = 0
    while let next = wanted.first {
      let end = min(Int(next.offset), bytes.count)
      while index < end {
        let byte = bytes[index]
        index += 1
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
          if byte == UInt8(ascii: "\r"), index < end, bytes[index] == UInt8(ascii: "\n") {
            index += 1
          }
          line += 1
          column = 1
        } else if byte & 0xC0 != 0x80 {
          column += 1
        }
      }
      found[next] = SourceLocation(line: line, column: column)
      wanted.removeFirst()
    }
    return found
  }
}
