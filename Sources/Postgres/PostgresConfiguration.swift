import CPostgreSQL
import SQL

/// How to reach a database, and what each connection to it is set to.
package struct PostgresConfiguration: Sendable {
  /// The connection string of libpq: `postgresql://user@host/database?...` or `host=...
  /// dbname=...`.
  package var connectionString: String
  package var applicationName = "sociograph"
  /// Whether its connections only read.
  package var isReadOnly = false
  /// Whether its connections write. If there are several hosts, libpq then selects the one that
  /// accepts writes.
  package var writes = false
  package var statementTimeout = Duration.seconds(5)
  package var lockTimeout = Duration.seconds(1)
  package var idleInTransactionTimeout = Duration.seconds(5)
  /// The interval at which a running statement checks whether its client is still connected.
  package var clientCheckInterval = Duration.seconds(1)
  package var connectTimeout = Duration.seconds(3)
  /// The pooler in front of the server. In transaction mode, PgBouncer uses another server
  /// connection for each transaction, so a session can keep neither settings nor prepared
  /// statements.
  package var pooler = Pooler.none
  /// Where names without a namespace are looked for, in this order; what is made goes into the first.
  /// Empty: as the database has it.
  package var namespaces: [String] = []
  /// Whether the search path of the role or the database stays behind `namespaces`, for triggers and
  /// functions that need it, and behind that the namespaces of extensions, for their operators. Where
  /// requests are served or planned; setup must not find the tables of others.
  package var keepsSearchPath = false
  package var preparedStatementLimit = 200
  /// The servers that this configuration and its copies have connected to.
  package var history = ServerHistory()
  /// Whether a new connection asks the server for its place in that history. Not for what is done before anything was
  /// met: a round trip of each session.
  package var checksHistory = true
  /// Whether its connections receive changes instead of answering statements.
  var isReplicating = false
  /// Additional settings, by name.
  package var settings: [(name: String, value: String)] = []

  package enum Pooler: String, Sendable, CaseIterable {
    case none = "off"
    case transaction
  }

  /// - Throws: `PostgresConfigurationError` when libpq cannot read the string, or would take part of a
  ///   password for something else. The error has no part of the string in it but libpq's own keywords.
  package init(_ connectionString: String) throws(PostgresConfigurationError) {
    self.connectionString = connectionString
    let options = try Self.options(of: connectionString)
    let ports = options.first { $0.name == "port" }?.value ?? ""
    // libpq would say what is there instead, and that may be the end of a password.
    guard ports.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ",") }),
      !Self.hasStrayAt(connectionString)
    else {
      throw PostgresConfigurationError(
        message:
          "The database's connection string cannot be read: its port is no number, or it has "
          + "more than one @. In a URL, write @ in a password as %40, : as %3A, / as %2F and ? as %3F."
      )
    }
    try Self.refuseStandbys(
      connectionString, isInString: options.contains { $0.name == Self.choice })
  }

  /// libpq's option for which of several servers a connection may be to.
  private static let choice = "target_session_attrs"

  /// Refuses settings that select a standby. A standby lags: viewers would miss their own writes,
  /// revoked sessions would stay valid, and events would be lost.
  ///
  /// - Throws: if the string, the environment or a service file makes libpq look for a standby.
  private static func refuseStandbys(
    _ connectionString: String, isInString: Bool
  ) throws(PostgresConfigurationError) {
    guard let value = effectiveChoice(connectionString),
      ["standby", "prefer-standby", "read-only"].contains(value)
    else { return }
    let place = isInString ? "" : ", of PGTARGETSESSIONATTRS or a service file,"
    throw PostgresConfigurationError(
      message:
        "The database must be one that takes writes: \(choice)=\(value)\(place) leads to a standby, whose reads miss "
        + "what was just written. Write \(choice)=read-write, or leave it out. Standbys belong in "
        + "--replica-database, which gives each client what it wrote.")
  }

  /// The value that libpq takes in the end. It does not connect: it reads all options, and then finds a mode of TLS that
  /// it does not know.
  private static func effectiveChoice(_ connectionString: String) -> String? {
    // With a password given, libpq reads no password file.
    let names = ["dbname", "password", "sslmode"]
    let values = [connectionString, "none", "never-connect"]
    let connection = unsafe LibraryConnection.withStrings(names) { names in
      unsafe LibraryConnection.withStrings(values) { values in
        unsafe PQconnectStartParams(names, values, 1)
      }
    }
    guard let connection = unsafe connection else { return nil }
    defer { unsafe PQfinish(connection) }
    guard let options = unsafe PQconninfo(connection) else { return nil }
    defer { unsafe PQconninfoFree(options) }
    var next = unsafe options
    while let keyword = unsafe next.pointee.keyword {
      if unsafe String(cString: keyword) == choice, let value = unsafe next.pointee.val {
        return unsafe String(cString: value)
      }
      unsafe next += 1
    }
    return nil
  }

  /// Returns whether a URL has a stray `@`. User and password end at the first one, unless a `/` is
  /// before it, so another one in front of the query belongs to an unescaped password.
  private static func hasStrayAt(_ text: String) -> Bool {
    guard let scheme = text.firstRange(of: "://"),
      ["postgresql", "postgres"].contains(text[..<scheme.lowerBound])
    else { return false }
    var rest = text[scheme.upperBound...]
    if let end = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[end] == "@" {
      rest = rest[rest.index(after: end)...]
    }
    return rest.prefix { $0 != "?" }.contains("@")
  }

  /// Removes quoted text from libpq's message, because it may be part of a password.
  private static func withoutQuotes(_ message: String) -> String {
    let keywords = Set(variables.keys)
    let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      let isQuoted = index % 2 == 1
      return isQuoted && part.utf8.count > 1 && !keywords.contains(String(part)) ? "..." : part
    }.joined(separator: "\"")
  }

  /// Returns the options in the string by libpq's keywords, without defaults.
  package static func options(
    of connectionString: String
  ) throws(PostgresConfigurationError) -> [(name: String, value: String)] {
    var message: UnsafeMutablePointer<CChar>?
    guard !connectionString.utf8.contains(0),
      let options = unsafe PQconninfoParse(connectionString, &message)
    else {
      var reason = "it has a NUL character"
      if let text = unsafe message {
        reason = unsafe withoutQuotes(String(cString: text).trimmingLineEnds)
        unsafe PQfreemem(text)
      }
      throw PostgresConfigurationError(
        message: "The database's connection string cannot be read: \(reason).")
    }
    defer { unsafe PQconninfoFree(options) }
    var result: [(name: String, value: String)] = []
    var next = unsafe options
    while let keyword = unsafe next.pointee.keyword {
      if let value = unsafe next.pointee.val {
        unsafe result.append((String(cString: keyword), String(cString: value)))
      }
      unsafe next += 1
    }
    return result
  }

  /// Returns a configuration for each host of the connection string, with the same settings.
  ///
  /// - Throws: if the string cannot be read, or has another number of ports than hosts and than one.
  package func oneForEachHost() throws(PostgresConfigurationError) -> [PostgresConfiguration] {
    let options = try Self.options(of: connectionString)
    func list(_ name: String) -> [String] {
      options.first { $0.name == name }
        .map { $0.value.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        ?? []
    }
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let count = max(hosts.count, addresses.count, 1)
    guard [0, 1, count].contains(ports.count), [0, count].contains(hosts.count),
      [0, count].contains(addresses.count)
    else {
      throw PostgresConfigurationError(
        message: "Name one port for all hosts, or one for each.")
    }
    return (0..<count).map { index in
      var words = options.filter {
        !["host", "hostaddr", "port", Self.choice].contains($0.name)
      }
      if !hosts.isEmpty { words.append(("host", hosts[index])) }
      if !addresses.isEmpty { words.append(("hostaddr", addresses[index])) }
      if let port = ports.count == 1 ? ports[0] : ports.isEmpty ? nil : ports[index], !port.isEmpty
      {
        words.append(("port", port))
      }
      var configuration = self
      configuration.connectionString = words.map { word in
        let value = word.value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "\(word.name)='\(value)'"
      }.joined(separator: " ")
      return configuration
    }
  }

  /// The host and the port of the connection string, for messages.
  package var hostName: String {
    let options = (try? Self.options(of: connectionString)) ?? []
    func value(_ name: String) -> String? { options.first { $0.name == name }?.value }
    let host = value("host") ?? value("hostaddr") ?? "localhost"
    return "\(host):\(value("port") ?? "5432")"
  }

  /// PostgreSQL has the same cores as this process, as far as the string says.
  package var isOnThisMachine: Bool {
    guard pooler == .none, let options = try? Self.options(of: connectionString) else {
      return false
    }
    let hosts = options.filter { $0.name == "host" || $0.name == "hostaddr" }.map(\.value)
    return !hosts.isEmpty
      && hosts.allSatisfy { $0.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains($0) }
  }

  /// Returns the environment variables and the rest of the connection string with which another
  /// libpq program reaches the same database and search path. Other users of the machine cannot
  /// read the environment.
  package func inheritance() throws(PostgresConfigurationError) -> (
    environment: [String: String], rest: String
  ) {
    var environment: [String: String] = [:]
    var rest: [String] = []
    let variables = Self.variables
    for (name, value) in try Self.options(of: connectionString) {
      if let variable = variables[name] {
        environment[variable] = value
      } else {
        let quoted = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        rest.append("\(name)='\(quoted)'")
      }
    }
    if let searchPath {
      let own = environment["PGOPTIONS"].map { $0 + " " } ?? ""
      environment["PGOPTIONS"] = own + "-c search_path=" + Self.escaped(searchPath)
    }
    return (environment, rest.joined(separator: " "))
  }

  /// libpq's environment variables by the keywords they stand for.
  private static var variables: [String: String] {
    guard let options = unsafe PQconndefaults() else { return [:] }
    defer { unsafe PQconninfoFree(options) }
    var result: [String: String] = [:]
    var next = unsafe options
    while let keyword = unsafe next.pointee.keyword {
      if let variable = unsafe next.pointee.envvar {
        unsafe result[String(cString: keyword)] = String(cString: variable)
      }
      unsafe next += 1
    }
    return result
  }

  /// Returns keywords and values for libpq: those of the string, then those of this configuration.
  func libraryOptions() throws(PostgresConfigurationError) -> [(name: String, value: String)] {
    var options = try Self.options(of: connectionString)
    let own = options.first { $0.name == "options" }?.value ?? ""
    options.removeAll { $0.name == "options" }
    func addUnlessGiven(_ name: String, _ value: String) {
      if !options.contains(where: { $0.name == name }) { options.append((name, value)) }
    }
    if writes, options.contains(where: { $0.name.hasPrefix("host") && $0.value.contains(",") }) {
      let attributes = options.first { $0.name == "target_session_attrs" }?.value
      if attributes != "primary" {
        options.removeAll { $0.name == "target_session_attrs" }
        options.append(("target_session_attrs", "read-write"))
      }
    }
    addUnlessGiven("application_name", applicationName)
    addUnlessGiven("connect_timeout", String(max(2, connectTimeout.components.seconds)))
    addUnlessGiven("keepalives_idle", "30")
    addUnlessGiven("keepalives_interval", "5")
    addUnlessGiven("keepalives_count", "3")
    addUnlessGiven("tcp_user_timeout", "15000")
    options.append(("client_encoding", "UTF8"))
    if isReplicating { options.append(("replication", "database")) }
    guard pooler == .none else {
      // Poolers take few parameters at the start, and this one is not among them.
      if !own.isEmpty { options.append(("options", own)) }
      return options
    }
    let text = sessionSettings.map { "-c \($0.name)=\(Self.escaped($0.value))" }
    options.append(("options", ([own] + text).filter { !$0.isEmpty }.joined(separator: " ")))
    return options
  }

  /// Run at the start of each transaction where a session cannot keep them; nil where it can.
  var transactionSettings: String? {
    guard pooler == .transaction else { return nil }
    let all = sessionSettings + (isReadOnly ? [("transaction_read_only", "on")] : [])
    var calls = all.map { setting in
      "set_config(\(Self.literal(setting.name)), \(Self.literal(setting.value)), true)"
    }
    if let longerPath { calls.append("set_config('search_path', \(longerPath), true)") }
    return "SELECT " + calls.joined(separator: ", ")
  }

  /// Puts `namespaces` in front of the search path that the session begins with; nil if they are all
  /// of it.
  var pathCommand: String? {
    longerPath.map { "SELECT pg_catalog.set_config('search_path', \($0), false);" }
  }

  private var longerPath: String? {
    guard keepsSearchPath, let searchPath else { return nil }
    return "pg_catalog.concat_ws(', ', \(Self.literal(searchPath)), "
      + "nullif(pg_catalog.current_setting('search_path'), ''), \(Self.extensionNamespaces))"
  }

  private static let extensionNamespaces =
    "(SELECT pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(n.nspname), ', ') "
    + "FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace "
    + "WHERE n.nspname <> 'pg_catalog')"

  private static func literal(_ text: String) -> String {
    "E'" + text.replacing("\\", with: "\\\\").replacing("'", with: "''") + "'"
  }

  private var sessionSettings: [(name: String, value: String)] {
    var all: [(name: String, value: String)] = [
      // One plan per statement: the choices that change a plan are part of its text.
      ("plan_cache_mode", "force_generic_plan"),
      ("jit", "off"),
      // Helpers read ahead of what a page needs, and the cores are for other requests.
      ("max_parallel_workers_per_gather", "0"),
      ("statement_timeout", "\(statementTimeout.milliseconds)ms"),
      ("lock_timeout", "\(lockTimeout.milliseconds)ms"),
      ("idle_in_transaction_session_timeout", "\(idleInTransactionTimeout.milliseconds)ms"),
      ("client_connection_check_interval", "\(clientCheckInterval.milliseconds)ms"),
      ("TimeZone", "UTC"),
      // The forms of values, and what literals mean: roles and databases may have others.
      ("DateStyle", "ISO"), ("IntervalStyle", "postgres"), ("bytea_output", "hex"),
      ("extra_float_digits", "1"), ("lc_monetary", "C"), ("standard_conforming_strings", "on"),
      ("array_nulls", "on"), ("transform_null_equals", "off"),
    ]
    if let searchPath, !keepsSearchPath { all.append(("search_path", searchPath)) }
    return all + settings
  }

  private var searchPath: String? {
    namespaces.isEmpty ? nil : namespaces.map(SQLQuoting.identifier).joined(separator: ", ")
  }

  /// The server splits `options` at blanks that no backslash precedes.
  private static func escaped(_ value: String) -> String {
    var result = ""
    for character in value {
      if character == " " || character == "\\" { result.append("\\") }
      result.append(character)
    }
    return result
  }
}

package struct PostgresConfigurationError: Error, Sendable, CustomStringConvertible {
  package let message: String
  package var description: String { message }
}

extension Duration {
  var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
