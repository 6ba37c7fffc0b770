import CPostgreSQL

/// The rows of one statement in binary format, as libpq has them, without a copy.
///
/// Valid while the completion that received it runs, so it cannot be copied. Its memory is freed
/// afterwards. @safe: the handle is private and lives as long as this value.
@safe package struct PostgresResult: ~Copyable {
  private let result: OpaquePointer
  package let rowCount: Int
  package let columnCount: Int
  private let firstRow: Int
  /// Whether it refers to the rows of another result.
  private let isView: Bool

  /// Takes ownership.
  init(owning result: OpaquePointer) {
    unsafe self.result = unsafe result
    rowCount = unsafe Int(PQntuples(result))
    columnCount = unsafe Int(PQnfields(result))
    firstRow = 0
    isView = false
  }

  private init(_ result: OpaquePointer, row: Int, columnCount: Int) {
    unsafe self.result = unsafe result
    rowCount = 1
    self.columnCount = columnCount
    firstRow = row
    isView = true
  }

  deinit {
    if !isView { unsafe PQclear(result) }
  }

  /// Returns one row as a result. Valid as long as this result.
  func row(_ row: Int) -> PostgresResult {
    precondition(row >= 0 && row < rowCount, "The result has no such row.")
    return unsafe PostgresResult(result, row: firstRow + row, columnCount: columnCount)
  }

  /// All rows in memory of their own, those around a single one too; nil when there is none left.
  package func copy() -> PostgresResult? {
    guard let copy = unsafe PQcopyResult(result, PG_COPYRES_ATTRS | PG_COPYRES_TUPLES) else {
      return nil
    }
    return unsafe PostgresResult(owning: copy)
  }

  package func isNull(row: Int, column: Int) -> Bool {
    check(row, column)
    return unsafe PQgetisnull(result, Int32(firstRow + row), Int32(column)) != 0
  }

  /// The bytes of a value; empty for null.
  package func withValue<R, E: Error>(
    row: Int, column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    check(row, column)
    let length = unsafe Int(PQgetlength(result, Int32(firstRow + row), Int32(column)))
    let bytes = unsafe UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(firstRow + row), Int32(column)), count: length)
    return try unsafe body(bytes.bytes)
  }

  /// The type of a column as PostgreSQL numbers it.
  package func type(column: Int) -> PostgresType {
    check(column)
    return unsafe PostgresType(rawValue: PQftype(result, Int32(column)))
  }

  package func name(column: Int) -> String {
    check(column)
    return unsafe PQfname(result, Int32(column)).map { unsafe String(cString: $0) } ?? ""
  }

  // MARK: Simple values, for statements of our own

  package func string(row: Int, column: Int) -> String? {
    guard !isNull(row: row, column: column) else { return nil }
    return withValue(row: row, column: column) { value in
      unsafe value.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// An `int2`, `int4` or `int8`; nil for null or another length.
  package func integer(row: Int, column: Int) -> Int64? {
    guard !isNull(row: row, column: column) else { return nil }
    return withValue(row: row, column: column) { value in
      unsafe value.withUnsafeBytes { bytes in
        switch bytes.count {
        case 2: unsafe Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case 4: unsafe Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case 8: unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        default: nil
        }
      }
    }
  }

  package func boolean(row: Int, column: Int) -> Bool? {
    guard !isNull(row: row, column: column) else { return nil }
    return withValue(row: row, column: column) { value in
      unsafe value.withUnsafeBytes { unsafe $0.first.map { $0 != 0 } }
    }
  }

  private func check(_ row: Int, _ column: Int) {
    precondition(row >= 0 && row < rowCount, "The result has no such row.")
    check(column)
  }

  private func check(_ column: Int) {
    precondition(column >= 0 && column < columnCount, "The result has no such column.")
  }
}

/// The outcome of a statement: its rows, borrowed for the call, or the error.
package enum PostgresOutcome: ~Copyable {
  case success(PostgresResult)
  case failure(PostgresError)
}
