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
    /// The type's OID.
    var type: UInt32

    /// Whether the bytes are text: of `text` and similar types, or of a type created in the
    /// database, such as an enum. The storage check knows all others.
    @inline(__always) var isText: Bool {
      switch type {
      case 25, 16_384...: true
      // "char", name, json, xml, unknown, bpchar, varchar.
      case 18, 19, 114, 142, 705, 1042, 1043: true
      default: false
      }
    }

    /// Whether the type was made in a database. PostgreSQL sends a domain's values as those of its base, under the
    /// domain's own OID; the storage check has seen that the base is one that the field can be read from.
    ///
    /// 12,000 is where `initdb` begins to number, and the domains of `information_schema` are made there.
    var isOfDomain: Bool { type >= 12_000 }
  }

  /// The entries of all frames. Those from `depth` on are unused; popping a frame only lowers the
  /// depth.
  private var entries: [Entry] = []
  private(set) var depth = 0

  private static let none = Entry(offset: 0, length: -1, type: 0)

  mutating func pop(to depth: Int) { self.depth = depth }

  /// Empty, with its room if that is not large.
  mutating func clear() {
    depth = 0
    if entries.count > 4_096 { entries = [] }
  }

  /// Null for a column that the record does not have.
  subscript(_ index: Int) -> Entry { index < depth ? entries[index] : Self.none }

  /// Pushes the columns of the record in `bytes[offset..<offset + length]`.
  ///
  /// - Returns: how many, or nil when the bytes are not exactly a record. Columns may be left on the
  ///   stack then, for the caller to pop with its own.
  mutating func pushRecord(_ bytes: RawSpan, _ offset: Int, _ length: Int) -> Int? {
    let end = offset + length
    guard offset >= 0, length >= 4, end <= bytes.byteCount else { return nil }
    let count = Int(bytes.int32(at: offset))
    // A column takes eight bytes at least, so that nothing asks for more room than it has sent.
    guard count >= 0, count <= (length - 4) / 8 else { return nil }
    var place = offset + 4
    return push(count) { entry in
      guard place + 8 <= end else { return false }
      let size = bytes.uncheckedInt32(at: place + 4)
      entry.type = UInt32(bitPattern: bytes.uncheckedInt32(at: place))
      place += 8
      guard size >= -1, Int(size) <= end - place else { return false }
      entry.offset = Int32(truncatingIfNeeded: place)
      entry.length = size
      place += Int(max(size, 0))
      return true
    } && place == end ? count : nil
  }

  /// Whether the array in `bytes[offset..<offset + length]` has several dimensions, which no list of the schema has.
  func isNested(_ bytes: RawSpan, _ offset: Int, _ length: Int) -> Bool {
    // PostgreSQL has at most six.
    offset >= 0 && length >= 4 && offset + length <= bytes.byteCount
      && (2...6).contains(bytes.int32(at: offset))
  }

  /// Pushes the elements of the one-dimensional array in `bytes[offset..<offset + length]`.
  mutating func pushArray(_ bytes: RawSpan, _ offset: Int, _ length: Int) -> Int? {
    let end = offset + length
    guard offset >= 0, length >= 12, end <= bytes.byteCount else { return nil }
    let dimensions = bytes.int32(at: offset)
    if dimensions == 0 { return length == 12 ? 0 : nil }
    guard dimensions == 1, length >= 20 else { return nil }
    let type = UInt32(bitPattern: bytes.int32(at: offset + 8))
    let count = Int(bytes.int32(at: offset + 12))
    guard count >= 0, count <= (length - 20) / 4 else { return nil }
    var place = offset + 20
    return push(count) { entry in
      guard place + 4 <= end else { return false }
      let size = bytes.uncheckedInt32(at: place)
      place += 4
      guard size >= -1, Int(size) <= end - place else { return false }
      entry = Entry(offset: Int32(truncatingIfNeeded: place), length: size, type: type)
      place += Int(max(size, 0))
      return true
    } && place == end ? count : nil
  }

  /// Allocates entries once and fills them, until one is invalid.
  @inline(__always)
  private mutating func push(_ count: Int, _ fill: (inout Entry) -> Bool) -> Bool {
    let base = depth
    if entries.count - base < count {
      entries.append(contentsOf: repeatElement(Self.none, count: max(count, entries.count, 256)))
    }
    depth = base + count
    return unsafe entries.withUnsafeMutableBufferPointer { entries in
      for index in base..<base + count {
        guard unsafe fill(&entries[index]) else { return false }
      }
      return true
    }
  }
}

extension RawSpan {
  /// - Precondition: the caller has seen that four bytes are there.
  @inline(__always) fileprivate func uncheckedInt32(at offset: Int) -> Int32 {
    Int32(
      bigEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Int32.self))
  }

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
