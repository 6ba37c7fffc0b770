import Cryptography
import Postgres

/// The differences between a database and a folder, found without changing anything.
package struct MigrationPlan: Sendable, Equatable {
  /// The files of tables that were not applied, in order.
  package var missing: [String] = []
  /// The files that were applied and have changed since, and whose changes are accepted.
  package var accepted: [String] = []
  /// The files of tables that a later program applied.
  package var later: [String] = []
  package var functions = Functions.current

  package enum Functions: Sendable, Equatable {
    case current
    /// Functions to apply: `post.sql` is new or has changed, `-post.sql` is gone.
    case changed([String])
    /// The functions in the database are those of a later program.
    case older
  }

  /// Whether there is something to apply.
  package var isPending: Bool {
    if case .changed = functions { return true }
    return !missing.isEmpty || !accepted.isEmpty
  }

  /// The plan, one line per item, for `migrate --dry-run` and the error of a role without
  /// privileges.
  package var lines: [String] {
    var lines = missing.map { "tables/\($0)" }
    if case .changed(let names) = functions {
      lines += names.map {
        $0.hasPrefix("-")
          ? Migrations.File.path(String($0.dropFirst())) + ", which is gone"
          : Migrations.File.path($0)
      }
    }
    return lines
  }

  /// A remark for the operator if the database is ahead; otherwise nil.
  package var remark: String? {
    if let last = later.last {
      return "the database is ahead of this program, by \(later.count) migrations up to \(last); "
        + "its functions stay as they are"
    }
    guard case .older = functions else { return nil }
    return "the functions in the database are a later program's and stay as they are; "
      + "`sociograph migrate` puts back this program's"
  }
}

extension Migrations {
  /// Compares a database with the folder.
  ///
  /// - Parameters:
  ///   - allowChanged: whether to accept changed files of tables as applied.
  ///   - putBack: whether to apply functions that are older than those in the database.
  /// - Throws: a `SetupError` if the two are incompatible: a file changed or came too late, or the
  ///   database has one that breaks programs which do not know it.
  package func plan(
    for configuration: PostgresConfiguration, allowChanged: Bool = false, putBack: Bool = false
  ) throws -> MigrationPlan {
    if tables.isEmpty && functions.isEmpty { return MigrationPlan() }
    return try plan(
      PostgresSession(configuration), in: configuration.namespaces.first,
      allowChanged: allowChanged, putBack: putBack)
  }

  func plan(
    _ session: PostgresSession, in namespace: String?, allowChanged: Bool, putBack: Bool
  ) throws -> MigrationPlan {
    var plan = MigrationPlan()
    guard try session.hasTable("sociograph_migration", in: namespace) else {
      plan.missing = tables.map(\.name)
      plan.functions = functions.isEmpty ? .current : .changed(functions.map(\.name))
      return plan
    }
    try compareTables(session, &plan, allowChanged)
    try compareFunctions(session, &plan, putBack)
    return plan
  }

  private func compareTables(
    _ session: PostgresSession, _ plan: inout MigrationPlan, _ allowChanged: Bool
  ) throws {
    var applied: [String: (hash: String, breaking: String?)] = [:]
    for row in try session.execute("SELECT name, sha256, breaking FROM sociograph_migration") {
      if let name = row[0], let hash = row[1] { applied[name] = (hash, row[2]) }
    }
    let latest = applied.keys.max() ?? ""
    for file in tables {
      guard let known = applied.removeValue(forKey: file.name) else {
        if file.name < latest {
          throw SetupError(
            "The migration \(file.name) is new but comes before \(latest), which is applied.")
        }
        plan.missing.append(file.name)
        continue
      }
      if file.hash == known.hash { continue }
      guard allowChanged else {
        throw SetupError(
          "The migration \(file.name) was applied and has changed since; "
            + "changes belong into a new file.")
      }
      plan.accepted.append(file.name)
    }
    let last = tables.last?.name ?? ""
    for (name, known) in applied.sorted(by: { $0.key < $1.key }) {
      guard name > last else {
        throw SetupError("The migration \(name) was applied, and its file is gone.")
      }
      if let reason = known.breaking {
        throw SetupError(
          "The database has the migration \(name), which this program does not know and cannot go "
            + "on with: \(reason) Run the program that applied it, or a later one.")
      }
      plan.later.append(name)
    }
  }

  private func compareFunctions(
    _ session: PostgresSession, _ plan: inout MigrationPlan, _ putBack: Bool
  ) throws {
    let sets = try session.execute(
      "SELECT sha256 FROM sociograph_functions ORDER BY applied_at DESC")
    guard !sets.isEmpty || !functions.isEmpty else { return }
    let own = Self.hash(manifest)
    if sets.first?.first == own { return }
    // A set that was applied once and then replaced is an earlier program's.
    let wasReplaced = sets.contains { $0.first == own }
    if !plan.later.isEmpty || wasReplaced && !putBack {
      plan.functions = .older
      return
    }
    let files = try session.execute(
      "SELECT files FROM sociograph_functions ORDER BY applied_at DESC LIMIT 1")
    plan.functions = .changed(
      Self.differences(from: files.first?.first.flatMap { $0 } ?? "", to: manifest))
  }

  /// The manifest: a line for each file of functions with its name and the hash of its text.
  var manifest: String { functions.map { "\($0.name) \($0.hash)\n" }.joined() }

  /// Returns the SHA-256 in hexadecimal. It is computed here, because the database may be remote.
  static func hash(_ text: String) -> String { SHA256.hexadecimal(Array(text.utf8)) }

  /// Returns the names of files that are new or have changed, and, with a minus, of those that are
  /// gone.
  private static func differences(from former: String, to present: String) -> [String] {
    func lines(_ manifest: String) -> [Substring] { manifest.split(separator: "\n") }
    func name(_ line: Substring) -> String { String(line.prefix { $0 != " " }) }
    let changed = lines(present).filter { !lines(former).contains($0) }.map(name)
    let names = lines(present).map(name)
    return changed + lines(former).map(name).filter { !names.contains($0) }.map { "-" + $0 }
  }
}

extension Migrations.File {
  var hash: String { Migrations.hash(text) }
}

extension PostgresSession {
  /// Returns whether a table exists.
  ///
  /// - Parameter namespace: nil for the search path.
  func hasTable(_ name: String, in namespace: String?) throws -> Bool {
    let rows = try execute(
      "SELECT to_regclass(coalesce(quote_ident($1) || '.', '') || quote_ident($2)) IS NOT NULL",
      [namespace, name])
    return rows.first?.first == "t"
  }
}
