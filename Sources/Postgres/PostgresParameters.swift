/// The values of one execution in PostgreSQL's binary formats, in order.
///
/// One buffer holds them all, so a whole list costs one allocation, or none when the builder is
/// used again. Per parameter: its length (-1 for null), its format, its bytes:
///
///     | Int32 length | Int32 format | bytes |
///
/// The server infers each parameter's type from the statement's text (`$1::bigint`), and the kind
/// appended must be that type.
package struct PostgresParameters: Sendable {
  private(set) var bytes: [UInt8] = []
  package private(set) var count = 0
  /// Set where a value cannot be sent: it grew past what the protocol counts in 31 bits.
  private(set) var isTooLarge = false

  package init() {}

  package init(reservingBytes capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// Forgets the values and keeps the memory.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    count = 0
    isTooLarge = false
  }

  package mutating func appendNull() {
    appendHeader(length: -1)
  }

  package mutating func append(_ value: Bool) {
    appendHeader(length: 1)
    bytes.append(value ? 1 : 0)
  }

  package mutating func append(_ value: Int16) {
    appendHeader(length: 2)
    bytes.appendBigEndian(value)
  }

  package mutating func append(_ value: Int32) {
    appendHeader(length: 4)
    bytes.appendBigEndian(value)
  }

  package mutating func append(_ value: Int64) {
    appendHeader(length: 8)
    bytes.appendBigEndian(value)
  }

  package mutating func append(_ value: Double) {
    append(Int64(bitPattern: value.bitPattern))
  }

  /// Appends a value of `text`, a similar type, or `json`. PostgreSQL refuses a NUL in it
  /// (`.invalidEncoding`).
  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { unsafe append(bytes: $0) }
  }

  /// UTF-8 as `text`.
  package mutating func append(utf8 text: RawSpan) {
    unsafe text.withUnsafeBytes { unsafe append(bytes: $0) }
  }

  /// Appends a value of `bytea`.
  package mutating func append(_ value: [UInt8]) {
    unsafe value.withUnsafeBufferPointer { unsafe append(bytes: $0) }
  }

  /// Appends a value of `timestamptz`: microseconds since 2000-01-01 UTC.
  package mutating func append(timestamp microsecondsSince2000: Int64) {
    append(microsecondsSince2000)
  }

  /// Appends a value of `date`: days since 2000-01-01.
  package mutating func append(date daysSince2000: Int32) {
    append(daysSince2000)
  }

  /// Appends a value in the type's text format: `numeric`, or another type without a simple binary
  /// form. A NUL would end the value, so the caller refuses it.
  package mutating func append(inTextFormat text: String) {
    var text = text
    text.withUTF8 { utf8 in
      appendHeader(length: utf8.count + 1, format: 0)
      unsafe bytes.append(contentsOf: utf8)
      bytes.append(0)
    }
  }

  /// Appends an array of `element`. A nil becomes an SQL null.
  package mutating func append(array values: [Int64?], of element: PostgresType = .int8) {
    appendArray(of: element, values) { parameters, value in
      parameters.bytes.appendBigEndian(Int32(8))
      parameters.bytes.appendBigEndian(value)
    }
  }

  package mutating func append(array values: [Int32?], of element: PostgresType = .int4) {
    appendArray(of: element, values) { parameters, value in
      parameters.bytes.appendBigEndian(Int32(4))
      parameters.bytes.appendBigEndian(value)
    }
  }

  package mutating func append(array values: [Double?]) {
    appendArray(of: .float8, values) { parameters, value in
      parameters.bytes.appendBigEndian(Int32(8))
      parameters.bytes.appendBigEndian(value.bitPattern)
    }
  }

  package mutating func append(array values: [Bool?]) {
    appendArray(of: .bool, values) { parameters, value in
      parameters.bytes.appendBigEndian(Int32(1))
      parameters.bytes.append(value ? 1 : 0)
    }
  }

  package mutating func append(array values: [String?], of element: PostgresType = .text) {
    appendArray(of: element, values) { parameters, value in
      var value = value
      value.withUTF8 { utf8 in
        parameters.bytes.appendBigEndian(Int32(clamping: utf8.count))
        unsafe parameters.bytes.append(contentsOf: utf8)
      }
    }
  }

  /// Appends a value of `bytea[]`.
  package mutating func append(array values: [[UInt8]]) {
    let start = beginArray(of: .bytea)
    for value in values {
      bytes.appendBigEndian(Int32(clamping: value.count))
      bytes.append(contentsOf: value)
    }
    endArray(at: start, count: values.count)
  }

  /// Appends a value of `timestamptz[]`: microseconds since 2000-01-01 UTC.
  package mutating func append(timestampArray values: [Int64?]) {
    append(array: values, of: .timestamptz)
  }

  /// Appends a value of `date[]`: days since 2000-01-01.
  package mutating func append(dateArray values: [Int32?]) {
    append(array: values, of: .date)
  }

  private mutating func append(bytes value: UnsafeRawBufferPointer) {
    appendHeader(length: value.count)
    unsafe bytes.append(contentsOf: value)
  }

  private mutating func append(bytes value: UnsafeBufferPointer<UInt8>) {
    unsafe append(bytes: UnsafeRawBufferPointer(value))
  }

  private mutating func appendHeader(length: Int, format: Int32 = 1) {
    if length > Self.maximumValueBytes { isTooLarge = true }
    bytes.appendBigEndian(Int32(clamping: length))
    bytes.appendBigEndian(format)
    count += 1
  }

  private mutating func appendArray<Value>(
    of element: PostgresType, _ values: [Value?],
    append: (inout PostgresParameters, Value) -> Void
  ) {
    let start = beginArray(of: element)
    for value in values {
      if let value { append(&self, value) } else { bytes.appendBigEndian(Int32(-1)) }
    }
    endArray(at: start, count: values.count)
  }

  /// Its elements follow, each after its length in four bytes, -1 for null; then `endArray`.
  ///
  /// | dimensions 1 | has nulls | element type | count | lower bound 1 |
  mutating func beginArray(of element: PostgresType) -> Int {
    let start = bytes.count
    appendHeader(length: 0)
    bytes.appendBigEndian(Int32(1))
    // PostgreSQL sees for itself which elements are null.
    bytes.appendBigEndian(Int32(0))
    bytes.appendBigEndian(element.rawValue)
    bytes.appendBigEndian(Int32(0))
    bytes.appendBigEndian(Int32(1))
    return start
  }

  mutating func endArray(at start: Int, count elementCount: Int) {
    if elementCount == 0 {
      // An empty array has no dimensions.
      bytes.removeLast(8)
      bytes.replaceBigEndian(Int32(0), at: start + 8)
    } else {
      bytes.replaceBigEndian(Int32(clamping: elementCount), at: start + 20)
    }
    let length = bytes.count - start - 8
    if length > Self.maximumValueBytes { isTooLarge = true }
    bytes.replaceBigEndian(Int32(clamping: length), at: start)
  }

  mutating func appendBytes(_ source: [UInt8], _ range: Range<Int>) {
    bytes.append(contentsOf: source[range])
  }

  mutating func appendLength(_ length: Int) {
    bytes.appendBigEndian(Int32(clamping: length))
  }

  /// Hands over what libpq's calls take: per parameter an address (nil for null), a length and a
  /// format.
  func withLibraryArrays<R>(
    _ body: (
      UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> R
  ) -> R {
    guard count > 0 else { return body(nil, nil, nil) }
    return unsafe bytes.withUnsafeBytes { buffer in
      unsafe withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) {
        addresses in
        unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
          var offset = 0
          for index in 0..<count {
            let length = unsafe Int32(
              bigEndian: buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            unsafe numbers[index] = max(length, 0)
            unsafe numbers[count + index] = Int32(
              bigEndian: buffer.loadUnaligned(fromByteOffset: offset + 4, as: Int32.self))
            offset += 8
            unsafe addresses.initializeElement(
              at: index,
              to: length < 0
                ? nil
                : buffer.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
            offset += Int(max(length, 0))
          }
          return unsafe body(
            addresses.baseAddress, numbers.baseAddress, numbers.baseAddress?.advanced(by: count))
        }
      }
    }
  }

  /// Half of what a message of the protocol may hold.
  private static let maximumValueBytes = 512 * 1024 * 1024
}

