/// A line of `check --batch` in which halves of surrogate pairs are marked.
///
/// JSON can express such halves (`"\ud83d"`, RFC 8259, 8.2), but no text can contain them. While
/// the line is processed, each is replaced by a mark of two characters: U+10FFFF, and one of the
/// 2048 from U+10F000 on. A real U+10FFFF is doubled meanwhile, so that marks differ from any text.
/// Lines without halves, nearly all, stay unchanged.
struct BatchLine {
  /// The start of a mark: U+10FFFF in UTF-8.
  private static let mark: [UInt8] = [0xF4, 0x8F, 0xBF, 0xBF]
  private static let backslash = UInt8(ascii: "\\")

  let bytes: [UInt8]
  private let hasMarks: Bool

  init(_ line: [UInt8]) {
    let marked = Self.mark(in: line)
    bytes = marked ?? line
    hasMarks = marked != nil
  }

  /// Returns an answer with escapes in place of marks.
  func restored(_ answer: [UInt8]) -> [UInt8] {
    guard hasMarks else { return answer }
    return Self.replaceMarks(in: answer) { unit in
      Array("\\u\(String(unit, radix: 16))".utf8)
    }
  }

  /// Returns a text of this line as a source: halves in three bytes each, as if UTF-8 allowed them.
  func sourceBytes(of text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard hasMarks else { return bytes }
    return Self.replaceMarks(in: bytes) { unit in
      [0xED, 0x80 | UInt8(unit >> 6 & 0x3F), 0x80 | UInt8(unit & 0x3F)]
    }
  }

  /// Returns a line with marks in place of escapes of halves; nil if there are none.
  private static func mark(in line: [UInt8]) -> [UInt8]? {
    guard mayHold(line) else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(line.count + 64)
    var hasMark = false
    var index = 0
    while index < line.count {
      let byte = line[index]
      if byte == mark[0], holdsMark(line, index) {
        result += mark + mark
        index += mark.count
      } else if byte != backslash || index + 1 >= line.count {
        result.append(byte)
        index += 1
      } else if let unit = unit(line, index), unit & 0xF800 == 0xD800 {
        let trailing = unit < 0xDC00 ? self.unit(line, index + 6) : nil
        if let trailing, trailing & 0xFC00 == 0xDC00 {
          let pair = line[index..<index + 12]
          result += unit == 0xDBFF && trailing == 0xDFFF ? pair + pair : pair
          index += 12
        } else {
          hasMark = true
          result += mark
          // U+10F000 is F4 8F 80 80.
          result += [0xF4, 0x8F, 0x80 | UInt8(unit >> 6 & 0x1F), 0x80 | UInt8(unit & 0x3F)]
          index += 6
        }
      } else {
        result += [byte, line[index + 1]]
        index += 2
      }
    }
    return hasMark ? result : nil
  }

  private static func replaceMarks(
    in text: [UInt8], _ replacement: (UInt32) -> [UInt8]
  ) -> [UInt8] {
    guard text.contains(mark[0]) else { return text }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      guard text[index] == mark[0], holdsMark(text, index) else {
        result.append(text[index])
        index += 1
        continue
      }
      index += mark.count
      if holdsMark(text, index) {
        result += mark
        index += mark.count
      } else if index + 4 <= text.count {
        result += replacement(
          0xD800 | UInt32(text[index + 2] & 0x1F) << 6 | UInt32(text[index + 3] & 0x3F))
        index += 4
      }
    }
    return result
  }

  private static func holdsMark(_ text: [UInt8], _ index: Int) -> Bool {
    index + mark.count <= text.count && text[index..<index + mark.count].elementsEqual(mark)
  }

  /// Returns whether there is an escape of any half, of a pair or alone.
  private static func mayHold(_ line: [UInt8]) -> Bool {
    var index = line.startIndex
    while let next = line[index...].firstIndex(of: backslash) {
      if let unit = unit(line, next), unit & 0xF800 == 0xD800 { return true }
      index = min(next + 2, line.count)
    }
    return false
  }

  /// Returns the UTF-16 unit of an escape `\u....` at an index.
  private static func unit(_ line: [UInt8], _ index: Int) -> UInt32? {
    guard index + 6 <= line.count, line[index] == backslash, line[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var value: UInt32 = 0
    for byte in line[index + 2..<index + 6] {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - 0x57
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - 0x37
      default: return nil
      }
      value = value << 4 | UInt32(digit)
    }
    return value
  }
}
