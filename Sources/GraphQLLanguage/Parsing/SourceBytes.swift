/// The bytes of a source while it is being read, NUL past the end.
///
/// The one place where the language touches memory by pointer: every access is checked here, and
/// the value lives only inside `withBytes(of:)`, which holds the array.
@safe
struct SourceBytes {
  private let base: UnsafePointer<UInt8>?
  let count: Int

  private init(_ buffer: UnsafeBufferPointer<UInt8>) {
    unsafe base = buffer.baseAddress
    count = buffer.count
  }

  static func withBytes<Result>(
    of bytes: [UInt8], _ body: (SourceBytes) throws(GraphQLError) -> Result
  ) throws(GraphQLError) -> Result {
    try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(GraphQLError) -> Result in
      try body(unsafe SourceBytes(buffer))
    }
  }

  /// The byte at an index, or 0 where there is none; a NUL in the text itself is told apart by
  /// comparing the index with `count`.
  @inline(__always)
  subscript(_ index: Int) -> UInt8 {
    // A count above zero means there is a base address.
    UInt(bitPattern: index) < UInt(bitPattern: count) ? unsafe base.unsafelyUnwrapped[index] : 0
  }

  /// The text of a range, clamped to what is there.
  @inline(__always)
  func text(_ start: Int, _ end: Int) -> String {
    guard let base = unsafe base, start >= 0, start < end, end <= count else { return "" }
    return unsafe String(
      decoding: UnsafeBufferPointer(start: base + start, count: end - start), as: UTF8.self)
  }

  /// Whether the bytes from `start` to `end` are just those of `keyword`.
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

  /// The Unicode scalar that starts at an index of valid UTF-8, and its length in bytes.
  func scalar(at index: Int) -> (scalar: Unicode.Scalar, length: Int)? {
    guard index >= 0, index < count else { return nil }
    let first = UInt32(self[index])
    let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    var value = length == 1 ? first : first & (0x7F >> UInt32(length))
    for offset in 1..<max(length, 1) { value = value << 6 | UInt32(self[index + offset] & 0x3F) }
    return Unicode.Scalar(value).map { ($0, length) }
  }
}
