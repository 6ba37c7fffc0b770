import Accounts
import DatabaseSetup
import Foundation
import GraphQLExecution
import GraphQLPlanning
import GraphQLSchema
import GraphQLTransport
import HTTP
import Postgres
import SQL
import Server

/// The options of `serve`, checked before anything is started.
struct ServeSettings {
  var server = RunningServer.Settings()
  let schema: String
  /// The folder of SQL; nil if the database is created elsewhere.
  let sql: String?
  /// The signer of cursors; nil for the key that the database has.
  let cursorSigner: CursorSigner?
  let pooler: PostgresConfiguration.Pooler
  let statementTimeout: Duration
  let shutdownDelay: Duration
  /// Whether a changed schema is served without a restart.
  let watches: Bool
  /// Whether it serves a gateway.
  let isSubgraph: Bool
  /// Whether the operator named a list of passwords to refuse.
  let namesCommonPasswords: Bool
  let photos: PhotoSettings
  /// The base of links; nil if the graph has its own.
  let publicURL: String?
  /// The standbys, as named by the operator; nil without any.
  let replicas: ReplicaSettings?
  /// The role of clients without one, if each client has a role of PostgreSQL; otherwise nil.
  let anonymousRole: String?
  /// Whether live queries get changes from PostgreSQL's log.
  let decodesChanges: Bool
  /// The connection string of what receives them; nil for that of statements.
  let liveDatabase: String?
  /// The user to switch to once the sockets are open.
  let account: ServiceUser?
  let logFile: LogFile?
  /// A remark for the operator if little memory lowers a default.
  let memoryHint: String?

