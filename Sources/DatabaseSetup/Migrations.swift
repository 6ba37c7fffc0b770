import Postgres

/// The numbered SQL files that make the graph's tables and functions, applied in order, once each,
/// each in a transaction of its own, and remembered in the table `sociograph_migration`.
///
/// Files are only added to: one that was applied and has changed since, or is gone, or a new one
/// that would have come before one already applied, stops the run.
package struct Migrations: Sendable {
  package let files: [File]

  package struct File: Sendable {
    /// `NNNN_name.sql`.
    package let name: String
    package let text: String

    package init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  package init(files: [File]) throws(SetupError) {
    var previous = ""
    for file in files {
      let number = file.name.prefix(4)
      guard number.utf8.count == 4, number.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
        file.name.dropFirst(4).first == "_", file.name.hasSuffix(".sql"), file.name.count > 9
      else { throw SetupError("The migration \(file.name) is not named NNNN_name.sql.") }
      if previous.prefix(4) == number {
        throw SetupError("The migrations \(previous) and \(file.name) have the same number.")
      }
      previous = file.name
    }
    self.files = files
  }

  /// All files of a folder that end in `.sql`; subfolders are something else.
  package static func read(_ folder: String) throws(SetupError) -> Migrations {
    guard let names = FileSystem.list(folder) else {
      throw SetupError("The folder of migrations \(folder) cannot be read.")
    }
    var files: [File] = []
    for name in names where name.hasSuffix(".sql") {
      let path = folder + "/" + name
      if FileSystem.isDirectory(path) { continue }
      guard let text = FileSystem.readText(path) else {
        throw SetupError("The migration \(path) cannot be read, or is not UTF-8.")
      }
      files.append(File(name: name, text: text))
    }
    guard !files.isEmpty else {
      throw SetupError("The folder \(folder) has no migrations.")
    }
    return try Migrations(files: files)
  }

  /// Applies what is missing.
  ///
  /// - Parameter allowChanged: takes changed files as they are now, without running them again.
  /// - Returns: how many were applied.
  @discardableResult
  package func apply(
    to configuration: PostgresConfiguration, allowChanged: Bool = false,
    report: (MigrationEvent) -> Void = { _ in }
  ) throws -> Int {
    var configuration = configuration
    configuration.statementTimeout = .zero
    configuration.idleInTransactionTimeout = .zero
    configuration.lockTimeout = .seconds(30)
    configuration.isReadOnly = false
    configuration.settings.append(("client_min_messages", "warning"))
    let session = try PostgresSession(configuration)

    try lock(session, report)
    try session.execute(
      """
      CREATE TABLE IF NOT EXISTS sociograph_migration (
        name text PRIMARY KEY,
        sha256 text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
      )
      """)
    try ServerSecret.create(session)
    let missing = try missingFiles(session, allowChanged: allowChanged, report)
    for file in missing {
      let began = ContinuousClock.now
      do {
        try session.transaction {
          try session.execute(file.text)
          try session.execute(
            "INSERT INTO sociograph_migration (name, sha256) VALUES ($1, \(Self.hash("$2")))",
            [file.name, file.text])
        }
      } catch let error as PostgresError {
        throw SetupError("\(file.place(of: error)): \(error)")
      }
      report(.applied(file.name, took: began.duration(to: .now)))
    }
    return missing.count
  }

  /// Names of the files that a database lacks, without changing it.
  package func pending(in configuration: PostgresConfiguration) throws -> [String] {
    let session = try PostgresSession(configuration)
    let table = try session.execute("SELECT to_regclass('sociograph_migration')")
    guard table.first?.first ?? nil != nil else { return files.map(\.name) }
    return try missingFiles(session, allowChanged: false) { _ in }.map(\.name)
  }

  /// Held until the session ends: whoever comes second finds everything done.
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

  private func missingFiles(
    _ session: PostgresSession, allowChanged: Bool, _ report: (MigrationEvent) -> Void
  ) throws -> [File] {
    var applied: [String: String] = [:]
    for row in try session.execute("SELECT name, sha256 FROM sociograph_migration") {
      if let name = row[0], let hash = row[1] { applied[name] = hash }
    }
    let latest = applied.keys.max() ?? ""
    var missing: [File] = []
    for file in files {
      guard let hash = applied.removeValue(forKey: file.name) else {
        if file.name < latest {
          throw SetupError(
            "The migration \(file.name) is new but comes before \(latest), which is applied.")
        }
        missing.append(file)
        continue
      }
      let present = try session.execute("SELECT \(Self.hash("$1"))", [file.text])
      if present.first?.first == hash { continue }
      guard allowChanged else {
        throw SetupError(
          "The migration \(file.name) was applied and has changed since; "
            + "changes belong into a new file.")
      }
      try session.execute(
        "UPDATE sociograph_migration SET sha256 = \(Self.hash("$2")) WHERE name = $1",
        [file.name, file.text])
      report(.acceptedChange(file.name))
    }
    if let gone = applied.keys.min() {
      throw SetupError("The migration \(gone) was applied, and its file is gone.")
    }
    return missing
  }

  private static func hash(_ parameter: String) -> String {
    "encode(sha256(convert_to(\(parameter)::text, 'UTF8')), 'hex')"
  }
}

extension Migrations.File {
  /// `NAME:LINE:COLUMN`, as far as the server said where it was.
  package func place(of error: PostgresError) -> String {
    guard let position = error.position, position > 0 else { return name }
    let before = text.unicodeScalars.prefix(position - 1)
    let line = before.count { $0 == "\n" } + 1
    let column =
      before.lastIndex(of: "\n").map { before.distance(from: $0, to: before.endIndex) }
      ?? before.count + 1
    return "\(name):\(line):\(column)"
  }
}

package enum MigrationEvent: Sendable, CustomStringConvertible {
  /// Another process is migrating this database.
  case waiting
  case applied(String, took: Duration)
  case acceptedChange(String)

  package var description: String {
    switch self {
    case .waiting: "waiting for another migration of this database to finish"
    case .applied(let name, let took):
      "applied \(name) in \(took.formattedMilliseconds) ms"
    case .acceptedChange(let name): "took note that \(name) has changed"
    }
  }
}

extension Duration {
  var formattedMilliseconds: String {
    String(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
  }
}
