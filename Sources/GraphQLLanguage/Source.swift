/// A source text as the bytes that it arrived in, which resolves offsets to locations.
package final class Source: Sendable {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }
  package convenience init(_ text: String) { self.init(Array(text.utf8)) }

  /// Returns the line and column of a byte offset.
  ///
  /// - Complexity: O(offset). Only errors call it.
  package func location(of position: Position) -> SourceLocation {
    locations(of: [position])[position] ?? SourceLocation(line: 1, column: 1)
  }

  /// Returns the locations of many positions, in one pass over the text.
  package func locations(of positions: [Position]) -> [Position: SourceLocation] {
    let wanted = Set(positions).sorted { $0.offset < $1.offset }
    var locations: [Position: SourceLocation] = [:]
    locations.reserveCapacity(wanted.count)
    var line = 1
    var column = 1
    var index = 0
    for position in wanted {
      let end = min(Int(position.offset), bytes.count)
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
      locations[position] = SourceLocation(line: line, column: column)
    }
    return locations
  }
}