  /// Reads the options.
  ///
  /// - Throws: a `UsageError` or `CommandFailure` that names the setting at fault.
  init(_ options: CommandOptions, memory: MemoryLimit? = .current()) throws {
    let listen = options.text("listen") ?? ""
    guard let address = HTTPAddress(listen) else {
      throw UsageError(
        "\(options.origin("listen")) must be HOST:PORT or unix:PATH, not \"\(listen)\".")
    }
    server.address = address
    server.loopCount =
      try options.int("loops", in: 1...64)
      ?? min(ProcessInfo.processInfo.activeProcessorCount, 64)
    if let size = try options.int("pool-size", in: 1...64) {
      server.pool = PoolSettings(size: size)
    }
    server.runsTasks = try options.isSet("tasks")
    server.writers = try options.int("writers", in: 1...64) ?? server.writers
    server.mutationTimeout =
      try options.duration("mutation-timeout", in: .milliseconds(1)...(.seconds(3600)))
      ?? server.mutationTimeout
    server.log.format = try options.choice("log-format", as: LogLine.Format.self) ?? .text
    server.log.access = try Self.accessLog(options)
    server.log.slowOperation =
      try options.text("slow-operation") == "off"
      ? nil : options.duration("slow-operation", in: .zero...(.seconds(3600)))
    server.adminAddress = try Self.adminAddress(options)
    server.traces = try Self.traces(options)
    statementTimeout =
      try options.duration("statement-timeout", in: .milliseconds(1)...(.seconds(3600)))
      ?? .seconds(5)
    server.pool.operationDeadline =
      try options.duration("operation-timeout", in: .milliseconds(1)...(.seconds(3600)))
      ?? server.pool.operationDeadline
    server.pool.queueWait =
      try options.duration("queue-timeout", in: .milliseconds(1)...(.seconds(3600)))
      ?? server.pool.queueWait
    shutdownDelay =
      try options.duration("shutdown-delay", in: .zero...(.seconds(8)))
      // An embedded database has one server: an operator who stops it starts the next one.
      ?? (options.text("database") == nil ? .zero : .seconds(5))
    watches = try options.isSet("watch")
    pooler = try Self.pooler(options)
    publicURL = try PublicURL.read(options)
    account = try options.text("user").map { try ServiceUser($0, options.origin("user")) }
    logFile = options.text("log-file").map { LogFile(path: $0) }
    try server.http.read(options)
    memoryHint = server.http.fit(into: memory, options)
    // The last resort comes after the deadline it backs up.
    server.http.answer = max(
      server.http.answer, server.pool.operationDeadline + .seconds(5),
      server.mutationTimeout + .seconds(5))
    try server.endpoint.read(options)
    var urls = Array(server.endpoint.crossOrigin.allowedOrigins)
    if let publicURL { urls.append(publicURL) }
    server.endpoint.crossOrigin.hosts = ServedHosts(at: address, named: urls)
    server.endpoint.crossOrigin.allowsLocalhost = options.text("database") == nil
    try server.execution.read(options)
    server.introspection =
      try options.choice("introspection", as: IntrospectionAccess.self) ?? .all
    server.rateLimits = try RateLimiter.Settings(
      viewer: Self.rate("rate-limit", options), address: Self.rate("rate-limit-address", options))
    server.tls = try Self.tls(options)
    server.speaksHTTP2 = try options.isSet("http2")
    guard var proxies = TrustedProxies(options.list("trusted-proxies")) else {
      throw UsageError(
        "\(options.origin("trusted-proxies")) must list addresses or networks such as 10.0.0.1 or "
          + "10.1.0.0/16, not \"\(options.text("trusted-proxies") ?? "")\".")
    }
    proxies.speakProxyProtocol = try options.isSet("proxy-protocol")
    server.trustedProxies = proxies
    server.graphiQL = try Self.graphiQL(options)
    server.site = try options.text("docs").map { try Self.site($0, options) }
    isSubgraph = try options.isSet("subgraph")
    server.servesTools = try options.isSet("mcp")
    if server.servesTools, options.text("trusted-documents") == nil {
      throw UsageError("\(options.origin("mcp")) needs --trusted-documents as well.")
    }
    server.usesConventions = try options.isSet("opentelemetry-names")
    server.answerCacheBytes = try options.int("answer-cache", in: 0...1 << 40) ?? 0
    server.serverTiming =
      try options.choice("server-timing", as: ServerTimingAccess.self) ?? .off
    try server.accounts.read(options)
    photos = try PhotoSettings(options)
    server.tokenIssuers = try AccountInputs.Settings.tokenIssuers(options)
    server.outbox = try options.text("outbox").map {
      try OutboxSettings.read($0, options, workers: "outbox-workers", timeout: "outbox-timeout")
    }
    server.outbox?.box = server.accounts.box
    schema = try SettingOptions.shippedFolder("Schema", "schema", options)
    sql = try SettingOptions.migrations(options)
    if options.text("schema") != nil {
      server.pageContent.schema = URL(filePath: schema).lastPathComponent
    }
    if options.text("database") == nil, let sql {
      let page = FileManager.default.contents(atPath: sql + "/demo/page.json")
      server.pageContent.demo = page.map { String(decoding: $0, as: UTF8.self) }
    }
    server.explains =
      options.isTold("explain-in-page")
      ? try options.isSet("explain-in-page") : server.pageContent.demo != nil
    cursorSigner = try options.text("cursor-key").map { try Self.cursorSigner($0, options) }
    replicas = try Self.replicas(options)
    anonymousRole = try Self.anonymousRole(options)
    decodesChanges = try options.choice("live", as: ChangeSource.self) == .decoding
    liveDatabase = options.text("live-database")
    if liveDatabase != nil, !decodesChanges {
      throw UsageError("\(options.origin("live-database")) needs --live decoding as well.")
    }
    namesCommonPasswords = options.isTold("common-passwords")
    try refuseContradictions(options)
    let others = server.loopCount * (server.pool.size + 10) + max(server.writers, server.loopCount)
    if let shortage = HTTPSocketQuota.descriptorShortage(server.http, others: others) {
      throw CommandFailure("\(options.origin("maximum-connections")): \(shortage)")
    }
  }

  /// Reads the folders of schema and SQL, so that errors in them are reported first.
  func readFolders() throws -> StorageMapping {
    let mapping = try SchemaFiles.load(schema, isSubgraph: isSubgraph)
    if server.answerCacheBytes > 0, mapping.events.isEmpty {
      throw CommandFailure(
        "--answer-cache: the schema has no @event, by which the graph reports its changes, so that no "
          + "response can be kept; leave the option out.")
    }
    if namesCommonPasswords, !mapping.takesPasswords {
      throw CommandFailure(
        "--common-passwords: the schema has no @password, so that nobody sets one; leave the option "
          + "out.")
    }
    do {
      if let sql { _ = try Migrations.read(sql) }
    } catch {
      throw CommandFailure("--sql: \(error)")
    }
    return mapping
  }

