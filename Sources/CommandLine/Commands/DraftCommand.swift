import DatabaseSetup
import Drafting
import Foundation
import GraphQLPlanning
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
    ],
    notes: """
      The database is only read. The files belong to you: edit them, and serve them with
      sociograph serve --schema DIR --database URL.
      """)

  static func run(_ options: CommandOptions) throws {
    guard let folder = options.operands.first, options.operands.count == 1 else {
      throw UsageError("draft needs one DIR to write to; see sociograph draft --help.")
    }
    guard options.text("database") != nil else {
      throw UsageError("draft needs --database URL, the database to read.")
    }
    let target = DraftFolder(folder)
    guard !target.hasFiles else {
      throw CommandFailure("the folder \"\(folder)\" has .graphql files; name an empty folder.")
    }
    let database = try Database.open(options)
    defer { database.close() }
    let configuration = try database.configuration()
    let catalog = try DraftCatalog.read(
      PostgresSession(configuration), namespaces: database.namespaces,
      selection: TableSelection(options.list("tables")), role: options.text("role"))
    guard !catalog.order.isEmpty else { throw nothing(catalog, database.namespaces) }
    var draft = Draft(catalog)
    let files = try checked(&draft, in: target, configuration)
    try target.keepBase(draft.files, options: "")
    for remark in draft.remarks { Console.say(remark) }
    let lines = files.reduce(0) { $0 + $1.text.count(where: \.isNewline) }
    Console.say(
      "drafted \(catalog.order.count) tables and views in \(folder): \(files.count) files, \(lines) lines"
    )
    Console.print("Serve them: sociograph serve --schema \(folder) --database URL")
  }

  /// Writes the files where the check holds. A field that does not hold is left out, with a warning:
  /// the rest serves.
  private static func checked(
    _ draft: inout Draft, in target: DraftFolder, _ configuration: PostgresConfiguration
  ) throws -> [(name: String, text: String)] {
    for _ in 0..<8 {
      let files = draft.files.map { (name: $0.name, text: $0.text) }
      do {
        try target.replace(files) { folder in
          let mapping = try SchemaFiles.load(folder)
          let errors = try StorageCheck(mapping: mapping).run(configuration)
            .filter { $0.severity == .error }
          guard errors.isEmpty else { throw Unfit(findings: errors) }
        }
        return files
      } catch let error as Unfit {
        let before = draft.files
        for finding in error.findings {
          Console.warn("left out \(finding.coordinate): \(finding.message)")
          draft.leaveOut(finding.coordinate)
        }
        guard draft.files != before else {
          throw CommandFailure(error.findings.map(\.description).joined(separator: "\n"))
        }
      }
    }
    throw CommandFailure("the draft does not hold.")
  }

  private struct Unfit: Error {
    let findings: [StorageFinding]
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
}
