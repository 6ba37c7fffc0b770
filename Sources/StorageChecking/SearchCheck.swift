import GraphQLPlanning
import JSON
import Postgres

/// Conditions of a `@where` for which PostgreSQL would read a whole large table, because no index
/// serves them.
struct SearchCheck {
  private struct Search {
    let filter: PlannedFilter
    /// Names of the large tables it reads, with their numbers of rows.
    let tables: [String: Double]
  }

  private let searches: [Search]

  init(catalog: DatabaseCatalog, rows: [DescribedRow], largeTableRows: Int) {
    var searches: [Search] = []
    var known: Set<String> = []
    for row in rows where !row.row.filters.isEmpty {
      var tables: [String: Double] = [:]
      for word in ["this", "edge"] {
        guard let type = row.source(word), let relation = catalog.relations[type],
          relation.isTable, relation.rowCount >= Double(largeTableRows)
        else { continue }
        tables[Self.unqualified(relation.name)] = relation.rowCount
      }
      guard !tables.isEmpty else { continue }
      for filter in row.row.filters
      where known.insert(filter.coordinate + "\n" + filter.statement.text).inserted {
        searches.append(Search(filter: filter, tables: tables))
      }
    }
    self.searches = searches
  }

  /// A scan of a whole table is planned only where nothing else is possible.
  var commands: [PipelinedCommand] {
    guard !searches.isEmpty else { return [] }
    return [.execute("SET enable_seqscan = off")]
      + searches.flatMap {
        ProbePlan.explain($0.filter.statement, options: "FORMAT JSON")
      } + [.execute("RESET enable_seqscan")]
  }

  func findings(_ answers: [Result<PipelinedAnswer, PostgresError>]) -> [StorageFinding] {
    searches.enumerated().compactMap { place, search in
      guard case .success(let answer)? = answers.dropFirst(2 + place * 3).first,
        let text = answer.rows.first?.first ?? nil,
        let plan = try? JSONParser.parse(Array(text.utf8)),
        case .array(let statements) = plan, let root = statements.first?["Plan"],
        let table = scannedTable(root, search.tables, depth: 0)
      else { return nil }
      let rows = Int(search.tables[table] ?? 0)
      return StorageFinding(
        .warning, search.filter.coordinate,
        "no index of \(table) serves its condition, and the table has \(rows) rows; create one for "
          + "what the condition compares, or leave the argument out.")
    }
  }

  /// A table of these that the plan reads as a whole.
  private func scannedTable(
    _ node: JSONValue, _ tables: [String: Double], depth: Int
  ) -> String? {
    guard depth < 100, let kind = node["Node Type"]?.text else { return nil }
    // Of what a row hangs on one is taken.
    if kind == "Limit" { return nil }
    if let table = node["Relation Name"]?.text, tables[table] != nil, kind.hasSuffix("Scan"),
      kind == "Seq Scan" || kind.hasPrefix("Index") && node["Index Cond"] == nil
    {
      return table
    }
    guard case .array(let plans)? = node["Plans"] else { return nil }
    for plan in plans {
      if let table = scannedTable(plan, tables, depth: depth + 1) { return table }
    }
    return nil
  }

  /// As EXPLAIN names it: of `other."Post"` it is `Post`.
  private static func unqualified(_ name: String) -> String {
    String(name.split(separator: ".").last ?? "").replacing("\"", with: "")
  }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
