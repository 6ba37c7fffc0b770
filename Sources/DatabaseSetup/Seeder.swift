import Pictures
import Postgres
import SQL

/// Fills an empty graph with the data of a folder's scripts: the same rows for the same scale and
/// seed.
///
/// One backend generates a step's rows (`COPY (SELECT ...) TO STDOUT`) and another loads them
/// (`COPY ... FROM STDIN`), in binary, so that both work at once and progress is known. Steps are
/// committed one by one. A table records that loading has begun, so that the rows of an interrupted
/// run are removed before the next.
///
/// Pictures of the scripts are stored first. The scripts read them from the setting
/// `sociograph.demo_pictures`, a list in JSON: `{"name", "file", "width", "height"}`.
package struct Seeder: Sendable {
  package let scripts: [DemoScript]
  package let pictures: [DemoPicture]

  package init(scripts: [DemoScript], pictures: [DemoPicture] = []) {
    self.scripts = scripts
    self.pictures = pictures
  }

  /// Reads all files of a folder that end in `.sql`, in the order of their names, and the pictures
  /// in its folder `photos`.
  package static func read(
    _ folder: String, scale: Int, seed: Int
  ) throws(SetupError) -> Seeder {
    guard let names = FileSystem.list(folder) else {
      throw SetupError("The folder of demo data \(folder) cannot be read.")
    }
    guard scale >= 1, scale <= 100_000 else {
      throw SetupError("The scale must be from 1 to 100000, not \(scale).")
    }
    var scripts: [DemoScript] = []
    for name in names where name.hasSuffix(".sql") {
      guard let text = FileSystem.readText(folder + "/" + name) else {
        throw SetupError("The file \(folder)/\(name) cannot be read, or is not UTF-8.")
      }
      scripts.append(try DemoScript(name: name, text: text, scale: scale, seed: seed))
    }
    guard scripts.contains(where: { !$0.steps.isEmpty }) else {
      throw SetupError("The folder \(folder) has no demo data.")
    }
    return Seeder(scripts: scripts, pictures: try DemoPicture.read(folder + "/photos"))
  }

  /// Returns whether the graph is empty. A graph whose loading was interrupted counts as empty.
  package func isEmpty(_ configuration: PostgresConfiguration) throws -> Bool {
    let session = try PostgresSession(configuration)
    if try wasBrokenOff(session) { return true }
    return try checkEmpty(session)
  }

  /// Loads all steps.
  ///
  /// - Parameter store: the store for the pictures; nil to omit them, so that their addresses lead
  ///   to nothing.
  /// - Returns: the rows of the `print` steps, to start from.
  package func run(
    _ configuration: PostgresConfiguration, keepingPicturesIn store: (any PictureStore)? = nil,
    report: (SeedEvent) -> Void
  ) throws -> [SeedTable] {
    var configuration = configuration
    configuration.isReadOnly = false
    configuration.statementTimeout = .zero
    configuration.idleInTransactionTimeout = .zero
    configuration.lockTimeout = .zero
    configuration.settings += [
      ("client_min_messages", "warning"), ("synchronous_commit", "off"),
      ("plan_cache_mode", "auto"), ("work_mem", "16MB"),
    ]
    let writer = try PostgresSession(configuration)
    let reader = try PostgresSession(configuration)
    try takeTurn(writer)
    if try wasBrokenOff(writer) {
      report(.startingOver)
      try clear(writer)
    }
    guard try checkEmpty(writer) else {
      throw SetupError("The graph is not empty; demo data is only loaded into an empty one.")
    }
    if let store { for picture in pictures { try picture.keep(in: store) } }
    for session in [writer, reader] {
      try session.execute(
        "SELECT set_config('sociograph.demo_pictures', $1, false)", [DemoPicture.json(pictures)])
    }
    let empty = try emptyTables(writer)
    try writer.execute(
      """
      DROP TABLE IF EXISTS sociograph_seed;
      CREATE TABLE sociograph_seed (begun_at timestamptz NOT NULL DEFAULT now(), finished_at timestamptz,
        empty_tables text[] NOT NULL);
      COMMENT ON COLUMN sociograph_seed.empty_tables IS 'The tables to empty again if loading was interrupted.'
      """)
    try writer.execute(
      "INSERT INTO sociograph_seed (empty_tables) VALUES (string_to_array($1, E'\\n'))",
      [empty.joined(separator: "\n")])
    let printed = try load(reader: reader, writer: writer, report)
    try writer.execute("UPDATE sociograph_seed SET finished_at = now()")
    return printed
  }

  // MARK: Steps

  private func load(
    reader: PostgresSession, writer: PostgresSession, _ report: (SeedEvent) -> Void
  ) throws -> [SeedTable] {
    let began = ContinuousClock.now
    let steps = scripts.flatMap { script in script.steps.map { (script, $0) } }
    var expected = steps.map { estimate($0.1, reader) }
    var printed: [SeedTable] = []
    var total = 0
    for (index, (script, step)) in steps.enumerated() {
      do {
        // The rows that this step is derived from may exist only now.
        if expected[index] == 0 { expected[index] = estimate(step, reader) }
        let remaining = expected[(index + 1)...].reduce(0, +)
        report(.began(label: step.label, number: index + 1, of: steps.count))
        let stepBegan = ContinuousClock.now
        var rows = 0
        switch step.kind {
        case .run: try writer.execute(step.text)
        case .print:
          let table = try writer.table(step.text)
          printed.append(SeedTable(title: step.label, columns: table.columns, rows: table.rows))
        case .load(let table, let columns, _):
          let loaded = total
          rows = try copy(step.text, into: table, columns, reader, writer) { count in
            report(
              .progressed(
                rows: loaded + count, stepRows: count,
                expected: loaded + max(expected[index], count) + remaining,
                elapsed: began.duration(to: .now)))
          }
          total += rows
          expected[index] = rows
        }
        report(.finished(label: step.label, rows: rows, took: stepBegan.duration(to: .now)))
      } catch let error as PostgresError {
        throw SetupError("\(script.name):\(step.line): step \"\(step.label)\": \(error)")
      }
    }
    report(.done(rows: total, took: began.duration(to: .now)))
    return printed
  }

  private func copy(
    _ query: String, into table: String, _ columns: [String], _ reader: PostgresSession,
    _ writer: PostgresSession, _ progressed: (Int) -> Void
  ) throws -> Int {
    let types = try self.types(of: columns, in: table, writer)
    let names = columns.map(SQLQuoting.identifier)
    // Binary rows must have the very types of the columns.
    let casts = zip(names, types).map { "\($0)::\($1)" }.joined(separator: ", ")
    let list = names.joined(separator: ", ")
    let source = """
      COPY (SELECT \(casts) FROM (
      \(query)
      ) AS made(\(list))) TO STDOUT (FORMAT binary)
      """
    return try writer.copyIn("COPY \(table) (\(list)) FROM STDIN (FORMAT binary)") { sink in
      var rows = 0
      var lastReport = ContinuousClock.now
      try reader.copyOut(source) { row in
        try sink.write(row)
        rows += 1
        if rows & 0xff == 0, lastReport.duration(to: .now) > .milliseconds(100) {
          lastReport = .now
          progressed(rows)
        }
      }
    }
  }

  private func types(
    of columns: [String], in table: String, _ session: PostgresSession
  ) throws -> [String] {
    let rows = try session.execute(
      """
      SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
      """, [table])
    if rows.isEmpty { throw PostgresError(.other, message: "There is no table \(table).") }
    var types: [String: String] = [:]
    for row in rows { if let name = row[0], let type = row[1] { types[name] = type } }
    return try columns.map { column in
      guard let type = types[column] else {
        throw PostgresError(.other, message: "The table \(table) has no column \(column).")
      }
      return type
    }
  }

  /// Returns the number of rows that a step expects to load; 0 if unknown.
  private func estimate(_ step: DemoScript.Step, _ session: PostgresSession) -> Int {
    guard case .load(_, _, let rows?) = step.kind else { return 0 }
    let answer = try? session.execute("SELECT (\(rows))::bigint")
    return (answer?.first?.first ?? nil).flatMap { Int($0) } ?? 0
  }

  // MARK: Emptiness

  private func checkEmpty(_ session: PostgresSession) throws -> Bool {
    for script in scripts {
      guard let check = script.emptyCheck else { continue }
      let answer = try session.execute(check)
      if answer.first?.first != "t" { return false }
    }
    return true
  }

  private func wasBrokenOff(_ session: PostgresSession) throws -> Bool {
    guard try session.contract().has(GraphContract.seed) else { return false }
    return try !session.execute(
      "SELECT FROM sociograph_seed WHERE finished_at IS NULL"
    ).isEmpty
  }

  /// Takes the lock that lets one process load at a time. The backend of a killed process is gone
  /// after a second or two.
  ///
  /// - Throws: a `SetupError` if another process has been loading for ten seconds since.
  private func takeTurn(_ session: PostgresSession) throws {
    do {
      try session.execute(
        "SET lock_timeout = '10s'; SELECT pg_advisory_lock(hashtext('sociograph_seed')); SET lock_timeout = 0"
      )
    } catch  where error.kind == .lock {
      throw SetupError("Another process is loading this database.")
    }
  }

  /// Returns all tables without a row, except for the program's own.
  private func emptyTables(_ session: PostgresSession) throws -> [String] {
    let tables = try session.execute(
      """
      SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND relnamespace = current_schema()::regnamespace AND NOT starts_with(relname, 'sociograph_')
      """
    ).compactMap(\.first).compactMap(\.self)
    return try tables.filter { try session.execute("SELECT FROM \($0) LIMIT 1").isEmpty }
  }

  /// Empties the tables that the steps fill, those that reference them, and those that were empty
  /// before, such as those filled by triggers.
  private func clear(_ session: PostgresSession) throws {
    var tables = try session.execute(
      "SELECT DISTINCT name FROM sociograph_seed, unnest(empty_tables) name WHERE to_regclass(name) IS NOT NULL"
    ).compactMap(\.first).compactMap(\.self)
    for step in scripts.flatMap(\.steps) {
      if case .load(let table, _, _) = step.kind, !tables.contains(table) { tables.append(table) }
    }
    guard !tables.isEmpty else { return }
    try session.execute("TRUNCATE \(tables.joined(separator: ", ")) RESTART IDENTITY CASCADE")
  }
}

/// The rows to show at the end of loading.
package struct SeedTable: Sendable, Equatable, CustomStringConvertible {
  package let title: String
  package let columns: [String]
  package let rows: [[String?]]

  /// The rows in aligned columns under a heading, with nothing for null.
  package var description: String {
    let cells = [columns] + rows.map { row in row.map { $0 ?? "" } }
    let widths = columns.indices.map { column in
      cells.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    let lines = cells.map { row in
      var line = ""
      for (cell, width) in zip(row, widths) {
        line += cell + String(repeating: " ", count: width - cell.count + 2)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
    return lines.joined(separator: "\n")
  }
}

package enum SeedEvent: Sendable {
  /// An earlier loading was interrupted; its rows were removed.
  case startingOver
  case began(label: String, number: Int, of: Int)
  /// The number of rows of all steps so far, of this step, and of all steps to the end.
  case progressed(rows: Int, stepRows: Int, expected: Int, elapsed: Duration)
  case finished(label: String, rows: Int, took: Duration)
  case done(rows: Int, took: Duration)
}
