import CPostgreSQL
import Glibc

/// A blocking connection that receives the changes of a database from PostgreSQL's log, as an output
/// plugin writes them. It belongs to one thread.
///
/// Its replication slot is temporary: it is gone with the connection, however that ends, so it never
/// keeps the log of a server that nobody reads. What is committed after the start is received once.
@safe package final class ReplicationSession {
  /// A message of the output plugin.
  package struct Message {
    /// The place in the log that it is about.
    package let position: UInt64
    package let bytes: [UInt8]
  }

  private let library: LibraryConnection
  /// The place in the log up to which everything was taken.
  private var taken: UInt64 = 0
  private var confirmedAt = ContinuousClock.now

  /// Connects, makes the slot and starts. Blocks until all transactions that were open at the
  /// beginning have ended.
  ///
  /// - Parameters:
  ///   - plugin: the output plugin.
  ///   - options: its options, by name.
  /// - Throws: if the server does not keep what decoding needs, or the role may not read it.
  package init(
    _ configuration: PostgresConfiguration, plugin: String,
    options: [(name: String, value: String)]
  ) throws(PostgresError) {
    var configuration = configuration
    configuration.isReplicating = true
    configuration.isReadOnly = false
    // The slot waits for transactions, which are no fault of it.
    configuration.lockTimeout = .zero
    configuration.statementTimeout = .zero
    // A walsender takes no other questions.
    configuration.checksHistory = false
    configuration.history = ServerHistory()
    library = try LibraryConnection(configuration)
    let slot = "sociograph_\(UInt64.random(in: 0 ... .max))"
    try run(
      "CREATE_REPLICATION_SLOT \(slot) TEMPORARY LOGICAL \(plugin) NOEXPORT_SNAPSHOT",
      PGRES_TUPLES_OK)
    let list = options.map { "\"\($0.name)\" '\($0.value)'" }.joined(separator: ", ")
    try run("START_REPLICATION SLOT \(slot) LOGICAL 0/0 (\(list))", PGRES_COPY_BOTH)
  }

  private func run(_ command: String, _ status: ExecStatusType) throws(PostgresError) {
    guard let result = unsafe PQexec(library.handle, command) else {
      throw unsafe PostgresError(connection: library.handle)
    }
    defer { unsafe PQclear(result) }
    guard unsafe PQresultStatus(result) == status else {
      throw unsafe PostgresError(result: result)
    }
  }

  /// Waits for messages, until a descriptor is readable, or for a maximum time.
  package func wait(orReadable wake: Int32, atMost patience: Duration) {
    var entries = [
      pollfd(fd: unsafe PQsocket(library.handle), events: Int16(POLLIN), revents: 0),
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&entries, 2, Int32(clamping: max(0, patience.nanoseconds / 1_000_000)))
  }

  /// Returns the next message; nil if none has arrived.
  ///
  /// - Parameter isIdle: whether everything received was taken: the server's log may go then.
  package func next(isIdle: Bool) throws(PostgresError) -> Message? {
    while true {
      var buffer: UnsafeMutablePointer<CChar>?
      var length = unsafe PQgetCopyData(library.handle, &buffer, 1)
      if length == 0 {
        guard unsafe PQconsumeInput(library.handle) == 1 else {
          throw unsafe PostgresError(connection: library.handle)
        }
        length = unsafe PQgetCopyData(library.handle, &buffer, 1)
        if length == 0 { return nil }
      }
      guard length > 0, let buffer = unsafe buffer else { throw ended() }
      defer { unsafe PQfreemem(buffer) }
      let bytes = unsafe [UInt8](
        UnsafeRawBufferPointer(start: UnsafeRawPointer(buffer), count: Int(length)))
      switch bytes.first {
      // The start and the end of the log that it has, and the time.
      case UInt8(ascii: "w")? where bytes.count >= 25:
        return Message(position: Self.number(bytes[1..<9]), bytes: Array(bytes[25...]))
      case UInt8(ascii: "k")? where bytes.count >= 18:
        if isIdle { taken = max(taken, Self.number(bytes[1..<9])) }
        if bytes[17] != 0 { try confirm(taken) }
      default: continue
      }
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func ended() -> PostgresError {
    if let result = unsafe PQgetResult(library.handle) {
      defer { unsafe PQclear(result) }
      if unsafe PQresultStatus(result) == PGRES_FATAL_ERROR {
        return unsafe PostgresError(result: result)
      }
    }
    return PostgresError(.lost, message: "The server has ended the stream of changes.")
  }

  /// Says that everything up to a place was taken, at most each 100 ms.
  package func take(_ position: UInt64) throws(PostgresError) {
    taken = max(taken, position)
    if ContinuousClock.now - confirmedAt > .milliseconds(100) { try confirm(taken) }
  }

  /// Sends a standby's status.
  private func confirm(_ position: UInt64) throws(PostgresError) {
    confirmedAt = .now
    var message: [UInt8] = [UInt8(ascii: "r")]
    func append(_ number: UInt64) {
      for shift in stride(from: 56, through: 0, by: -8) {
        message.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
      }
    }
    // Written, flushed and applied; the time, and no answer is wanted.
    for _ in 0..<3 { append(position) }
    append(0)
    message.append(0)
    let isSent = unsafe message.withUnsafeBytes { bytes in
      unsafe PQputCopyData(
        library.handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32(bytes.count)) == 1 && PQflush(library.handle) == 0
    }
    if !isSent { throw unsafe PostgresError(connection: library.handle) }
  }
}
