/// The SQL files of a folder for a database.
///
///     tables/NNNN_name.sql   tables, types, indexes and what these use; run once each, in order
///     functions/name.sql     functions, procedures, views and triggers; replaced, all of them in one
///                            transaction, whenever their text has changed
///     phrases/language.sql   the texts for people in a language; applied with the functions, after them
///     demo/                  demo data (`Seeder`)
///
/// Files of tables are append-only: a file that was applied and has changed since, or a new one
/// that would come before an applied one, stops the run. A line `-- breaking: WHY` in a file says
/// that programs which do not know it must not continue; without it they may. A line `-- namespace:
/// NAME` in the first file names the tables' namespace, unless the operator chooses another.
///
/// A `MigrationPlan` has the differences between a database and the folder; a `MigrationRun`
/// applies them.
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
  ///   - tables: the files in the order of their numbers.
  ///   - functions: the files in the order in which they run; functions may call each other.
  ///     Triggers come after the functions that they call.
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

  /// Reads a folder. With neither `tables` nor `functions`, there is nothing to apply, because the
  /// database is created elsewhere.
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
    // Mutations need the server's own tables. A folder without tables needs nothing.
    return try Migrations(
      tables: tables,
      functions: tables.isEmpty && functions.isEmpty
        ? [] : functions + [MutationSupport.functions] + files(folder + "/phrases", as: "phrases/"))
  }

  /// - Parameter prefix: what the names of the files begin with in the manifest.
  private static func files(
    _ folder: String, as prefix: String = ""
  ) throws(SetupError) -> [File] {
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
      files.append(File(name: prefix + name, text: text))
    }
    return files
  }

  /// The namespace of the tables according to the folder; nil if it names none.
  package var namespace: String? { tables.first?.remark("namespace") }
}

extension Migrations.File {
  /// The reason why programs that do not know this file must not continue; nil if they may.
  var breaking: String? { remark("breaking") }

  /// Returns the text after `-- WORD: ` on a separate line.
  func remark(_ word: String) -> String? {
    let start = "-- \(word): "
    return text.split(separator: "\n").first { $0.hasPrefix(start) }
      .map { String($0.dropFirst(start.count)) }
  }

  /// Returns the path of a file of functions or phrases within the folder of the SQL files, from
  /// its name in the manifest.
  static func path(_ name: String) -> String { name.contains("/") ? name : "functions/" + name }

  /// Returns `NAME:LINE:COLUMN`, as far as the server reported the position.
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
  /// The functions were applied; the names are those of changed files, such as `post.sql`.
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
