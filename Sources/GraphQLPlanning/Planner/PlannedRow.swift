import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// A row that an operation's statement reads, as a separate statement, to check the storage mapping
/// against a database.
package struct PlannedRow: Sendable {
  /// The coordinate of the field that leads to the row.
  package let coordinate: String
  /// A statement that reads whole rows, in the order of `sources`, then each of `values`, then
  /// again, as an array, each that requires so; nothing is filtered.
  package let statement: SQLStatement
  /// The names `this` and, if there is one, `edge`, then the names of joins.
  package let sources: [String]
  package let values: [PlannedValue]
  /// The meaning of aliases in the operation's statement: `t2` is `this`, `t1` is `parent`.
  package let aliases: [(alias: String, word: String)]
  /// The order of a connection or a list.
  package let order: OrderStorage?
  package let filters: [PlannedFilter]
}

/// A value that is read from a row.
package struct PlannedValue: Sendable {
  package enum Kind: Sendable {
    case leaf(LeafFormat, TypeReference)
    /// The key by which an object is found; never null if its field is non-null.
    case key(isNonNull: Bool)
  }

  package let coordinate: String
  package let kind: Kind
  /// The qualifier and the column, if the value is just `this.name`.
  package let column: (word: String, name: String)?
  /// Whether it is written as `NULL`.
  package let isNull: Bool
  /// Whether its object exists only under a condition.
  package let isConditional: Bool

  /// Whether it is read as exactly this type, which a domain over it is not.
  package var isInArray: Bool {
    guard case .leaf(let format, let type) = kind, !isNull else { return false }
    if case .list = type.nullable { return false }
    switch format {
    case .id, .int, .float, .dateTime, .instant, .date: return true
    case .boolean, .string, .decimal, .count, .isCounted, .uuid, .integerText, .json,
      .key:
      return false
    }
  }
}

/// A condition that an argument adds.
package struct PlannedFilter: Sendable {
  /// The coordinate of the argument or input field with the `@where`.
  package let coordinate: String
  /// A statement that finds the rows that satisfy it.
  package let statement: SQLStatement
}

extension Planner {
  /// Returns the plan of an operation without variables, and the rows that its statement reads.
  package func rows(
    of operation: OperationDefinition, source: Source
  ) throws(GraphQLError) -> (plan: ResponsePlan, rows: [PlannedRow]) {
    let recorder = RowRecorder()
    let (plan, _) = try response(
      root(of: operation), operation, [:], reader(of: operation, source: source, variables: []),
      recorder: recorder)
    return (plan, recorder.rows)
  }
}

/// Records the rows of a statement while it is compiled.
final class RowRecorder {
  private struct Value {
    let expression: SQLFragment
    let value: PlannedValue
  }

  private struct Entry {
    let row: RowBuilder
    let parent: RowBuilder?
    let coordinate: String
    let from: [SQLFragment]
    let conditions: [SQLFragment]
    let order: OrderStorage?
  }

  private var values: [ObjectIdentifier: [Value]] = [:]
  private var filters: [ObjectIdentifier: [SelectionCompiler.Filter]] = [:]
  private var entries: [Entry] = []
  private(set) var rows: [PlannedRow] = []

  func note(
    _ kind: PlannedValue.Kind, _ expression: SQLFragment, _ template: SQLTemplate?,
    in row: RowBuilder, _ scope: Scope
  ) {
    values[ObjectIdentifier(row), default: []].append(
      Value(
        expression: expression,
        value: PlannedValue(
          coordinate: scope.coordinate, kind: kind, column: template?.soleColumn,
          isNull: template?.source.uppercased() == "NULL", isConditional: scope.isConditional)))
  }

  func note(
    _ row: RowBuilder, in parent: RowBuilder?, _ scope: Scope, from: [SQLFragment],
    conditions: [SQLFragment] = [], order: OrderStorage? = nil
  ) {
    entries.append(
      Entry(
        row: row, parent: parent, coordinate: scope.coordinate, from: from, conditions: conditions,
        order: order))
  }

  func note(_ filters: [SelectionCompiler.Filter], of row: RowBuilder) {
    // One of a type's filter may ask for anything, with an index or without.
    self.filters[ObjectIdentifier(row), default: []] += filters.filter { !$0.isOfType }
  }

  /// Completes the rows. Call once, after compiling: a row's joins are known only then.
  func finish() {
    rows = entries.map { entry in
      var sources = [(word: "this", alias: entry.row.alias)]
      if let alias = entry.row.edgeAlias { sources.append(("edge", alias)) }
      sources += entry.row.joinAliases
      let values = values[ObjectIdentifier(entry.row)] ?? []
      // PostgreSQL reports the base type for a value of a domain, but the domain for an array of
      // one.
      let columns =
        sources.map { SQLFragment(name: $0.alias) } + values.map(\.expression)
        + values.filter(\.value.isInArray).map { "ARRAY[\($0.expression)]" }
      var aliases = sources.map { (alias: $0.alias, word: $0.word) }
      if let parent = entry.parent, !parent.alias.isEmpty {
        aliases.append((parent.alias, "parent"))
      }
      let filters = filters[ObjectIdentifier(entry.row)] ?? []
      // Each filter is planned with the conditions that always hold, without the other filters.
      let always = entry.conditions.filter { text in !filters.contains { $0.text == text } }
      let planned = filters.map { filter in
        PlannedFilter(
          coordinate: filter.coordinate,
          statement: select([], entry, conditions: always + [filter.text]).statement())
      }
      return PlannedRow(
        coordinate: entry.coordinate, statement: select(columns, entry, conditions: []).statement(),
        sources: sources.map(\.word), values: values.map(\.value), aliases: aliases,
        order: entry.order, filters: planned)
    }
  }

  /// Selects the row's columns for each of the rows that it depends on; with conditions, for any
  /// one of those.
  private func select(
    _ columns: [SQLFragment], _ entry: Entry, conditions: [SQLFragment]
  ) -> SQLFragment {
    var text: SQLFragment = "SELECT \(columns.joined(separator: ", "))\nFROM \(items(entry))"
    if !conditions.isEmpty {
      text.append("\nWHERE \(conditions.joined(separator: "\n  AND "))")
    }
    var parent = entry.parent
    while let row = parent, let outer = entries.first(where: { $0.row === row }) {
      let alias = SQLFragment(name: row.alias)
      let rows: SQLFragment =
        conditions.isEmpty
        ? items(outer) : "(SELECT \(alias).* FROM \(items(outer)) LIMIT 1) AS \(alias)"
      text = "SELECT inside.*\nFROM \(rows)\nCROSS JOIN LATERAL (\(text)) AS inside"
      parent = outer.parent
    }
    return text
  }

  private func items(_ entry: Entry) -> SQLFragment {
    (entry.from + entry.row.joinClauses).joined(separator: "\n")
  }
}
