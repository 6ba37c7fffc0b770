/// PostgreSQL's binary form of values, made by hand as its `..._send` functions have it.
enum BinaryForm {
  /// Types by the OIDs of `pg_type`.
  enum OID {
    static let boolean: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let float4: UInt32 = 700
    static let float8: UInt32 = 701
    static let date: UInt32 = 1082
    static let timestamptz: UInt32 = 1184
    static let record: UInt32 = 2249
    /// One that only this database has, such as of an enum.
    static let own: UInt32 = 40_000
  }

  /// A column of a record; nil bytes are null.
  struct Column {
    let type: UInt32
    let bytes: [UInt8]?

    init(_ type: UInt32, _ bytes: [UInt8]?) {
      self.type = type
      self.bytes = bytes
    }

    static func int8(_ value: Int64?) -> Column { Column(OID.int8, value.map { big($0) }) }
    static func int4(_ value: Int32?) -> Column { Column(OID.int4, value.map { big($0) }) }
    static func int2(_ value: Int16?) -> Column { Column(OID.int2, value.map { big($0) }) }
    static func boolean(_ value: Bool?) -> Column {
      Column(OID.boolean, value.map { [$0 ? 1 : 0] })
    }
    static func text(_ value: String?) -> Column { Column(OID.text, value.map { Array($0.utf8) }) }
    static func float8(_ value: Double) -> Column { Column(OID.float8, big(value.bitPattern)) }
    static func float4(_ value: Float) -> Column { Column(OID.float4, big(value.bitPattern)) }
    static func record(_ columns: Column...) -> Column {
      Column(OID.record, BinaryForm.record(columns))
    }
    static func records(_ elements: [UInt8]?...) -> Column {
      Column(2287, array(of: OID.record, elements))
    }
    static let null = Column(OID.text, nil)
  }

  /// `int32 count`, then of each column `uint32 type`, `int32 length` (-1 for null) and the bytes.
  static func record(_ columns: [Column]) -> [UInt8] {
    big(Int32(columns.count)) + columns.flatMap { big($0.type) + sized($0.bytes) }
  }

  static func record(_ columns: Column...) -> [UInt8] { record(columns) }

  /// `int32 dimensions`, `int32 hasNulls`, `uint32 type`, `int32 count`, `int32 lowerBound`, then of
  /// each element `int32 length` and the bytes. An empty array has no dimensions.
  static func array(of type: UInt32, _ elements: [[UInt8]?]) -> [UInt8] {
    let hasNulls: Int32 = elements.contains { $0 == nil } ? 1 : 0
    guard !elements.isEmpty else { return big(Int32(0)) + big(hasNulls) + big(type) }
    return big(Int32(1)) + big(hasNulls) + big(type) + big(Int32(elements.count)) + big(Int32(1))
      + elements.flatMap { sized($0) }
  }

  static func big(_ value: some FixedWidthInteger) -> [UInt8] {
    (1...value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (value.bitWidth - $0 * 8)) }
  }

  private static func sized(_ bytes: [UInt8]?) -> [UInt8] {
    big(Int32(bytes?.count ?? -1)) + (bytes ?? [])
  }
}
