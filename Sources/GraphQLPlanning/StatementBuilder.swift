import SQL

/// What one statement collects while its parts are compiled: parameters and alias numbers.
final class StatementBuilder {
  private(set) var parameters: [PlanParameter] = []
  private var ordinals: [PlanParameter: Int] = [:]
  /// By ordinal: where a parameter was met first.
  private var places: [Int: InputPlace] = [:]
  private var aliasCount = 0
  private var pageCount = 0
  /// Is told of the rows that are read.
  var recorder: RowRecorder?
  /// Of a live query: is told of what is read.
  var live: LiveRecorder?
  /// In place of the viewer's parameter: somebody whom the same transaction signs in.
  var signedIn: SQLFragment?

  /// `t1`, `t2`, ... in the order of use, so that the same plan always has the same text.
  func alias(_ letter: String = "t") -> String {
    aliasCount += 1
    return "\(letter)\(aliasCount)"
  }

  /// The exact size of a page, for functions whose rows depend on it.
  func size(_ size: Int) -> SQLFragment {
    guard size != PlannerLimits.usualSize(size) else { return "\(size)" }
    return "\(rowCount(size))::int4"
  }

  /// The elements of a page of `size` but for the first `skipped`, `extra` more with it: `tail` ends what selects them.
  ///
  /// PostgreSQL plans for a limit that is a constant, of which there are few. Another size is a parameter
  /// around that, so that `first: 17` and `first: 18` are one statement; of a common table expression no
  /// more rows are read than are asked for, and it is planned by itself.
  func page(
    _ item: SQLFragment, size: Int, extra: Int, skipping skipped: Int = 0, from: [SQLFragment],
    where conditions: [SQLFragment], tail: [SQLFragment]
  ) -> SQLFragment {
    let usual = PlannerLimits.usualSize(size)
    let tail = tail + ["LIMIT \(usual + extra)"]
    guard size != usual || skipped > 0 else {
      return select(item, from: from, where: conditions, tail: tail)
    }
    let most = select("\(item) AS item", from: from, where: conditions, tail: tail)
    var text: SQLFragment = "(WITH page AS MATERIALIZED \(most)\nSELECT page.item FROM page"
    if skipped > 0 { text.append(" OFFSET \(rowCount(skipped))") }
    text.append(" LIMIT \(rowCount(size + extra - skipped)))")
    return text
  }

  private func rowCount(_ count: Int) -> SQLFragment {
    pageCount += 1
    return reference(.rowCount(count, page: pageCount))
  }

  /// The parameter's mention, with the cast to its type; the same for the same parameter.
  func reference(_ parameter: PlanParameter) -> SQLFragment {
    if parameter == .viewer, let signedIn { return signedIn }
    return mention(parameter)
  }

  /// The same, for what an argument or input field was given.
  func reference(_ parameter: PlanParameter, of place: @autoclosure () -> InputPlace?)
    -> SQLFragment
  {
    let isNew = ordinals[parameter] == nil
    let mention = reference(parameter)
    if isNew, let ordinal = ordinals[parameter] { places[ordinal] = place() }
    return mention
  }

  /// What the parameters that a finished statement mentions were given to.
  func places(of statement: SQLStatement) -> [InputPlace?] {
    statement.parameters.map { places[$0.ordinal] }
  }

  /// The same, for the viewer that the request came with.
  func mention(_ parameter: PlanParameter) -> SQLFragment {
    let ordinal = ordinals[parameter] ?? parameters.count
    if ordinal == parameters.count {
      parameters.append(parameter)
      ordinals[parameter] = ordinal
    }
    return SQLFragment(SQLParameter(ordinal: ordinal, type: parameter.sqlType))
  }

  /// The finished statement with the parameters that it mentions: those left over from parts that
  /// were not needed are not among them, as PostgreSQL could not tell their types.
  func finished(_ fragment: SQLFragment) -> (statement: SQLStatement, parameters: [PlanParameter]) {
    let statement = fragment.statement()
    return (statement, statement.parameters.map { parameters[$0.ordinal] })
  }
}

/// A row of a statement under construction: its alias, the columns asked of it and the joins they
/// need. Asking for the same column twice gives the same place.
final class RowBuilder {
  /// Of `this` in expressions.
  let alias: String
  /// Of the `from` item that led here, if any.
  let edgeAlias: String?
  /// Read from a table's masked form: what hangs on it needs the row itself to be visible.
  let mask: TableStorage?
  private(set) var columns: [SQLFragment] = []
  private var places: [SQLFragment: Int] = [:]
  private var joins: [(join: JoinStorage, alias: String)] = []
  private(set) var joinClauses: [SQLFragment] = []

  init(alias: String, edgeAlias: String? = nil, mask: TableStorage? = nil) {
    self.alias = alias
    self.edgeAlias = edgeAlias
    self.mask = mask
  }

  func column(_ expression: SQLFragment) -> Int {
    if let place = places[expression] { return place }
    columns.append(expression)
    places[expression] = columns.count - 1
    return columns.count - 1
  }

  func alias(of join: JoinStorage) -> String? {
    joins.first { $0.join == join }?.alias
  }

  var joinAliases: [(word: String, alias: String)] { joins.map { ($0.join.name, $0.alias) } }

  /// A new alias for a declared join whose clause follows in `addClause`.
  func addAlias(for join: JoinStorage) -> String {
    let isTaken = joins.contains { $0.join.name == join.name }
    let alias = "\(self.alias)_\(join.name)" + (isTaken ? "\(joins.count)" : "")
    joins.append((join, alias))
    return alias
  }

  func addClause(_ clause: SQLFragment) { joinClauses.append(clause) }

  /// Columns that are keys of a live query.
  private(set) var liveColumns: [LiveColumn] = []

  func keep(_ column: LiveColumn) {
    if !liveColumns.contains(column) { liveColumns.append(column) }
  }

  /// `ROW(...)` of all columns asked for.
  var rowExpression: SQLFragment {
    let columns = columns.lazy.map(\.indented)
    return self.columns.count > 6
      ? "ROW(\n  \(columns.joined(separator: ",\n  ")))"
      : "ROW(\(columns.joined(separator: ", ")))"
  }
}

/// `(SELECT ...)` from its clauses, one a line.
func select(
  _ expression: SQLFragment, from: [SQLFragment], where conditions: [SQLFragment],
  tail: [SQLFragment] = []
) -> SQLFragment {
  var lines: SQLFragment = expression.isEmpty ? "SELECT" : "SELECT \(expression)"
  if !from.isEmpty { lines.append("\nFROM \(from.joined(separator: "\n  "))") }
  if !conditions.isEmpty {
    lines.append("\nWHERE \(conditions.joined(separator: "\n  AND "))")
  }
  for line in tail { lines.append("\n\(line)") }
  return "(\(lines.indented))"
}
