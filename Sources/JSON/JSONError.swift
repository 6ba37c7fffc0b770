/// The reason why a text is not JSON, and the offset of the error.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    case unexpectedEnd
    case unexpectedByte(UInt8)
    case invalidUTF8
    case invalidEscape
    case loneSurrogate
    case controlCharacter
    case nestedDeeperThan(Int)
  }

  package let reason: Reason
  /// The offset in bytes, from 0.
  package let offset: Int

  package init(_ reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  package var description: String {
    switch reason {
    case .unexpectedEnd: "Unexpected end of JSON."
    case .unexpectedByte(let byte) where (0x20...0x7E).contains(byte):
      "Unexpected \"\(Unicode.Scalar(byte))\" at byte \(offset) of JSON."
    case .unexpectedByte(let byte): "Unexpected byte \(byte) at byte \(offset) of JSON."
    case .invalidUTF8: "Invalid UTF-8 at byte \(offset) of JSON."
    case .invalidEscape: "Invalid escape sequence at byte \(offset) of JSON."
    case .loneSurrogate: "Escape of half a character at byte \(offset) of JSON."
    case .controlCharacter: "Control character in a string at byte \(offset) of JSON."
    case .nestedDeeperThan(let levels):
      "JSON is nested deeper than \(levels) levels at byte \(offset)."
    }
  }
}
