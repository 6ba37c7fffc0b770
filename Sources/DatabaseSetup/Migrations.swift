/// What a folder of SQL has for a database.
///
///     tables/NNNN_name.sql   tables, types, indexes and what these use; run once each, in order
///     functions/name.sql     functions, procedures, views and triggers; made anew, all of them in one
///                            transaction, whenever their text has changed
///     demo/                  rows to try it with (`Seeder`)
///
/// Files of tables are only added to: one that was applied and has changed since, or a new one that
/// would have come before one already applied, stops the run. A line `-- breaking: WHY` in one says
/// that programs which do not know it must not go on; without it they do. A line `-- namespace: NAME`
/// in the first says where the tables live unless the operator says otherwise.
///
/// `MigrationPlan` is what a database lacks of it, `MigrationRun` brings it there.
package struct Migrations: Sendable {
  package let tables: [File]
  package let functions: [File]

  package struct File: Sendable, Equatable {
    package let name: String
    package let text: String

    package init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// - Parameters:
  ///   - tables: in the order of their numbers.
  ///   - functions: in any order; they may call each other. Triggers come after what they call.
  package init(tables: [File], functions: [File] = []) throws(SetupError) {
    var previous = ""
    for file in tables {
      let number = file.name.prefix(4)
      guard number.utf8.count == 4, number.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
        file.name.dropFirst(4).first == "_", file.name.hasSuffix(".sql"), file.name.count > 9
      else { throw SetupError("The migration \(file.name) is not named NNNN_name.sql.") }
      if previous.prefix(4) == number {
        throw SetupError("The migrations \(previous) and \(file.name) have the same number.")
      }
      previous = file.name
    }
    self.tables = tables
    self.functions = functions
  }

  /// A folder with neither `tables` nor `functions` has nothing to apply, which is fine: the database
  /// is then somebody else's to make.
  package static func read(_ folder: String) throws(SetupError) -> Migrations {
    guard let names = FileSystem.list(folder) else {
      throw SetupError("The folder \(folder) cannot be read.")
    }
    if let stray = names.first(where: { $0.hasSuffix(".sql") }) {
      throw SetupError(
        "The file \(folder)/\(stray) belongs into \(folder)/tables or \(folder)/functions.")
    }
    let tables = try files(folder + "/tables")
    let functions = try files(folder + "/functions")
    // Mutations need what comes with the server; a folder with nothing of its own needs nothing.
    return try Migrations(
      tables: tables,
      functions: tables.isEmpty && functions.isEmpty ? [] : functions + [MutationSupport.functions])
  }

  private static func files(_ folder: String) throws(SetupError) -> [File] {
    guard FileSystem.isDirectory(folder) else { return [] }
    guard let names = FileSystem.list(folder) else {
      throw SetupError("The folder \(folder) cannot be read.")
    }
    var files: [File] = []
    for name in names where name.hasSuffix(".sql") {
      let path = folder + "/" + name
      guard let text = FileSystem.readText(path) else {
        throw SetupError("The file \(path) cannot be read, or is not UTF-8.")
      }
      files.append(File(name: name, text: text))
    }
    return files
  }

  /// Where the tables live by the folder's own account; nil when it has none.
  package var namespace: String? { tables.first?.remark("namespace") }
}

extension Migrations.File {
  /// Why programs that do not know this file must not go on; nil when they may.
  var breaking: String? { remark("breaking") }

  /// What stands behind `-- WORD: ` on a line of its own.
  func remark(_ word: String) -> String? {
    let start = "-- \(word): "
    return text.split(separator: "\n").first { $0.hasPrefix(start) }
      .map { String($0.dropFirst(start.count)) }
  }

  /// `NAME:LINE:COLUMN`, as far as the server said where it was.
  func place(of position: Int?) -> String {
    guard let position, position > 0 else { return name }
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
  /// Such as `post.sql` for those whose text is new.
  case appliedFunctions([String], took: Duration)

  package var description: String {
    switch self {
    case .waiting: "waiting for another migration of this database to finish"
    case .applied(let name, let took):
      "applied \(name) in \(took.formattedMilliseconds) ms"
    case .acceptedChange(let name): "took note that \(name) has changed"
    case .appliedFunctions(let names, let took):
      "applied the functions in \(took.formattedMilliseconds) ms (\(names.joined(separator: ", ")))"
    }
  }
}

extension Duration {
  var formattedMilliseconds: String {
    String(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
  }
}
