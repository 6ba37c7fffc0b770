import GraphQLPlanning
import Postgres

/// A row that statements read, with PostgreSQL's types of its columns.
struct DescribedRow {
  let row: PlannedRow
  /// The types of its sources, then of its values.
  let columns: [PostgresType]

  /// Describes the rows of plans that can be described. The check of statements reports those that
  /// PostgreSQL cannot describe.
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

  /// Returns the type of a whole row by its word in directives: `this`, `edge`, a join's name.
  func source(_ word: String) -> PostgresType? {
    // A value of an object is read from the object's own row, which is `parent` for its relations.
    let word = word == "parent" ? "this" : word
    return zip(row.sources, columns).first { $0.0 == word }?.1
  }

  /// Each value with its type, and the type of an array of it if it is also read as one.
  var values: [(value: PlannedValue, type: PostgresType, array: PostgresType?)] {
    var arrays = columns.dropFirst(row.sources.count + row.values.count)
    return zip(row.values, columns.dropFirst(row.sources.count)).map { value, type in
      (value, type, value.isInArray ? arrays.popFirst() : nil)
    }
  }
}

extension DatabaseCatalog {
  /// Returns the table and column of a value; nil if it is not just a column.
  func column(
    of value: PlannedValue, in row: DescribedRow
  ) -> (relation: Relation, column: Column, name: String)? {
    guard let (word, name) = value.column, let type = row.source(word),
      let relation = relations[type], relation.isTable, let column = relation.columns[name]
    else { return nil }
    return (relation, column, name)
  }
}
