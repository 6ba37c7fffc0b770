/// The places of columns and elements inside a result's bytes, as a stack of frames.
///
/// PostgreSQL's binary form of a record is a column count, then type, length and bytes of each; of an
/// array a header, then length and bytes of each element. Both are walked once and left on one
/// reused stack, so reading a nested result allocates nothing.
struct RecordFrames {
  struct Entry {
    var offset: Int32
    /// -1 for null.
    var length: Int32
    /// The type's OID; 0 for elements of arrays.
    var type: UInt32
  }

  private(set) var entries: [Entry] = []

  init() { entries.reserveCapacity(256) }

  var depth: Int { entries.count }

  mutating func pop(to depth: Int) { entries.removeLast(entries.count - depth) }

  /// Null for a column that the record does not have.
  subscript(_ index: Int) -> Entry {
    index < entries.count ? entries[index] : Entry(offset: 0, length: -1, type: 0)
  }

  /// Pushes the columns of the record in `bytes[offset..<offset + length]`.
  ///
  /// - Returns: how many, or nil when the bytes are no record.
  mutating func pushRecord(_ bytes: RawSpan, _ offset: Int, _ length: Int) -> Int? {
    let end = offset + length
    guard length >= 4, end <= bytes.byteCount else { return nil }
    let count = Int(bytes.int32(at: offset))
    var place = offset + 4
    for _ in 0..<max(count, 0) {
      guard place + 8 <= end else { return nil }
      let type = UInt32(bitPattern: bytes.int32(at: place))
      let size = bytes.int32(at: place + 4)
      place += 8
      guard Int(max(size, 0)) <= end - place else { return nil }
      entries.append(Entry(offset: Int32(truncatingIfNeeded: place), length: size, type: type))
      place += Int(max(size, 0))
    }
    return max(count, 0)
  }

  /// Pushes the elements of the one-dimensional array in `bytes[offset..<offset + length]`.
  mutating func pushArray(_ bytes: RawSpan, _ offset: Int, _ length: Int) -> Int? {
    let end = offset + length
    guard length >= 12, end <= bytes.byteCount else { return nil }
    let dimensions = bytes.int32(at: offset)
    if dimensions == 0 { return 0 }
    guard dimensions == 1, length >= 20 else { return nil }
    let type = UInt32(bitPattern: bytes.int32(at: offset + 8))
    let count = Int(bytes.int32(at: offset + 12))
    var place = offset + 20
    for _ in 0..<max(count, 0) {
      guard place + 4 <= end else { return nil }
      let size = bytes.int32(at: place)
      place += 4
      guard Int(max(size, 0)) <= end - place else { return nil }
      entries.append(Entry(offset: Int32(truncatingIfNeeded: place), length: size, type: type))
      place += Int(max(size, 0))
    }
    return max(count, 0)
  }
}

extension RawSpan {
  @inline(__always) func int16(at offset: Int) -> Int16 {
    Int16(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Int16.self))
  }

  @inline(__always) func int32(at offset: Int) -> Int32 {
    Int32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Int32.self))
  }

  @inline(__always) func int64(at offset: Int) -> Int64 {
    Int64(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self))
  }

  @inline(__always) func byte(at offset: Int) -> UInt8 {
    unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