  /// Reads the key of cursors from a file.
  private static func cursorSigner(
    _ file: String, _ options: CommandOptions
  ) throws -> CursorSigner {
    let bytes = try Console.contents(of: file)
    guard bytes.count >= 32, let signer = CursorSigner(bytes: bytes) else {
      throw UsageError(
        "\(options.origin("cursor-key")): \"\(file)\" has \(bytes.count) bytes, and a key at least 32; "
          + "make one with: head -c 32 /dev/urandom > \(file)")
    }
    return signer
  }

  /// Refuses options that have no effect without another one.
  private func refuseIdle(_ options: CommandOptions) throws(UsageError) {
    let masters = [
      ("outbox-workers", "outbox"), ("outbox-timeout", "outbox"),
      ("replica-lag", "replica-database"), ("proxy-protocol", "trusted-proxies"),
      ("trace-sample", "otlp-endpoint"),
    ]
    for (name, master) in masters where options.isTold(name) && options.text(master) == nil {
      // The collector may be named by a variable of OpenTelemetry.
      if name == "trace-sample", server.traces != nil { continue }
      throw UsageError("\(options.origin(name)) needs --\(master) as well.")
    }
    for name in ["photo-moderation", "maximum-photo-bytes", "maximum-photo-pixels"]
    where options.isTold(name) && photos.folder == nil {
      throw UsageError("\(options.origin(name)) needs --photos as well.")
    }
    if decodesChanges, server.answerCacheBytes > 0 {
      throw UsageError("\(options.origin("answer-cache")) cannot be used with --live decoding.")
    }
  }

  /// Refuses a part that may take longer than the whole, because it would never finish.
  private func refuseContradictions(_ options: CommandOptions) throws(UsageError) {
    try refuseIdle(options)
    if replicas != nil {
      guard options.text("database") != nil else {
        throw UsageError(
          "\(options.origin("replica-database")) needs --database, the primary of these standbys.")
      }
      for (name, isSet) in [
        ("answer-cache", server.answerCacheBytes > 0), ("pooler", pooler != .none),
      ] where isSet {
        throw UsageError(
          "\(options.origin("replica-database")) cannot be used with --\(name).")
      }
    }
    if anonymousRole != nil {
      for (name, isSet) in [
        ("replica-database", replicas != nil), ("sql", sql != nil),
        ("outbox", server.outbox != nil),
      ] where isSet {
        throw UsageError("\(options.origin("roles")) claims cannot be used with --\(name).")
      }
    }
    if server.explains, pooler != .none {
      throw UsageError(
        "\(options.origin("explain-in-page")) cannot be used with --pooler, through which statements "
          + "have no names.")
    }
    let whole = server.pool.operationDeadline
    for (name, part) in [
      ("statement-timeout", statementTimeout), ("queue-timeout", server.pool.queueWait),
    ] where part > whole {
      throw UsageError(
        "\(options.origin(name)) (\(CommandOptions.words(part))) must not be longer than "
          + "\(options.origin("operation-timeout")) (\(CommandOptions.words(whole))), which ends "
          + "what takes longer.")
    }
  }

  private enum ChangeSource: String, CaseIterable { case reported, decoding }

  private enum RoleSource: String, CaseIterable { case server, claims }

  private static func anonymousRole(_ options: CommandOptions) throws(UsageError) -> String? {
    let role = options.text("anonymous-role")
    guard try options.choice("roles", as: RoleSource.self) == .claims else {
      if role == nil { return nil }
      throw UsageError("\(options.origin("anonymous-role")) needs --roles claims as well.")
    }
    guard let role else {
      throw UsageError(
        "\(options.origin("roles")) claims needs --anonymous-role ROLE, the role of requests without a token."
      )
    }
    guard options.text("database") != nil else {
      throw UsageError(
        "\(options.origin("roles")) claims needs --database URL, whose policies decide.")
    }
    return role
  }

