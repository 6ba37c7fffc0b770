import DatabaseSetup
import Drafting
import Foundation
import GraphQLPlanning
import JSON
import Postgres
import Server
import StorageChecking

/// `sociograph draft`: writes a schema over the tables of an existing database.
enum DraftCommand {
  static let specification = CommandSpecification(
    "draft", "Drafts a schema over the tables of a database, one file a table.", operands: "DIR",
    options: [
      SettingOptions.database,
      CommandSpecification.Option(
        "namespace", "LIST", default: "public",
        "the PostgreSQL schemas to draft; a name that two of them have goes to the first"),
      CommandSpecification.Option(
        "tables", "LIST", environment: "SOCIOGRAPH_DRAFT_TABLES", shown: "all",
        "the tables and views to draft, such as 'film*,!*_old'; the last pattern that fits decides"),
      CommandSpecification.Option(
        "role", "ROLE", environment: "SOCIOGRAPH_DRAFT_ROLE", shown: "that of --database",
        "the role that will serve: what it may not read is left out"),
      CommandSpecification.Option(
        "mutations", nil, environment: "SOCIOGRAPH_DRAFT_MUTATIONS",
        "draft inserts, updates and deletes, too, for the tables that the role may write"),
      CommandSpecification.Option(
        "anonymous-writes", nil, environment: "SOCIOGRAPH_DRAFT_ANONYMOUS_WRITES",
        "with --mutations: let clients write who send no session's token and no signed token"),
      CommandSpecification.Option(
        "nested", nil, environment: "SOCIOGRAPH_DRAFT_NESTED",
        "with --mutations: insert rows together with those that refer to them, or that they refer to"
      ),
      CommandSpecification.Option(
        "aggregates", nil, environment: "SOCIOGRAPH_DRAFT_AGGREGATES",
        "draft counts, sums, averages and groups, too; they read all rows of a page's list"),
      CommandSpecification.Option(
        "nodes", nil, environment: "SOCIOGRAPH_DRAFT_NODES",
        "draft the interface Node, with an ID for each row that has a key, and node(id:)"),
      CommandSpecification.Option(
        "update", nil, environment: "SOCIOGRAPH_DRAFT_UPDATE",
        "bring what the database has become into DIR; what you have changed stays"),
      CommandSpecification.Option(
        "follow-names", nil,
        "with --update or --check: tables and columns that were renamed have their new names for "
          + "clients, too; otherwise they keep the old ones"),
      CommandSpecification.Option(
        "check", nil, environment: "SOCIOGRAPH_DRAFT_CHECK",
        "print what --update would do, a line each, and write nothing"),
      CommandSpecification.Option(
        "json", nil, "with --check: print one JSON object instead of lines"),
    ],
    notes: """
      The database is only read. The files belong to you: edit them, and serve them with
      sociograph serve --schema DIR --database URL. After --follow-names, schema diff tells what breaks
      for clients. --update and --check take the other options as
      DIR was drafted with, unless they are given.
      Exit status of --update: 0 done, 1 something needs you. Of --check: 0 nothing to do, 1 something.
      """)

  /// - Returns: the exit code.
  static func run(_ options: CommandOptions) throws -> Int32 {
    guard let folder = options.operands.first, options.operands.count == 1 else {
      throw UsageError("draft needs one DIR to write to; see sociograph draft --help.")
    }
    guard options.text("database") != nil else {
      throw UsageError("draft needs --database URL, the database to read.")
    }
    let target = DraftFolder(folder)
    let isCheck = try options.isSet("check")
    if try options.isSet("json"), !isCheck { throw UsageError("--json of draft needs --check.") }
    let isUpdate = try options.isSet("update")
    if try options.isSet("follow-names"), !isUpdate, !isCheck {
      throw UsageError("--follow-names of draft needs --update or --check.")
    }
    guard isUpdate || isCheck else {
      guard !target.hasFiles else {
        throw CommandFailure(
          "the folder \"\(folder)\" has .graphql files; name an empty folder, or use --update.")
      }
      try draft(target, options)
      return 0
    }
    guard target.base.hasFiles else {
      throw CommandFailure("the folder \"\(folder)\" has no .drafted: sociograph draft writes it.")
    }
    return try update(target, completed(options, target), isCheck: isCheck)
  }

