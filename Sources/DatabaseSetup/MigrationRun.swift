import Postgres
import SQL

extension Migrations {
  /// The changes made to a database.
  package struct Outcome: Sendable, Equatable {
    package var tables = 0
    package var functions = false
    /// Whether nothing was changed.
    package var isEmpty: Bool { tables == 0 && !functions }

    package init() {}
  }

  /// Migrates a database to the state of the folder.
  ///
  /// Each file of tables is one transaction, and all functions are one. The last file of tables
  /// shares that transaction, so that no session sees the new tables with the old functions.
  ///
  /// - Parameters:
  ///   - allowChanged: whether to accept changed files of tables without running them again.
  ///   - putBack: whether to replace the functions of a later program with the same tables.
  @discardableResult
  package func apply(
    to configuration: PostgresConfiguration, allowChanged: Bool = false, putBack: Bool = false,
    report: (MigrationEvent) -> Void = { _ in }
  ) throws -> Outcome {
    if tables.isEmpty && functions.isEmpty { return Outcome() }
    var configuration = configuration
    configuration.statementTimeout = .zero
    configuration.idleInTransactionTimeout = .zero
    configuration.lockTimeout = .seconds(30)
    configuration.isReadOnly = false
    configuration.settings.append(("client_min_messages", "warning"))
    let session = try PostgresSession(configuration)
    let namespace = configuration.namespaces.first
    let plan = try plan(session, in: namespace, allowChanged: allowChanged, putBack: putBack)
    do {
      try lock(session, report)
      try prepare(session, namespace)
      return try run(
        session, namespace, allowChanged: allowChanged, putBack: putBack, report)
    } catch let error as PostgresError where error.kind == .forbidden || error.kind == .readOnly {
      throw try Self.refusal(error, plan, session)
    }
  }

  private func run(
    _ session: PostgresSession, _ namespace: String?, allowChanged: Bool, putBack: Bool,
    _ report: (MigrationEvent) -> Void
  ) throws -> Outcome {
    let plan = try plan(session, in: namespace, allowChanged: allowChanged, putBack: putBack)
    for name in plan.accepted { try accept(name, session, report) }
    var outcome = Outcome()
    var missing = tables.filter { plan.missing.contains($0.name) }
    guard case .changed(let names) = plan.functions else {
      for file in missing {
        try session.transaction { try apply(file, session, report) }
        outcome.tables += 1
      }
      return outcome
    }
    let last = missing.popLast()
    for file in missing {
      try session.transaction { try apply(file, session, report) }
      outcome.tables += 1
    }
    let began = ContinuousClock.now
    try RepeatableMigrations(files: functions, manifest: manifest, session: session)
      .run { if let last { try apply(last, session, report) } }
    report(.appliedFunctions(names, took: began.duration(to: .now)))
    outcome.tables += last == nil ? 0 : 1
    outcome.functions = true
    return outcome
  }

  private func apply(
    _ file: File, _ session: PostgresSession, _ report: (MigrationEvent) -> Void
  ) throws {
    let began = ContinuousClock.now
    do {
      try session.execute(file.text)
    } catch {
      if error.kind == .forbidden { throw error }
      throw SetupError("\(file.place(of: error.position)): \(error)")
    }
    try session.execute(
      "INSERT INTO sociograph_migration (name, sha256, breaking) VALUES ($1, $2, $3)",
      [file.name, file.hash, file.breaking])
    report(.applied(file.name, took: began.duration(to: .now)))
  }

  private func accept(
    _ name: String, _ session: PostgresSession, _ report: (MigrationEvent) -> Void
  ) throws {
    guard let file = tables.first(where: { $0.name == name }) else { return }
    try session.execute(
      "UPDATE sociograph_migration SET sha256 = $2 WHERE name = $1",
      [name, file.hash])
    report(.acceptedChange(name))
  }

  // MARK: Before

  /// Takes a lock until the session ends: a process that waited for it finds nothing left to do.
  private func lock(
    _ session: PostgresSession, _ report: (MigrationEvent) -> Void
  ) throws(PostgresError) {
    let key = "hashtext('sociograph_migration')"
    if try session.execute("SELECT pg_try_advisory_lock(\(key))").first?.first == "t" { return }
    report(.waiting)
    try session.execute("SET lock_timeout = 0")
    try session.execute("SELECT pg_advisory_lock(\(key))")
    try session.execute("SET lock_timeout = '30s'")
  }

  /// Creates the namespace and the program's own tables if they do not exist.
  private func prepare(_ session: PostgresSession, _ namespace: String?) throws {
    if let namespace,
      try session.execute("SELECT FROM pg_namespace WHERE nspname = $1", [namespace]).isEmpty
    {
      try session.execute("CREATE SCHEMA " + SQLQuoting.identifier(namespace))
    }
    if try !session.hasTable("sociograph_request", in: namespace) {
      try session.execute(MutationSupport.tables)
    }
    if try !session.hasTable("sociograph_task", in: namespace) {
      try session.execute(BackgroundTask.tables)
    }
    guard try !session.hasTable("sociograph_functions", in: namespace) else { return }
    try session.transaction {
      try session.execute(Self.ownTables)
      try ServerSecret.create(session)
    }
  }

  private static let ownTables = """
    CREATE TABLE IF NOT EXISTS sociograph_migration (
      name text CONSTRAINT sociograph_migration_key PRIMARY KEY,
      sha256 text NOT NULL,
      breaking text,
      applied_at timestamptz NOT NULL DEFAULT now());
    COMMENT ON TABLE sociograph_migration IS 'One applied file of sql/tables.';
    COMMENT ON COLUMN sociograph_migration.breaking IS
      'The reason why programs without the file must not serve. Null if they may.';
    CREATE TABLE IF NOT EXISTS sociograph_functions (
      sha256 text CONSTRAINT sociograph_functions_key PRIMARY KEY,
      files text NOT NULL,
      objects text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now());
    COMMENT ON TABLE sociograph_functions IS
      'One set of the files in sql/functions. The set that was applied last is in force.';
    COMMENT ON COLUMN sociograph_functions.files IS 'The name and the SHA-256 hash of each file, one a line.';
    COMMENT ON COLUMN sociograph_functions.objects IS
      'The objects that the files created, one a line. Objects that a later set does not create are dropped.';
    """

  // MARK: After

  /// Returns an error that lists what is missing, and the roles that could apply it.
  private static func refusal(
    _ error: PostgresError, _ plan: MigrationPlan, _ session: PostgresSession
  ) throws -> SetupError {
    _ = try? session.execute("ROLLBACK")
    let role = try session.execute("SELECT current_user").first?.first.flatMap { $0 } ?? ""
    return SetupError(
      """
      The database lacks \(plan.lines.joined(separator: ", ")), and the role "\(role)" may not apply \
      that (\(error.message)). Run `sociograph migrate --database URL` as the role that owns the \
      graph, then start again.
      """)
  }
}