  private static func replicas(_ options: CommandOptions) throws -> ReplicaSettings? {
    let lag = try options.duration("replica-lag", in: .milliseconds(100)...(.seconds(3600)))
    guard let text = options.text("replica-database") else { return nil }
    do throws(PostgresConfigurationError) {
      var replicas = ReplicaSettings(try PostgresConfiguration(text).oneForEachHost())
      if let lag { replicas.router.maximumLag = lag }
      return replicas
    } catch {
      throw UsageError("\(options.origin("replica-database")): \(error)")
    }
  }

  private static func pooler(
    _ options: CommandOptions
  ) throws(UsageError) -> PostgresConfiguration.Pooler {
    let pooler =
      try options.choice("pooler", as: PostgresConfiguration.Pooler.self) ?? .none
    guard pooler != .none else {
      if options.text("direct-database") == nil { return pooler }
      throw UsageError("\(options.origin("direct-database")) is for use with --pooler transaction.")
    }
    guard options.text("database") != nil, options.text("direct-database") != nil else {
      throw UsageError(
        "\(options.origin("pooler")) needs --database URL, which leads through the pooler, and "
          + "--direct-database URL, which does not: the start, migrations and background tasks "
          + "need a session of their own.")
    }
    return pooler
  }

  private static func rate(
    _ name: String, _ options: CommandOptions
  ) throws(UsageError) -> RateLimiter.Rate? {
    let text = options.text(name) ?? "off"
    if text == "off" { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let maximum = Int(parts[0]), let perSecond = Int(parts[1]),
      max(maximum, perSecond) <= 1_000_000_000,
      let rate = RateLimiter.Rate(maximum: maximum, perSecond: perSecond)
    else {
      throw UsageError(
        "\(options.origin(name)) must be off, or burst and refill per second, such as "
          + "\(RateLimiter.Rate.standardViewer), not \"\(text)\".")
    }
    return rate
  }

  private static func accessLog(_ options: CommandOptions) throws(UsageError)
    -> ServiceLog.AccessLog
  {
    switch options.text("access-log") ?? "off" {
    case "off": return .off
    case "errors": return .errors
    case "all": return .all
    case let text:
      guard text.hasSuffix("%"), let part = Double(text.dropLast()), part > 0, part <= 100 else {
        throw UsageError(
          "\(options.origin("access-log")) must be off, errors, all or a part such as 5%, "
            + "not \"\(text)\".")
      }
      return .sampled(part / 100)
    }
  }

  private static func adminAddress(_ options: CommandOptions) throws(UsageError) -> HTTPAddress? {
    guard let text = options.text("admin-listen") else { return nil }
    guard let address = HTTPAddress(text) else {
      throw UsageError(
        "\(options.origin("admin-listen")) must be HOST:PORT or unix:PATH, not \"\(text)\".")
    }
    return address
  }

  private static func traces(_ options: CommandOptions) throws(UsageError)
    -> TraceExporter.Settings?
  {
    let text = options.text("trace-sample") ?? ""
    guard let sample = Double(text), (0...1).contains(sample) else {
      throw UsageError(
        "\(options.origin("trace-sample")) must be a number from 0 to 1, not \"\(text)\".")
    }
    let environment: TraceEnvironment
    do throws(TraceEnvironment.Fault) {
      environment = try TraceEnvironment(ProcessInfo.processInfo.environment)
    } catch {
      throw UsageError("\(error)")
    }
    let option = options.text("otlp-endpoint")
    guard let url = option ?? environment.endpoint else { return nil }
    guard let endpoint = TraceEndpoint(url) else {
      throw UsageError(
        "\(option == nil ? environment.origin : options.origin("otlp-endpoint")) must be an http URL such as http://127.0.0.1:4318, "
          + "not \"\(url)\"; for https run a collector beside the server.")
    }
    var settings = TraceExporter.Settings(endpoint: endpoint, sample: sample)
    settings.read(environment)
    return settings
  }

  private static func tls(_ options: CommandOptions) throws -> TLSContext? {
    switch (options.text("tls-certificate"), options.text("tls-key")) {
    case (nil, nil): return nil
    case (_?, nil): throw UsageError("--tls-certificate needs --tls-key as well.")
    case (nil, _?): throw UsageError("--tls-key needs --tls-certificate as well.")
    case (let certificate?, let key?):
      do {
        return try TLSContext(
          certificateFile: certificate, keyFile: key, speaksHTTP2: try options.isSet("http2"))
      } catch {
        throw UsageError("--tls-certificate and --tls-key: \(error)")
      }
    }
  }

  private static func site(
    _ folder: String, _ options: CommandOptions
  ) throws(UsageError) -> SitePages {
    do throws(CommandFailure) {
      return try SitePages(folder: folder)
    } catch {
      throw UsageError("\(options.origin("docs")): \(error.description)")
    }
  }

  private static func graphiQL(_ options: CommandOptions) throws -> GraphiQLPage.Setting {
    switch options.text("graphiql") ?? "on" {
    case "on": return .installed
    case "off": return .off
    case let folder:
      if let missing = GraphiQLPage.missingFile(in: folder) {
        throw UsageError(
          "\(options.origin("graphiql")) must be on, off or a folder; "
            + "there is no readable file \"\(folder)/\(missing)\".")
      }
      return .folder(folder)
    }
  }

  /// The features for which the database must have functions.
  var contractFeatures: Set<ContractEntry.Feature> {
    var features: Set<ContractEntry.Feature> = []
    if photos.isGiven { features.insert(.photos) }
    if server.outbox != nil { features.insert(.outbox) }
    return features
  }

  /// Returns a warning if the database accepts fewer connections than the loops may open.
  func connectionWarning(_ session: PostgresSession) throws(PostgresError) -> String? {
    let rows = try session.execute(
      """
      SELECT current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int
      """)
    guard let text = rows.first?.first ?? nil, let permitted = Int(text) else { return nil }
    return connectionWarning(permitted: permitted)
  }

  /// - Parameter permitted: the connections that the database accepts from roles that are not superusers.
  func connectionWarning(permitted: Int) -> String? {
    // Each loop has its pools, a connection for the group commit, and connections that cancel statements.
    let needed =
      server.loopCount * (server.pool.size + 4) + max(server.writers, server.loopCount)
    guard needed > permitted else { return nil }
    return "\(server.loopCount) loops with --pool-size \(server.pool.size) may open \(needed) "
      + "connections, but the database accepts \(permitted) (max_connections)."
  }
}

extension HTTPLimits {
  fileprivate mutating func read(_ options: CommandOptions) throws(UsageError) {
    maximumBodyBytes = try options.int("maximum-body-bytes", in: 1...1 << 30) ?? maximumBodyBytes
    maximumHeaderBytes =
      try options.int("maximum-header-bytes", in: 1024...1 << 20) ?? maximumHeaderBytes
    maximumSockets = try options.int("maximum-connections", in: 1...1_000_000) ?? maximumSockets
    maximumSocketsPerAddress =
      try options.int("maximum-connections-per-address", in: 1...1_000_000)
      ?? maximumSocketsPerAddress
    maximumHeldBytes =
      try options.int("maximum-buffered-bytes", in: 1...1 << 40) ?? maximumHeldBytes
    idle = try options.duration("idle-timeout", in: .milliseconds(10)...(.seconds(3600))) ?? idle
    header =
      try options.duration("header-timeout", in: .milliseconds(10)...(.seconds(3600))) ?? header
    body = try options.duration("body-timeout", in: .milliseconds(10)...(.seconds(3600))) ?? body
  }