  /// Brings what a database has become into a folder, as `--update` does; nothing if its files were
  /// not drafted.
  ///
  /// - Parameter values: the values of `--database` and of what belongs to it.
  static func update(_ folder: String, _ values: [String: [CommandOptions.Value]]) throws {
    let target = DraftFolder(folder)
    guard target.base.hasFiles else { return }
    let options = CommandOptions(values: values, operands: [folder], warnings: [])
    _ = try update(target, completed(options, target), isCheck: false)
  }

  /// Adds the options with which a folder was drafted to those that were given.
  private static func completed(
    _ options: CommandOptions, _ target: DraftFolder
  ) -> CommandOptions {
    let saved = target.baseOptions().filter { !options.isTold($0.key) }
    let values = saved.mapValues {
      [CommandOptions.Value(text: $0, origin: "\(target.path)/.drafted")]
    }
    return CommandOptions(
      values: options.values.merging(values) { $1 }, operands: options.operands, warnings: [])
  }

  // MARK: - Drafting

  private static func draft(_ target: DraftFolder, _ options: CommandOptions) throws {
    let database = try Database.open(options)
    defer { database.close() }
    let (catalog, draft, files) = try drafted(for: target, options, database)
    try target.write(files)
    try target.keepBase(
      draft.files, KeptNames(catalog), options: selection(options, database))
    for remark in draft.remarks { Console.say(remark) }
    let lines = files.reduce(0) { $0 + $1.text.count(where: \.isNewline) }
    Console.say(
      "drafted \(catalog.order.count) tables and views in \(target.path): \(files.count) files, "
        + "\(lines) lines")
    if try options.isSet("mutations"), try !options.isSet("anonymous-writes") {
      Console.say(
        "clients need a token to write (serve --jwt-keys FILE); --anonymous-writes lets all of them"
      )
    }
    Console.print("Serve them: sociograph serve --schema \(target.path) --database URL")
  }

  /// Returns a draft that holds, of a database that did not change meanwhile: a field of what is
  /// gone would be left out with all that mentions it.
  ///
  /// - Parameter history: the names of the draft before; nil for the first one.
  private static func drafted(
    for target: DraftFolder, _ options: CommandOptions, _ database: Database,
    _ history: NameHistory? = nil
  ) throws -> (catalog: DraftCatalog, draft: Draft, files: [(name: String, text: String)]) {
    let session = try PostgresSession(database.planningConfiguration())
    var state = try CatalogFingerprint.read(session)
    for _ in 0..<10 {
      let result = Result {
        try Console.working("drafting") {
          var catalog = try self.catalog(database, options)
          var history = history
          let names = target.baseNames()
          if history != nil, try !options.isSet("follow-names") {
            catalog.keep(names)
          } else {
            history?.forget(names, renamedIn: catalog)
          }
          if history == nil, catalog.order.isEmpty { throw nothing(catalog, database.namespaces) }
          var draft = try Draft(
            catalog, history: history ?? NameHistory(), mutations: options.isSet("mutations"),
            anonymousWrites: options.isSet("anonymous-writes"),
            nested: options.isSet("nested"), aggregates: options.isSet("aggregates"),
            nodes: options.isSet("nodes"))
          let (files, warnings) = try checked(&draft, in: target, database.planningConfiguration())
          return (catalog, draft, files, warnings)
        }
      }
      let before = state
      state = try CatalogFingerprint.read(session)
      guard state == before else { continue }
      let (catalog, draft, files, warnings) = try result.get()
      for warning in warnings { Console.warn(warning) }
      return (catalog, draft, files)
    }
    throw CommandFailure("the database keeps changing; try again when it rests.")
  }

  private static func catalog(
    _ database: Database, _ options: CommandOptions
  ) throws -> DraftCatalog {
    try DraftCatalog.read(
      PostgresSession(database.planningConfiguration()), namespaces: database.namespaces,
      selection: TableSelection(options.list("tables")), role: options.text("role"))
  }

  /// Returns the options that select what is drafted. The role is among them, so that a later update by
  /// another one leaves out nothing.
  private static func selection(
    _ options: CommandOptions, _ database: Database
  ) throws -> [String: String] {
    var selection: [String: String] = [:]
    let session = try PostgresSession(database.planningConfiguration())
    selection["role"] = try session.execute("SELECT current_user").first?.first.flatMap(\.self)
    for name in [
      "namespace", "tables", "role", "mutations", "anonymous-writes", "nested", "aggregates",
      "nodes",
    ] {
      if let value = options.text(name) { selection[name] = value }
    }
    return selection
  }

