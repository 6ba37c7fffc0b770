/// Space for a few bytes at the end of a text; bytes that do not fit are dropped.
///
/// It is public so that other modules inline it: the compiler inlines nothing that is `package`.
@safe public struct ShortText {
  @usableFromInline let place: UnsafeMutablePointer<UInt8>
  @usableFromInline var count = 0

  /// - Parameter place: memory for 64 bytes, valid as long as the value is used.
  @inlinable init(at place: UnsafeMutablePointer<UInt8>) { unsafe self.place = unsafe place }

  @inlinable @inline(__always) public mutating func append(_ byte: UInt8) {
    guard count < 64 else { return }
    unsafe place[count] = byte
    count += 1
  }
}

/// A writer of JSON, piece by piece, into one growing buffer.
///
/// It adds nothing on its own. The caller writes commas, brackets and braces, which are usually
/// part of precomputed fragments (`,"name":`). This is the innermost loop of the server. A string
/// is checked for escapes eight bytes at a time while it is copied, numbers are written in place,
/// and only the buffer is allocated. Short methods are public, so that other modules inline them.
public struct JSONWriter {
  /// The buffer, which counts as initialized to its end. The text is its first `count` bytes; the
  /// others are never read.
  @usableFromInline var storage: [UInt8]
  @usableFromInline var used: Int

  package init(capacity: Int = 1024) {
    storage = unsafe Array(unsafeUninitializedCapacity: max(capacity, 64)) { $1 = $0.count }
    used = 0
  }

  /// The number of bytes written so far.
  @inlinable public var count: Int { used }

  /// Returns the text.
  package consuming func finish() -> [UInt8] { take() }

  /// Returns the text as the buffer itself, not a copy, and starts an empty one.
  package mutating func take() -> [UInt8] {
    var text: [UInt8] = []
    swap(&text, &storage)
    text.removeLast(text.count - used)
    used = 0
    return text
  }