  /// Limits the memory buffered for clients to a share of the available memory, unless the operator
  /// set it.
  ///
  /// - Returns: a remark, if it is less than the default.
  fileprivate mutating func fit(into memory: MemoryLimit?, _ options: CommandOptions) -> String? {
    guard let memory else { return nil }
    // Uploads have their photos' own limit, and one of them must fit.
    let photo = (try? options.int("maximum-photo-bytes", in: 1...1 << 27)) ?? 0
    maximumUploadedBytes = min(maximumUploadedBytes, max(memory.share, photo))
    guard !options.isTold("maximum-buffered-bytes"), memory.share < maximumHeldBytes else {
      return nil
    }
    maximumHeldBytes = memory.share
    return "unread responses may hold \(memory.share >> 20) MiB, because the memory limit is "
      + "\(memory.bytes >> 20) MiB (\(memory.source)); --maximum-buffered-bytes sets it"
  }
}

extension GraphQLEndpoint.Configuration {
  fileprivate mutating func read(_ options: CommandOptions) throws {
    profile =
      try options.choice("http-profile", as: ResponseFormat.ProfileChoice.self) ?? profile
    compresses = try options.isSet("compression")
    for origin in options.list("allow-origin") {
      guard Self.isOrigin(origin) else {
        throw UsageError(
          "\(options.origin("allow-origin")) must list origins such as https://app.example, "
            + "not \"\(origin)\".")
      }
      crossOrigin.allowedOrigins.insert(origin)
    }
    trustedLevel =
      try options.choice("trusted-level", as: TrustedDocuments.Level.self) ?? trustedLevel
    if let path = options.text("trusted-documents") {
      let origin = options.origin("trusted-documents")
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw UsageError("\(origin): the file \"\(path)\" cannot be read.")
      }
      do {
        trustedDocuments = try TrustedDocuments(manifest: [UInt8](bytes))
      } catch {
        throw UsageError("\(origin): \(path): \(error)")
      }
    } else if trustedLevel != .off {
      throw UsageError("\(options.origin("trusted-level")) needs --trusted-documents as well.")
    }
    if try !options.isSet("persisted-queries") { persistedQueries = nil }
    maximumBatch = try options.int("maximum-batch", in: 0...100) ?? maximumBatch
    maximumVariableSets =
      try options.int("maximum-variable-sets", in: 0...1_000) ?? maximumVariableSets
    maximumDocumentBytes =
      try options.int("maximum-document-bytes", in: 1...1 << 24) ?? maximumDocumentBytes
    maximumVariablesBytes =
      try options.int("maximum-variables-bytes", in: 1...1 << 26) ?? maximumVariablesBytes
  }

