import GraphQLPlanning
import Postgres

/// A row that statements read, with PostgreSQL's types of what is in it.
struct DescribedRow {
  let row: PlannedRow
  /// Of its sources, then of its values.
  let columns: [PostgresType]

  /// All rows of some plans from which there is something to learn; those that PostgreSQL cannot
  /// describe are named by the check of statements.
  static func describe(
    _ plans: [ProbePlan], _ session: PostgresSession
  ) throws(PostgresError) -> [DescribedRow] {
    var rows: [PlannedRow] = []
    var known: Set<String> = []
    for row in plans.flatMap(\.rows)
    where !row.values.isEmpty || row.order != nil || !row.filters.isEmpty {
      if known.insert(row.coordinate + "\n" + row.statement.text).inserted { rows.append(row) }
    }
    let answers = try session.pipeline(rows.map { .describe($0.statement.text) })
    return zip(rows, answers).compactMap { row, answer in
      guard case .success(let answer) = answer else { return nil }
      return DescribedRow(row: row, columns: answer.columns)
    }
  }

  /// The type of a whole row by its word in directives: `this`, `edge`, a join's name.
  func source(_ word: String) -> PostgresType? {
    // A value of an object is read from its own row, which what hangs on it calls its parent.
    let word = word == "parent" ? "this" : word
    return zip(row.sources, columns).first { $0.0 == word }?.1
  }

  /// Each value with its type, and that of an array of it where it is read as one, too.
  var values: [(value: PlannedValue, type: PostgresType, array: PostgresType?)] {
    var arrays = columns.dropFirst(row.sources.count + row.values.count)
    return zip(row.values, columns.dropFirst(row.sources.count)).map { value, type in
      (value, type, value.isInArray ? arrays.popFirst() : nil)
    }
  }
}

extension DatabaseCatalog {
  /// The table and column that a value is, when it is nothing else.
  func column(
    of value: PlannedValue, in row: DescribedRow
  ) -> (relation: Relation, column: Column, name: String)? {
    guard let (word, name) = value.column, let type = row.source(word),
      let relation = relations[type], relation.isTable, let column = relation.columns[name]
    else { return nil }
    return (relation, column, name)
  }
}
