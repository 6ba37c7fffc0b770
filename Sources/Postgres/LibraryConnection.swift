import CPostgreSQL

/// libpq's handle of one connection, closed with its owner.
///
/// @unchecked: it is made on one thread and then handed to the loop or thread that owns it, never
/// used by two at once.
@safe final class LibraryConnection: @unchecked Sendable {
  let handle: OpaquePointer

  /// Connects, waiting for it: call on a thread that may block.
  init(_ configuration: PostgresConfiguration) throws(PostgresError) {
    let options: [(name: String, value: String)]
    do {
      options = try configuration.libraryOptions()
    } catch {
      throw PostgresError(.other, message: error.message)
    }
    let handle = unsafe Self.withStrings(options.map(\.name)) { names in
      unsafe Self.withStrings(options.map(\.value)) { values in
        unsafe PQconnectdbParams(names, values, 0)
      }
    }
    guard let handle = unsafe handle else {
      throw PostgresError(.unavailable, message: "libpq is out of memory.")
    }
    guard unsafe PQstatus(handle) == CONNECTION_OK else {
      let error = unsafe PostgresError(connection: handle)
      unsafe PQfinish(handle)
      throw error
    }
    unsafe self.handle = unsafe handle
    unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
    // Not among what the session begins with: libpq would take the server for one that only reads, and
    // `target_session_attrs=read-write` would find none.
    if configuration.isReadOnly, configuration.pooler == .none {
      try run("SET default_transaction_read_only = on")
    }
  }

  /// How long the server takes to answer nothing. Blocks.
  func roundTrip() throws(PostgresError) -> Duration {
    let start = ContinuousClock.now
    guard let result = unsafe PQexec(handle, "") else {
      throw unsafe PostgresError(connection: handle)
    }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == PGRES_EMPTY_QUERY else {
      throw unsafe PostgresError(result: result)
    }
    return start.duration(to: .now)
  }

  private func run(_ command: String) throws(PostgresError) {
    guard let result = unsafe PQexec(handle, command) else {
      throw unsafe PostgresError(connection: handle)
    }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == PGRES_COMMAND_OK else {
      throw unsafe PostgresError(result: result)
    }
  }

  deinit {
    unsafe PQfinish(handle)
  }

  /// Whether a server answers there, whatever it says to who connects.
  static func answers(_ configuration: PostgresConfiguration) -> Bool {
    guard let options = try? configuration.libraryOptions() else { return true }
    return unsafe withStrings(options.map(\.name)) { names in
      unsafe withStrings(options.map(\.value)) { values in
        switch unsafe PQpingParams(names, values, 0) {
        case PQPING_REJECT, PQPING_NO_RESPONSE: false
        default: true
        }
      }
    }
  }

  /// A nil-terminated array of C strings.
  private static func withStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
  ) -> R {
    var bytes: [CChar] = []
    var starts: [Int] = []
    for string in strings {
      starts.append(bytes.count)
      bytes.append(contentsOf: string.utf8CString)
    }
    return unsafe bytes.withUnsafeBufferPointer { buffer in
      var pointers = unsafe starts.map { unsafe buffer.baseAddress?.advanced(by: $0) }
      unsafe pointers.append(nil)
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
  }
}

/// libpq's way to ask a server to stop what a connection is running: through a connection made for it,
/// which also finds the way through a pooler.
///
/// @unchecked: it is made, then used once, by one thread after the other.
@safe final class LibraryCancel: @unchecked Sendable {
  private let handle: OpaquePointer

  init?(_ connection: OpaquePointer) {
    guard let handle = unsafe PQgetCancel(connection) else { return nil }
    unsafe self.handle = handle
  }

  deinit { unsafe PQfreeCancel(handle) }

  /// Blocks.
  func send() {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
      _ = unsafe PQcancel(handle, message.baseAddress, 256)
    }
  }
}