  /// Returns whether the text is a scheme, a host and optionally a port, as browsers write them.
  private static func isOrigin(_ text: String) -> Bool {
    for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
      let rest = text.dropFirst(scheme.count)
      return !rest.isEmpty
        && rest.utf8.allSatisfy {
          switch $0 {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"):
            true
          default: false
          }
        }
    }
    return false
  }
}

extension ExecutionSettings {
  fileprivate mutating func read(_ options: CommandOptions) throws(UsageError) {
    suggestions = try options.isSet("suggestions")
    tellsRaisedMessages = try options.isSet("raised-messages")
    parserLimits.maximumBytes =
      try options.int("maximum-document-bytes", in: 1...1 << 24) ?? parserLimits.maximumBytes
    parserLimits.maximumTokens =
      try options.int("maximum-tokens", in: 1...1_000_000) ?? parserLimits.maximumTokens
    validationLimits.depth =
      try options.int("maximum-depth", in: 1...64) ?? validationLimits.depth
    validationLimits.aliases =
      try options.int("maximum-aliases", in: 0...100_000) ?? validationLimits.aliases
    validationLimits.rootFields =
      try options.int("maximum-root-fields", in: 1...10_000) ?? validationLimits.rootFields
    validationLimits.expandedSelections =
      try options.int("maximum-selections", in: 1...1_000_000)
      ?? validationLimits.expandedSelections
    let sets = try options.int("maximum-variable-sets", in: 0...1_000) ?? 0
    if sets > 0 { plannerLimits.maximumRepresentations = sets }
    plannerLimits.maximumPageSize =
      try options.int("maximum-page-size", in: 1...10_000) ?? plannerLimits.maximumPageSize
    plannerLimits.maximumElements =
      try options.int("maximum-elements", in: 1...100_000_000) ?? plannerLimits.maximumElements
    if let count = try options.int("maximum-count", in: 0...1_000_000_000) {
      plannerLimits.maximumCount = count > 0 ? Int32(count) : nil
    }
    if let cost = try options.int("maximum-cost", in: 0...1_000_000_000) {
      plannerLimits.maximumCost = cost > 0 ? cost : nil
    }
    maximumResponseBytes =
      try options.int("maximum-response-bytes", in: 1_024...1 << 30) ?? maximumResponseBytes
    plannerLimits.maximumNameBytes = maximumResponseBytes
    maximumCachedDocuments =
      try options.int("maximum-cached-documents", in: 1...1_000_000) ?? maximumCachedDocuments
  }
}
