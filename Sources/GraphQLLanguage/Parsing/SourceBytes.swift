/// The bytes of a source while it is being read, followed by NUL.
///
/// This is the only place where the language accesses memory by pointer. It checks every access,
/// and the value lives only inside `withBytes(of:)`, which holds the array.
@safe
struct SourceBytes {
  private let base: UnsafePointer<UInt8>?
  let count: Int

  private init(_ buffer: UnsafeBufferPointer<UInt8>) {
    unsafe base = buffer.baseAddress
    count = buffer.count
  }

  static func withBytes<Result>(
    of bytes: [UInt8], _ body: (SourceBytes) throws(SyntaxError) -> Result
  ) throws(SyntaxError) -> Result {
    try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(SyntaxError) -> Result in
      try body(unsafe SourceBytes(buffer))
    }
  }

  /// The byte at an index, or 0 past the end. Compare the index with `count` to distinguish a NUL
  /// in the text from the end.
  @inline(__always)
  subscript(_ index: Int) -> UInt8 {
    // A count above zero means there is a base address.
    UInt(bitPattern: index) < UInt(bitPattern: count) ? unsafe base.unsafelyUnwrapped[index] : 0
  }

  /// Returns the text of a range, clamped to the source.
  @inline(__always)
  func text(_ start: Int, _ end: Int) -> String {
    guard let base = unsafe base, start >= 0, start < end, end <= count else { return "" }
    return unsafe String(
      decoding: UnsafeBufferPointer(start: base + start, count: end - start), as: UTF8.self)
  }

  /// Returns the text of a range that contains only ASCII; faster than `text`.
  @inline(__always)
  func asciiText(_ start: Int, _ end: Int) -> String {
    guard let base = unsafe base, start >= 0, start < end, end <= count else { return "" }
    let span = unsafe Span(_unsafeStart: base + start, count: end - start)
    return unsafe String(copying: UTF8Span(unchecked: span, isKnownASCII: true))
  }

  /// Whether the bytes from `start` to `end` equal `keyword`.
  @inline(__always)
  func matches(_ keyword: StaticString, _ start: Int, _ end: Int) -> Bool {
    guard end - start == keyword.utf8CodeUnitCount, end <= count else { return false }
    let expected = unsafe keyword.utf8Start
    for offset in 0..<keyword.utf8CodeUnitCount
    where unsafe self[start + offset] != expected[offset] {
      return false
    }
    return true
  }

  /// Returns the first index from `start` on that a string or comment has to inspect: the byte may
  /// be a quote, a backslash or a control character, or is one of the last seven.
  @inline(__always)
  func skipPlainText(_ start: Int) -> Int {
    var index = start
    guard let base = unsafe base else { return index }
    let ones: UInt64 = 0x0101_0101_0101_0101
    while index &+ 8 <= count {
      let word = unsafe UInt64(
        littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let quotes = word ^ (ones &* 0x22)
      let backslashes = word ^ (ones &* 0x5C)
      // The high bit of a byte that borrows is set; where it was set before, it does not count.
      let found =
        ((word &- (ones &* 0x20)) & ~word) | ((quotes &- ones) & ~quotes)
        | ((backslashes &- ones) & ~backslashes)
      let marks = found & (ones &* 0x80)
      if marks != 0 { return index &+ marks.trailingZeroBitCount >> 3 }
      index &+= 8
    }
    return index
  }

  /// Returns eight bytes at once, the first one lowest; nil if fewer remain.
  @inline(__always)
  private func word(at index: Int) -> UInt64? {
    guard index &+ 8 <= count, let base = unsafe base else { return nil }
    return unsafe UInt64(
      littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Returns the index after up to eight spaces: most white space is indentation.
  @inline(__always)
  func skipSpaces(_ start: Int) -> Int {
    guard let word = word(at: start) else { return start }
    return start &+ (word ^ 0x2020_2020_2020_2020).trailingZeroBitCount >> 3
  }

  /// Returns the first index from `start` on whose byte is not a letter, digit or underscore.
  @inline(__always)
  func endOfName(_ start: Int) -> Int {
    var index = start
    let ones: UInt64 = 0x0101_0101_0101_0101
    while let word = word(at: index) {
      let low = word & (ones &* 0x7F)
      let lowercase = low | (ones &* 0x20)
      // Adding brings the high bit to bytes from a bound on; none is so high that it would carry.
      let letters = (lowercase &+ (ones &* 0x1F)) & ~(lowercase &+ (ones &* 0x05))
      let digits = (low &+ (ones &* 0x50)) & ~(low &+ (ones &* 0x46))
      let underscores = ~((low ^ (ones &* 0x5F)) &+ (ones &* 0x7F))
      let others = ~((letters | digits | underscores) & ~word) & (ones &* 0x80)
      if others != 0 { return index &+ others.trailingZeroBitCount >> 3 }
      index &+= 8
    }
    while self[index].isNameContinue { index &+= 1 }
    return index
  }

  /// Returns the code point that starts at an index of UTF-8, and its length in bytes.
  func codePoint(at index: Int) -> (value: UInt32, length: Int)? {
    guard index >= 0, index < count else { return nil }
    let first = UInt32(self[index])
    let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    var value = length == 1 ? first : first & (0x7F >> UInt32(length))
    for offset in 1..<max(length, 1) { value = value << 6 | UInt32(self[index + offset] & 0x3F) }
    return (value, length)
  }

  /// Whether the bytes at an index are half a surrogate pair, in what would be UTF-8 if such halves
  /// were allowed ("WTF-8").
  func isSurrogate(at index: Int) -> Bool {
    self[index] == 0xED && self[index + 1] & 0xE0 == 0xA0 && isContinuation(index + 2)
  }

  /// The index where the text stops being UTF-8; nil if all of it is.
  ///
  /// It checks eight bytes at a time as long as they are ASCII. RFC 3629, 4.
  var firstInvalidIndex: Int? {
    var index = 0
    while index < count {
      if index &+ 8 <= count, let base = unsafe base {
        let word = unsafe UnsafeRawPointer(base).loadUnaligned(
          fromByteOffset: index, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 == 0 {
          index &+= 8
          continue
        }
      }
      let length = scalarLength(at: index)
      if length == 0 { return index }
      index &+= length
    }
    return nil
  }

  /// Returns the length of the well-formed sequence at an index, or 0 if there is none.
  private func scalarLength(at index: Int) -> Int {
    let second = self[index + 1]
    switch self[index] {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: return isContinuation(index + 1) ? 2 : 0
    case 0xE0 where second < 0xA0, 0xED where second > 0x9F, 0xF0 where second < 0x90,
      0xF4 where second > 0x8F:
      return 0
    case 0xE0...0xEF: return isContinuation(index + 1) && isContinuation(index + 2) ? 3 : 0
    case 0xF0...0xF4:
      return isContinuation(index + 1) && isContinuation(index + 2) && isContinuation(index + 3)
        ? 4 : 0
    default: return 0
    }
  }

  private func isContinuation(_ index: Int) -> Bool { self[index] & 0xC0 == 0x80 }
}