/// The numbers of built-in types, which are the same in every PostgreSQL.
package struct PostgresType: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let bool = PostgresType(rawValue: 16)
  package static let bytea = PostgresType(rawValue: 17)
  package static let char = PostgresType(rawValue: 18)
  package static let name = PostgresType(rawValue: 19)
  package static let int8 = PostgresType(rawValue: 20)
  package static let int2 = PostgresType(rawValue: 21)
  package static let int4 = PostgresType(rawValue: 23)
  package static let text = PostgresType(rawValue: 25)
  package static let json = PostgresType(rawValue: 114)
  package static let xml = PostgresType(rawValue: 142)
  package static let float4 = PostgresType(rawValue: 700)
  package static let float8 = PostgresType(rawValue: 701)
  package static let unknown = PostgresType(rawValue: 705)
  package static let bpchar = PostgresType(rawValue: 1042)
  package static let varchar = PostgresType(rawValue: 1043)
  package static let date = PostgresType(rawValue: 1082)
  package static let timestamp = PostgresType(rawValue: 1114)
  package static let timestamptz = PostgresType(rawValue: 1184)
  package static let numeric = PostgresType(rawValue: 1700)
  package static let uuid = PostgresType(rawValue: 2950)
  package static let jsonb = PostgresType(rawValue: 3802)
  package static let record = PostgresType(rawValue: 2249)
}

extension [UInt8] {
  mutating func appendBigEndian(_ value: some FixedWidthInteger) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { unsafe append(contentsOf: $0) }
  }

  func bigEndianInt32(at index: Int) -> Int32 {
    unsafe span.bytes.withUnsafeBytes {
      unsafe Int32(bigEndian: $0.loadUnaligned(fromByteOffset: index, as: Int32.self))
    }
  }

  mutating func replaceBigEndian(_ value: Int32, at index: Int) {
    unsafe Swift.withUnsafeBytes(of: value.bigEndian) { source in
      for offset in 0..<4 { unsafe self[index + offset] = source[offset] }
    }
  }
}
