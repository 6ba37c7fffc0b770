import CPostgreSQL
import SQL

/// A blocking connection for setup work: migrations, loading, checks. It belongs to one thread,
/// which waits in its calls; nothing that serves requests uses it.
@safe package final class PostgresSession {
  let library: LibraryConnection
  private let history: ServerHistory
  private let notices: Notices

  private final class Notices {
    let report: (String) -> Void
    init(_ report: @escaping (String) -> Void) { self.report = report }
  }

  /// - Parameter onNotice: what the server remarks, one text each.
  package init(
    _ configuration: PostgresConfiguration, onNotice: @escaping (String) -> Void = { _ in }
  ) throws(PostgresError) {
    library = try LibraryConnection(configuration)
    history = configuration.history
    notices = Notices(onNotice)
    unsafe PQsetNoticeReceiver(
      library.handle,
      { context, result in
        guard let context = unsafe context, let result = unsafe result,
          let text = unsafe PQresultErrorField(result, Int32(DIAGNOSTIC_MESSAGE))
        else { return }
        let notices = unsafe Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
        unsafe notices.report(String(cString: text))
      }, Unmanaged.passUnretained(notices).toOpaque())
  }

  /// Whether it is worth waiting for: no server is there, or it is still starting. One that answers and
  /// does not let us in will not do so later either. Blocks.
  package static func isWorthWaitingFor(_ configuration: PostgresConfiguration) -> Bool {
    !LibraryConnection.answers(configuration)
  }

  var handle: OpaquePointer { unsafe library.handle }

  /// Another server has become the primary since it was opened.
  package var isOutdated: Bool { library.timeline.map { $0 < history.timeline } ?? false }

  package var processID: Int32 { unsafe PQbackendPID(library.handle) }

  /// Runs commands, separated by semicolons, as one transaction unless they say otherwise.
  ///
  /// - Returns: the rows of the last one, as text.
  @discardableResult
  package func execute(_ text: String) throws(PostgresError) -> [[String?]] {
    try refuseNUL(text)
    return try unsafe rows(PQexec(library.handle, text))
  }

  /// Reads which entries of the contract with the program the database has.
  package func contract() throws(PostgresError) -> ProvidedContract {
    ProvidedContract(rows: try execute(ProvidedContract.question))
  }

  /// Runs one command; a relation that is not there has no rows. Asking first would take a second round trip.
  package func rowsIfThere(_ text: String) throws(PostgresError) -> [[String?]] {
    do {
      return try execute(text)
    } catch {
      guard error.sqlState == "42P01" else { throw error }
      return []
    }
  }

  /// Runs commands as `execute` does, and names the columns of the last one's rows.
  package func table(
    _ text: String
  ) throws(PostgresError) -> (columns: [String], rows: [[String?]]) {
    try refuseNUL(text)
    guard let result = unsafe PQexec(library.handle, text) else {
      throw unsafe PostgresError(connection: library.handle)
    }
    let columns = unsafe (0..<PQnfields(result)).map { column in
      unsafe PQfname(result, column).map { unsafe String(cString: $0) } ?? ""
    }
    return (columns, try unsafe rows(result))
  }

  /// Runs one command with parameters in text format.
  @discardableResult
  package func execute(
    _ text: String, _ parameters: [String?]
  ) throws(PostgresError) -> [[String?]] {
    try refuseNUL(text)
    var values = PostgresParameters()
    for parameter in parameters {
      if let parameter {
        try refuseNUL(parameter)
        values.append(inTextFormat: parameter)
      } else {
        values.appendNull()
      }
    }
    return try execute(text, binding: values)
  }

  /// Runs one command with parameters in whatever format they were appended; rows come as text.
  package func execute(
    _ text: String, binding values: PostgresParameters
  ) throws(PostgresError) -> [[String?]] {
    try refuseNUL(text)
    let result = unsafe values.withLibraryArrays { addresses, lengths, formats in
      unsafe PQexecParams(
        library.handle, text, Int32(values.count), nil, addresses, lengths, formats, 0)
    }
    return try unsafe rows(result)
  }

  /// Runs `body` between `BEGIN` and `COMMIT`, or `ROLLBACK` when it throws.
  package func transaction<R>(_ body: () throws -> R) throws -> R {
    try execute("BEGIN")
    do {
      let value = try body()
      try execute("COMMIT")
      return value
    } catch {
      _ = try? execute("ROLLBACK")
      throw error
    }
  }

  // MARK: COPY

  /// Runs a `COPY ... TO STDOUT`, handing over its messages: a row each.
  package func copyOut(_ text: String, _ take: (RawSpan) throws -> Void) throws {
    try refuseNUL(text)
    let handle = unsafe library.handle
    try unsafe expect(PGRES_COPY_OUT, PQexec(handle, text))
    var failure: (any Error)?
    while true {
      var buffer: UnsafeMutablePointer<CChar>?
      let length = unsafe PQgetCopyData(handle, &buffer, 0)
      guard length >= 0, let bytes = unsafe buffer else { break }
      if failure == nil {
        do {
          try take(
            unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bytes), count: Int(length)).bytes)
        } catch {
          // The rest is not wanted, but must be taken for the connection to be used again.
          failure = error
          cancel()
        }
      }
      unsafe PQfreemem(bytes)
    }
    do {
      _ = try finish()
    } catch {
      throw failure ?? error
    }
    if let failure { throw failure }
  }

  /// Runs a `COPY ... FROM STDIN`; `body` is given what takes its bytes.
  ///
  /// - Returns: how many rows it loaded.
  @discardableResult
  package func copyIn(
    _ text: String, _ body: (PostgresCopyWriter) throws -> Void
  ) throws -> Int {
    try refuseNUL(text)
    let handle = unsafe library.handle
    try unsafe expect(PGRES_COPY_IN, PQexec(handle, text))
    do {
      try body(PostgresCopyWriter(library: library))
    } catch {
      _ = unsafe PQputCopyEnd(handle, "The source of the rows failed.")
      do {
        _ = try finish()
      } catch {
        // The server's error about the rows says more than the failure to send them.
        if error.sqlState != "57014" { throw error }
      }
      throw error
    }
    guard unsafe PQputCopyEnd(handle, nil) == 1 else {
      throw unsafe PostgresError(connection: handle)
    }
    return try finish()
  }

  /// Asks the server to stop what this session is running; any thread may do it, and it blocks.
  package func cancel() {
    unsafe LibraryCancel(library.handle)?.send()
  }

  /// Takes the results that are left; the number of rows the command touched.
  private func finish() throws(PostgresError) -> Int {
    var rows = 0
    var failure: PostgresError?
    while let result = unsafe PQgetResult(library.handle) {
      if unsafe PQresultStatus(result) == PGRES_FATAL_ERROR {
        failure = failure ?? (unsafe PostgresError(result: result))
      } else {
        rows = unsafe Int(String(cString: PQcmdTuples(result))) ?? rows
      }
      unsafe PQclear(result)
    }
    if let failure { throw failure }
    return rows
  }

  private func expect(
    _ status: ExecStatusType, _ result: OpaquePointer?
  ) throws(PostgresError) {
    guard let result = unsafe result else {
      throw unsafe PostgresError(connection: library.handle)
    }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == status else {
      throw unsafe PQresultStatus(result) == PGRES_FATAL_ERROR
        ? PostgresError(result: result)
        : PostgresError(.other, message: "The command is not the COPY it should be.")
    }
  }

  /// Takes the result's memory.
  func rows(_ result: OpaquePointer?) throws(PostgresError) -> [[String?]] {
    guard let result = unsafe result else {
      throw unsafe PostgresError(connection: library.handle)
    }
    defer { unsafe PQclear(result) }
    switch unsafe PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return []
    case PGRES_TUPLES_OK:
      return unsafe (0..<PQntuples(result)).map { row in
        unsafe (0..<PQnfields(result)).map { column in
          unsafe PQgetisnull(result, row, column) != 0
            ? nil : String(cString: PQgetvalue(result, row, column))
        }
      }
    case PGRES_FATAL_ERROR: throw unsafe PostgresError(result: result)
    default: throw PostgresError(.other, message: "The command asks for data, or gives it.")
    }
  }

  func refuseNUL(_ text: String) throws(PostgresError) {
    if text.utf8.contains(0) {
      throw PostgresError(.invalidEncoding, message: "The text has a NUL character.")
    }
  }
}

/// Takes the bytes of a `COPY ... FROM STDIN`, in pieces of any size.
package struct PostgresCopyWriter {
  fileprivate let library: LibraryConnection

  /// Waits while the server is behind.
  package func write(_ bytes: RawSpan) throws(PostgresError) {
    let isTaken = unsafe bytes.withUnsafeBytes { buffer in
      unsafe PQputCopyData(
        library.handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(clamping: buffer.count)) == 1
    }
    if !isTaken { throw unsafe PostgresError(connection: library.handle) }
  }
}
