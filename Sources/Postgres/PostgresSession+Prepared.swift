import CPostgreSQL

/// Prepared statements as the server's own connections have them.
extension PostgresSession {
  /// Prepares it under its name.
  package func prepare(_ statement: PostgresStatement) throws(PostgresError) {
    guard
      let result = unsafe PQprepare(
        handle, statement.nameBytes, statement.textBytes, 0, nil)
    else { throw unsafe PostgresError(connection: handle) }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else {
      throw unsafe PostgresError(result: result)
    }
  }

  /// Runs a statement that was prepared, its rows in binary.
  ///
  /// - Returns: the bytes of the rows' values.
  package func executePrepared(
    _ statement: PostgresStatement, _ parameters: PostgresParameters
  ) throws(PostgresError) -> Int {
    let result = unsafe parameters.withLibraryArrays { addresses, lengths, formats in
      unsafe PQexecPrepared(
        handle, statement.nameBytes, Int32(parameters.count), addresses, lengths, formats, 1)
    }
    guard let result = unsafe result else { throw unsafe PostgresError(connection: handle) }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == PGRES_TUPLES_OK else {
      throw unsafe PostgresError(result: result)
    }
    var bytes = 0
    for row in 0..<(unsafe PQntuples(result)) {
      for column in 0..<(unsafe PQnfields(result)) {
        bytes += unsafe Int(PQgetlength(result, row, column))
      }
    }
    return bytes
  }

  /// What to write behind `EXECUTE` for these values: SQL literals, each with its type.
  package func literals(
    of statement: PostgresStatement, _ parameters: PostgresParameters
  ) throws(PostgresError) -> [String] {
    guard parameters.count > 0 else { return [] }
    let types = try execute(
      "SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = $1",
      [statement.name]
    ).compactMap { $0.first ?? nil }
    guard types.count == parameters.count else {
      throw PostgresError(.other, message: "The statement is not prepared.")
    }
    let casts = types.enumerated().map { index, type in
      "quote_nullable($\(index + 1)::\(type)::text)"
    }
    let row = try execute("SELECT \(casts.joined(separator: ", "))", binding: parameters)
    return zip(row.first ?? [], types).map { value, type in "\(value ?? "NULL")::\(type)" }
  }
}