  /// Returns the files of a draft that holds, and warnings. A field that does not hold is left out,
  /// with a warning: the rest serves.
  private static func checked(
    _ draft: inout Draft, in target: DraftFolder, _ configuration: PostgresConfiguration
  ) throws -> (files: [(name: String, text: String)], warnings: [String]) {
    var warnings: [String] = []
    var last: [StorageFinding] = []
    for _ in 0..<8 {
      let files = draft.files.map { (name: $0.name, text: $0.text) }
      let errors = try errors(files, in: target, configuration)
      guard !errors.isEmpty else { return (files, warnings) }
      last = errors
      let before = draft.files
      for finding in errors {
        let advice = draft.leaveOut(finding.coordinate).map { " (\($0))" } ?? ""
        warnings.append("left out \(finding.coordinate): \(finding.message)\(advice)")
      }
      guard draft.files != before else {
        throw CommandFailure(errors.map(\.description).joined(separator: "\n"))
      }
    }
    throw CommandFailure(
      "the draft does not hold:\n" + last.map(\.description).joined(separator: "\n"))
  }

  /// Returns the errors of files as `schema --check` finds them.
  private static func errors(
    _ files: [(name: String, text: String)], in target: DraftFolder,
    _ configuration: PostgresConfiguration
  ) throws -> [StorageFinding] {
    try target.withCopy(of: files) { folder in
      let mapping = try SchemaFiles.load(folder)
      return try StorageCheck(mapping: mapping).run(configuration).filter { $0.severity == .error }
        + MutationCheck(mapping: mapping).findings(PostgresSession(configuration))
    }
  }

  private static func nothing(
    _ catalog: DraftCatalog, _ namespaces: [String]
  ) -> CommandFailure {
    let others = catalog.otherNamespaces.prefix(10).joined(separator: ",")
    return CommandFailure(
      "no table or view to draft in \(namespaces.joined(separator: ", ")): none is there, or the role may "
        + "not read it."
        + (others.isEmpty ? "" : " There are some in others: --namespace \(others)"))
  }

  // MARK: - Updating

  private static func update(
    _ target: DraftFolder, _ options: CommandOptions, isCheck: Bool
  ) throws -> Int32 {
    let database = try Database.open(options)
    defer { database.close() }
    let configuration = try database.planningConfiguration()
    let base = try target.base.texts()
    let mine = try target.texts()
    let (catalog, draft, files) = try drafted(
      for: target, options, database, NameHistory(base, mine: mine))
    let new = Dictionary(files.map { ($0.name, $0.text) }) { first, _ in first }
    let merge = try DraftMerge(base: base, mine: mine, new: new)
    if isCheck, try options.isSet("json") {
      func member(_ name: String, _ lines: [String]) -> JSONValue.Member {
        JSONValue.Member(name: name, value: .array(lines.map { .string($0) }))
      }
      Console.print(
        .object([member("changes", merge.changes), member("conflicts", merge.conflicts)]))
      return merge.changes.isEmpty && merge.conflicts.isEmpty ? 0 : 1
    }
    for line in merge.changes { Console.print(line) }
    for line in merge.conflicts { Console.print("conflict: \(line)") }
    if isCheck { return merge.changes.isEmpty && merge.conflicts.isEmpty ? 0 : 1 }
    if !merge.written.isEmpty || !merge.removed.isEmpty {
      try target.write(merge.written, removing: merge.removed)
    }
    let names = KeptNames(catalog)
    if new != base || target.baseNames().isOutdated(by: names) {
      try target.keepBase(draft.files, names, options: selection(options, database))
    }
    let merged = try target.texts().map { (name: $0.key, text: $0.value) }
    let errors: [String]
    do {
      errors = try self.errors(merged, in: target, configuration).map(\.description)
    } catch let error as CommandFailure {
      errors = [error.description]
    }
    for line in errors { Console.print(line) }
    Console.say(
      "changes: \(merge.changes.count), conflicts: \(merge.conflicts.count), errors: \(errors.count)"
    )
    return merge.conflicts.isEmpty && errors.isEmpty ? 0 : 1
  }
}
