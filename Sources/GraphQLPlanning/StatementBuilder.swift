import SQL

/// The parameters and alias numbers of a statement, collected while its parts are compiled.
final class StatementBuilder {
  private(set) var parameters: [PlanParameter] = []
  private var ordinals: [PlanParameter: Int] = [:]
  /// The location of each parameter's first use, by ordinal.
  private var places: [Int: InputPlace] = [:]
  private var aliasCount = 0
  private var pageCount = 0
  /// The recorder of the rows that are read.
  var recorder: RowRecorder?
  /// The recorder of a live query's dependencies.
  var live: DependencyRecorder?
  /// The expression that replaces the viewer's parameter: the user whom the same transaction signs
  /// in.
  var signedIn: SQLFragment?

  /// Returns `t1`, `t2`, ... in the order of use, so that equal plans have equal text.
  func alias(_ letter: String = "t") -> String {
    aliasCount += 1
    return "\(letter)\(aliasCount)"
  }

  /// Returns the exact size of a page, for functions whose rows depend on it.
  func size(_ size: Int) -> SQLFragment {
    guard size != PlannerLimits.usualSize(size) else { return "\(size)" }
    return "\(rowCount(size))::int4"
  }

  /// Returns the elements of a page of `size` without the first `skipped`, and `extra` more; `tail`
  /// ends the clauses that select them.
  ///
  /// PostgreSQL plans for a constant limit, of which there are few. The exact size is a parameter
  /// around it, so that `first: 17` and `first: 18` have one statement. PostgreSQL reads from a
  /// common table expression only the rows requested, and plans it separately.
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

  /// Returns a mention of the parameter, with the cast to its type; equal for equal parameters.
  func reference(_ parameter: PlanParameter) -> SQLFragment {
    if parameter == .viewer, let signedIn { return signedIn }
    return mention(parameter)
  }

  /// Returns a mention of a parameter for the value of an argument or input field.
  func reference(_ parameter: PlanParameter, of place: @autoclosure () -> InputPlace?)
    -> SQLFragment
  {
    let isNew = ordinals[parameter] == nil
    let mention = reference(parameter)
    if isNew, let ordinal = ordinals[parameter] { places[ordinal] = place() }
    return mention
  }

  /// Returns the locations of the parameters that a finished statement mentions.
  func places(of statement: SQLStatement) -> [InputPlace?] {
    statement.parameters.map { places[$0.ordinal] }
  }

  /// Returns a mention of a parameter, for the viewer of the request.
  func mention(_ parameter: PlanParameter) -> SQLFragment {
    let ordinal = ordinals[parameter] ?? parameters.count
    if ordinal == parameters.count {
      parameters.append(parameter)
      ordinals[parameter] = ordinal
    }
    return SQLFragment(SQLParameter(ordinal: ordinal, type: parameter.sqlType))
  }

  /// Returns the finished statement with the parameters that it mentions. Parameters of parts that
  /// were not used are omitted, because PostgreSQL could not infer their types.
  func finished(_ fragment: SQLFragment) -> (statement: SQLStatement, parameters: [PlanParameter]) {
    let statement = fragment.statement()
    return (statement, statement.parameters.map { parameters[$0.ordinal] })
  }
}

/// A row of a statement under construction: its alias, the selected columns and the joins that they
/// need. Selecting a column twice returns the same index.
final class RowBuilder {
  /// The alias of `this` in expressions.
  let alias: String
  /// The alias of the FROM item that led here, if any.
  let edgeAlias: String?
  /// The table, if it is read in masked form: dependents then require the row itself to be visible.
  let mask: TableStorage?
  /// The rule of the table that is read.
  let rule: SQLTemplate?
  /// The condition of the relation or reference by which the row was reached, if it is more than an
  /// equality of keys.
  var condition: SQLTemplate?
  private(set) var columns: [SQLFragment] = []
  private var places: [SQLFragment: Int] = [:]
  private var joins: [(join: JoinStorage, alias: String)] = []
  private(set) var joinClauses: [SQLFragment] = []

  init(
    alias: String, edgeAlias: String? = nil, mask: TableStorage? = nil, rule: SQLTemplate? = nil
  ) {
    self.alias = alias
    self.edgeAlias = edgeAlias
    self.mask = mask
    self.rule = rule
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

  /// Returns a new alias for a declared join, whose clause follows in `addClause`.
  func addAlias(for join: JoinStorage) -> String {
    let isTaken = joins.contains { $0.join.name == join.name }
    let alias = "\(self.alias)_\(join.name)" + (isTaken ? "\(joins.count)" : "")
    joins.append((join, alias))
    return alias
  }

  func addClause(_ clause: SQLFragment) { joinClauses.append(clause) }

  /// The columns that are keys of a live query.
  private(set) var liveColumns: [LiveColumn] = []

  func keep(_ column: LiveColumn) {
    if !liveColumns.contains(column) { liveColumns.append(column) }
  }

  /// The `ROW(...)` of all selected columns.
  var rowExpression: SQLFragment {
    let columns = columns.lazy.map(\.indented)
    return self.columns.count > 6
      ? "ROW(\n  \(columns.joined(separator: ",\n  ")))"
      : "ROW(\(columns.joined(separator: ", ")))"
  }
}

/// Returns `(SELECT ...)` from its clauses, one per line.
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
