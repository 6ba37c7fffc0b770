import CPostgreSQL

/// libpq's handle of one connection, closed with its owner.
///
/// @unchecked: it is made on one thread and then handed to the loop or thread that owns it, never
/// used by two at once.
@safe final class LibraryConnection: @unchecked Sendable {
  let handle: OpaquePointer

  /// The timeline of a server that accepted writes on connect, or nil if it is unknown.
  let timeline: UInt32?

  /// Connects, waiting for it: call on a thread that may block. A host that the configuration's history speaks
  /// against is passed over for the next.
  init(_ configuration: PostgresConfiguration) throws(PostgresError) {
    var options: [(name: String, value: String)]
    do {
      options = try configuration.libraryOptions()
    } catch {
      throw PostgresError(.other, message: error.message)
    }
    var refusals: [HostRefusal] = []
    while true {
      let handle: OpaquePointer
      do throws(PostgresError) {
        unsafe handle = try unsafe Self.connect(options)
      } catch {
        guard !refusals.isEmpty else { throw error }
        throw PostgresError(
          .unavailable, sqlState: error.sqlState,
          message: (refusals.map(\.description) + [error.message]).joined(separator: ". "))
      }
      let outcome: Preparation
      do throws(PostgresError) {
        outcome = try unsafe Self.prepare(handle, configuration)
      } catch {
        unsafe PQfinish(handle)
        throw error
      }
      switch outcome {
      case .ready(let timeline):
        unsafe self.handle = unsafe handle
        self.timeline = timeline
        return
      case .refused(let refusal):
        refusals.append(refusal)
        let rest = unsafe Self.withoutHost(of: handle, options)
        unsafe PQfinish(handle)
        guard let rest else {
          throw PostgresError(
            .unavailable, message: refusals.map(\.description).joined(separator: ". "))
        }
        options = rest
      }
    }
  }

  private static func connect(
    _ options: [(name: String, value: String)]
  ) throws(PostgresError) -> OpaquePointer {
    let handle = unsafe withStrings(options.map(\.name)) { names in
      unsafe withStrings(options.map(\.value)) { values in
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
    if let refusal = unsafe Self.refusal(ofVersion: PQserverVersion(handle)) {
      unsafe PQfinish(handle)
      throw PostgresError(.other, message: refusal)
    }
    unsafe PQsetNoticeProcessor(handle, { _, _ in }, nil)
    return unsafe handle
  }

  /// Returns why a server of this version is not used; nil if it is. libpq writes 15.4 as 150004, and
  /// one that does not tell its version as 0.
  static func refusal(ofVersion version: Int32) -> String? {
    guard version > 0, version < 150_000 else { return nil }
    let (major, minor) = (
      version / 10_000, version >= 100_000 ? version % 10_000 : version / 100 % 100
    )
    return "PostgreSQL 15 or later is needed, and this one is \(major).\(minor)."
  }

  private enum Preparation {
    case ready(timeline: UInt32?)
    case refused(HostRefusal)
  }

  /// Sets what the session cannot begin with, and asks the server where it is: in one round trip.
  private static func prepare(
    _ handle: OpaquePointer, _ configuration: PostgresConfiguration
  ) throws(PostgresError) -> Preparation {
    // Behind a pooler each transaction has another server connection.
    guard configuration.pooler == .none else { return .ready(timeline: nil) }
    // Not among what the session begins with: libpq would take the server for one that only reads, and
    // `target_session_attrs=read-write` would find none.
    let setting =
      (configuration.isReadOnly ? "SET default_transaction_read_only = on;" : "")
      + (configuration.pathCommand ?? "")
    let history = configuration.history
    if configuration.checksHistory, history.isKnown {
      do throws(PostgresError) {
        let rows = try unsafe run(setting + ServerPosition.question, handle)
        guard let row = rows.first, row.count == 2,
          let position = ServerPosition(cluster: row[0], timeline: row[1])
        else { return .ready(timeline: nil) }
        if let refusal = unsafe history.refusal(of: position, at: hostName(handle)) {
          return .refused(refusal)
        }
        return .ready(timeline: position.timeline)
      } catch {
        // It was not allowed, or the server is one that has no such functions. The setting was undone with it.
        guard error.kind == .forbidden || ["42883", "0A000"].contains(error.sqlState) else {
          throw error
        }
        history.noteSilence()
      }
    }
    if !setting.isEmpty { try unsafe run(setting, handle) }
    return .ready(timeline: nil)
  }

  private static func hostName(_ handle: OpaquePointer) -> String {
    let host = unsafe PQhost(handle).map { unsafe String(cString: $0) } ?? ""
    let port = unsafe PQport(handle).map { unsafe String(cString: $0) } ?? ""
    return "\(host):\(port)"
  }

  /// The options without the host that a connection was made to; nil where no other is listed.
  private static func withoutHost(
    of handle: OpaquePointer, _ options: [(name: String, value: String)]
  ) -> [(name: String, value: String)]? {
    func list(_ name: String) -> [Substring] {
      options.last { $0.name == name }?.value.split(
        separator: ",", omittingEmptySubsequences: false) ?? []
    }
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let count = max(hosts.count, addresses.count)
    let used = unsafe hostName(handle)
    let place = (0..<count).first { place in
      let host = hosts.isEmpty ? addresses[place] : hosts[place]
      let port = ports.count == count ? ports[place] : ports.first ?? ""
      return used == "\(host):\(port.isEmpty ? "5432" : port)"
    }
    guard count > 1, let place, hosts.isEmpty || hosts.count == count else { return nil }
    return options.map { option in
      guard ["host", "hostaddr", "port"].contains(option.name) else { return option }
      var parts = option.value.split(separator: ",", omittingEmptySubsequences: false)
      if parts.count == count { parts.remove(at: place) }
      return (option.name, parts.joined(separator: ","))
    }
  }

  /// Returns the duration of an empty round trip. Blocks.
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

  /// Runs commands as one transaction.
  ///
  /// - Returns: the rows of the last one, as text.
  @discardableResult
  private static func run(
    _ commands: String, _ handle: OpaquePointer
  ) throws(PostgresError) -> [[String?]] {
    guard let result = unsafe PQexec(handle, commands) else {
      throw unsafe PostgresError(connection: handle)
    }
    defer { unsafe PQclear(result) }
    switch unsafe PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
      return unsafe (0..<PQntuples(result)).map { row in
        unsafe (0..<PQnfields(result)).map { column in
          unsafe PQgetisnull(result, row, column) != 0
            ? nil : String(cString: PQgetvalue(result, row, column))
        }
      }
    default: throw unsafe PostgresError(result: result)
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
  static func withStrings<R>(
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
