import CPostgreSQL

@testable import Postgres

extension PostgresResult {
  /// The result of a statement that returned one column, a row for each of the values.
  static func fabricated(_ values: [[UInt8]]) -> PostgresResult {
    guard let result = unsafe PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK) else {
      preconditionFailure("There is no memory for a result.")
    }
    var name = Array("row".utf8CString)
    unsafe name.withUnsafeMutableBufferPointer { name in
      var column = unsafe PGresAttDesc(
        name: name.baseAddress, tableid: 0, columnid: 0, format: 1, typid: 2249, typlen: -1,
        atttypmod: -1)
      _ = unsafe PQsetResultAttrs(result, 1, &column)
    }
    for (row, value) in values.enumerated() {
      var bytes = value.map { CChar(bitPattern: $0) }
      _ = unsafe PQsetvalue(result, Int32(row), 0, &bytes, Int32(bytes.count))
    }
    return unsafe PostgresResult(owning: result)
  }
}