  /// Calls the closure with the text so far, which is valid during the call.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe storage.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<used])) }
  }

  /// Removes everything after the first `count` bytes of the text.
  @inlinable public mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= used, "JSONWriter truncated beyond its end")
    used = count
  }

  /// Reserves `count` more bytes.
  @inlinable mutating func reserve(_ count: Int) {
    if storage.count - used < count { grow(count) }
  }

  @usableFromInline @inline(never) mutating func grow(_ count: Int) {
    storage.append(contentsOf: repeatElement(0, count: max(count, storage.count, 64)))
  }

  // MARK: - Fragments, as they are

  @inlinable public mutating func append(_ byte: UInt8) {
    reserve(1)
    storage[used] = byte
    used += 1
  }

  @inlinable public mutating func append(_ fragment: [UInt8]) {
    unsafe fragment.withUnsafeBytes { unsafe append(raw: $0) }
  }

  @inlinable public mutating func append(_ fragment: Span<UInt8>) {
    unsafe fragment.withUnsafeBytes { unsafe append(raw: $0) }
  }

  /// Appends the bytes that `write` writes one at a time: 64 at most.
  @inlinable @inline(__always)
  public mutating func append(_ write: (inout ShortText) -> Void) {
    reserve(64)
    let start = used
    used += unsafe storage.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return 0 }
      var text = unsafe ShortText(at: base + start)
      write(&text)
      return text.count
    }
  }

  /// The number of bytes that a text needs after each piece that is appended from it by index.
  public static let padding = 16

  /// Appends a piece of a text.
  @inlinable public mutating func append(_ text: [UInt8], from start: Int, count length: Int) {
    precondition(start >= 0 && length >= 0 && start + length + 16 <= text.count)
    reserve(length + 16)
    let target = used
    unsafe text.withUnsafeBytes { source in
      unsafe storage.withUnsafeMutableBytes { buffer in
        guard let source = source.baseAddress, let buffer = buffer.baseAddress else { return }
        unsafe Self.copyPadded(source + start, to: buffer + target, count: length)
      }
    }
    used += length
  }

  /// Appends a piece of a text, and after it a string whose bytes are known to be UTF-8.
  package mutating func append(
    _ text: [UInt8], from start: Int, count length: Int, string bytes: RawSpan
  ) {
    precondition(start >= 0 && length >= 0 && start + length + 16 <= text.count)
    reserve(length + 16 + bytes.byteCount)
    let (begin, size) = (used, bytes.byteCount)
    let clean = unsafe text.withUnsafeBytes { source in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe storage.withUnsafeMutableBytes { buffer -> Int in
          guard let source = source.baseAddress, let target = buffer.baseAddress else { return 0 }
          unsafe Self.copyPadded(source + start, to: target + begin, count: length)
          return unsafe Self.quote(
            bytes, to: UnsafeMutableRawBufferPointer(rebasing: buffer[(begin + length)...]))
        }
      }
    }
    used += length + 1 + clean
    guard clean < size else {
      used += 1
      return
    }
    unsafe bytes.withUnsafeBytes {
      unsafe writeEscaped(UnsafeRawBufferPointer(rebasing: $0[clean...]))
    }
  }

  /// Copies sixteen bytes at a time, and so up to sixteen more than requested. The next write
  /// overwrites the excess.
  @inlinable @inline(__always)
  static func copyPadded(
    _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int
  ) {
    var index = 0
    repeat {
      let bytes = unsafe source.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self)
      unsafe target.storeBytes(of: bytes, toByteOffset: index, as: SIMD16<UInt8>.self)
      index &+= 16
    } while index < count
  }

  @inlinable public mutating func append(_ fragment: StaticString) {
    unsafe append(
      raw: UnsafeRawBufferPointer(
        start: fragment.utf8Start, count: fragment.utf8CodeUnitCount))
  }

  @inlinable public mutating func append(raw bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    let length = bytes.count
    reserve(length)
    unsafe storage.withUnsafeMutableBytes { buffer in
      guard let target = buffer.baseAddress else { return }
      unsafe (target + used).copyMemory(from: source, byteCount: length)
    }
    used += length
  }

  // MARK: - Words and numbers

  package mutating func writeNull() { append("null") }

  package mutating func write(_ value: Bool) { append(value ? "true" : "false") }

  package mutating func write(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    writeDigits(value.magnitude, minimumCount: 1)
  }

  package mutating func write(_ value: Int) { write(Int64(value)) }
  package mutating func write(_ value: Int32) { write(Int64(value)) }

  /// Appends the shortest decimal that reads back as the same number; whole numbers have no point.
  ///
  /// Numbers that are not finite have no form in JSON and become null.
  package mutating func write(_ value: Double) {
    guard value.isFinite else { return writeNull() }
    let magnitude = value.magnitude
    if magnitude < 0x1p53, magnitude.rounded() == magnitude {
      if value < 0 { append(UInt8(ascii: "-")) }
      return writeDigits(UInt64(magnitude), minimumCount: 1)
    }
    guard let decimal = Self.decimal(magnitude) else { return writeShortest(value) }
    if value < 0 { append(UInt8(ascii: "-")) }
    let (whole, fraction) = decimal.digits.quotientAndRemainder(dividingBy: decimal.power)
    writeDigits(whole, minimumCount: 1)
    append(UInt8(ascii: "."))
    writeDigits(fraction, minimumCount: decimal.count)
  }

  /// Returns the fewest decimals that read back as the number, as in coordinates and prices: the
  /// number times a power of ten, that power, and its exponent.
  ///
  /// The number is a whole `significand` times a power of two, and so the calculation is exact. If
  /// several have equally many decimals, the nearest is taken. The result is nil for numbers of
  /// other magnitudes, and for powers of two, whose neighbors have different distances.
  private static func decimal(_ magnitude: Double) -> (digits: UInt64, power: UInt64, count: Int)? {
    guard magnitude < 0x1p32, magnitude >= 0x1p-20, magnitude.significandBitPattern != 0 else {
      return nil
    }
    let significand = UInt128(magnitude.significandBitPattern | 1 << 52)
    let shift = UInt64(52 - Int(magnitude.exponent))
    // Numbers are further apart than this decimal, so one at most reads back, and what fewer write ends in zeros.
    let first = magnitude < 2048 ? 12 : 6
    var power: UInt64 = magnitude < 2048 ? 1_000_000_000_000 : 1_000_000
    for decimals in first...17 {
      let scaled = significand * UInt128(power)
      var digits = UInt64(truncatingIfNeeded: (scaled + 1 << (shift - 1)) >> shift)
      let nearest = UInt128(digits) << shift
      let error = nearest > scaled ? nearest - scaled : scaled - nearest
      guard error * 2 < UInt128(power) else {
        // Half of the distance to the next number, or more: this is not the nearest number to what was written.
        power *= 10
        continue
      }
      var count = decimals
      if decimals == first {
        while digits % 10 == 0 {
          digits /= 10
          power /= 10
          count -= 1
        }
      }
      return (digits, power, count)
    }
    return nil
  }

  private mutating func writeShortest(_ value: Double) {
    var text = value.description
    if value.rounded() == value, text.hasSuffix(".0") { text.removeLast(2) }
    text.withUTF8 { unsafe append(raw: UnsafeRawBufferPointer($0)) }
  }

  /// Appends decimal digits, with leading zeros up to a minimum count.
  private mutating func writeDigits(_ value: UInt64, minimumCount: Int) {
    var length = 1
    var limit: UInt64 = 10
    while length < 20, value >= limit {
      length += 1
      let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
      limit = overflow ? .max : next
      if overflow {
        if value >= 10_000_000_000_000_000_000 { length = 20 }
        break
      }
    }
    length = max(length, minimumCount)
    reserve(length)
    var rest = value
    var index = used + length
    while index > used {
      index -= 1
      storage[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    used += length
  }

  // MARK: - Strings

  package mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { unsafe writeString(utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Appends a name and its colon.
  package mutating func writeKey(_ name: String) {
    write(name)
    append(UInt8(ascii: ":"))
  }

  /// Returns the bytes `"name":`, to append many times.
  package static func key(_ name: String) -> [UInt8] {
    var writer = JSONWriter(capacity: name.utf8.count + 3)
    writer.writeKey(name)
    return writer.finish()
  }

  /// Appends a string whose bytes are known to be UTF-8.
  package mutating func writeString(utf8 bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe writeString(utf8: $0) }
  }

  /// Appends a string whose bytes are known to be UTF-8.
  package mutating func writeString(utf8 bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe writeString(utf8: $0) }
  }

  /// Appends a string whose bytes are known to be UTF-8, such as a text column of PostgreSQL.
  @inline(__always)
  package mutating func writeString(utf8 bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count + 2)
    let start = used
    let clean = unsafe storage.withUnsafeMutableBytes { buffer in
      unsafe Self.quote(bytes, to: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
    }
    used += 1 + clean
    guard clean < bytes.count else {
      used += 1
      return
    }
    unsafe writeEscaped(UnsafeRawBufferPointer(rebasing: bytes[clean...]))
  }

  /// Writes both quotes, and the text up to its first escape, which is usually all of it.
  ///
  /// - Returns: the number of bytes of the text that were written.
  @inline(__always)
  private static func quote(
    _ bytes: UnsafeRawBufferPointer, to buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(buffer.count >= bytes.count + 2)
    unsafe buffer.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[1...])
    let clean = unsafe copyUnescaped(bytes, to: target)
    unsafe target.storeBytes(of: UInt8(ascii: "\""), toByteOffset: clean, as: UInt8.self)
    return clean
  }

  /// Appends the rest of a string from its first escape on, and the closing quote.
  @inline(never)
  private mutating func writeEscaped(_ bytes: UnsafeRawBufferPointer) {
    let length = bytes.count
    var read = 0
    while read < length {
      writeEscape(of: unsafe bytes[read])
      read += 1
      reserve(length - read + 1)
      let start = used
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[read...])
      let clean = unsafe storage.withUnsafeMutableBytes { buffer in
        unsafe Self.copyUnescaped(
          rest, to: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]))
      }
      used += clean
      read += clean
    }
    append(UInt8(ascii: "\""))
  }

  /// Copies up to the first byte that needs an escape, and returns the number of bytes copied.
  @inline(__always)
  private static func copyUnescaped(
    _ bytes: UnsafeRawBufferPointer, to buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    let length = bytes.count
    precondition(buffer.count >= length)
    guard let source = bytes.baseAddress, let target = buffer.baseAddress else { return 0 }
    var index = 0
    while index &+ 8 <= length {
      let word = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      guard !word.hasByteToEscape else { break }
      unsafe target.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    // The last bytes, by words that begin before them.
    if index &+ 8 > length, length >= 8 {
      let last = length &- 8
      let word = unsafe source.loadUnaligned(fromByteOffset: last, as: UInt64.self)
      if !word.hasByteToEscape {
        unsafe target.storeBytes(of: word, toByteOffset: last, as: UInt64.self)
        return length
      }
    } else if length >= 4, length < 8 {
      let last = length &- 4
      let head = unsafe source.loadUnaligned(as: UInt32.self)
      let tail = unsafe source.loadUnaligned(fromByteOffset: last, as: UInt32.self)
      if !(UInt64(tail) << 32 | UInt64(head)).hasByteToEscape {
        unsafe target.storeBytes(of: head, as: UInt32.self)
        unsafe target.storeBytes(of: tail, toByteOffset: last, as: UInt32.self)
        return length
      }
    }
    while index < length {
      let byte = unsafe source.load(fromByteOffset: index, as: UInt8.self)
      guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
      unsafe target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      index &+= 1
    }
    return index
  }

  private mutating func writeEscape(of byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append(#"\""#)
    case UInt8(ascii: "\\"): append(#"\\"#)
    case 0x08: append(#"\b"#)
    case 0x09: append(#"\t"#)
    case 0x0A: append(#"\n"#)
    case 0x0C: append(#"\f"#)
    case 0x0D: append(#"\r"#)
    default:
      append(#"\u00"#)
      append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
      let digit = byte & 0x0F
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  // MARK: - Trees

  /// Appends a value without white space.
  package mutating func write(_ value: JSONValue) {
    switch value {
    case .null: writeNull()
    case .boolean(let boolean): write(boolean)
    case .number(var text):
      text.withUTF8 { unsafe append(raw: UnsafeRawBufferPointer($0)) }
    case .string(let text): write(text)
    case .array(let elements):
      append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        write(element)
      }
      append(UInt8(ascii: "]"))
    case .object(let members):
      append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        writeKey(member.name)
        write(member.value)
      }
      append(UInt8(ascii: "}"))
    }
  }
}

extension UInt64 {
  /// A word with the high bit set of each byte that is below 0x20, a quote or a backslash. Bytes
  /// after the first such byte (in memory) may be marked as well.
  private var bytesToEscape: UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = self ^ (ones &* 0x22)
    let backslashes = self ^ (ones &* 0x5C)
    // The high bit of each byte that borrows is set; bytes from 0x80 are masked out by their own.
    let found =
      ((self &- (ones &* 0x20)) & ~self) | ((quotes &- ones) & ~quotes)
      | ((backslashes &- ones) & ~backslashes)
    return found & (ones &* 0x80)
  }

  fileprivate var hasByteToEscape: Bool { bytesToEscape != 0 }

  /// The number of bytes, in the order of memory, before the first that needs an escape.
  var bytesBeforeEscape: Int { littleEndian.bytesToEscape.trailingZeroBitCount / 8 }
}

extension JSONValue {
  /// The value as compact JSON.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.finish()
  }
}
