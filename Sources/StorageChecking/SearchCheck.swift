import GraphQLPlanning
import JSON
import Postgres

/// Reports conditions of a `@where` for which PostgreSQL would read a whole large table, because no
/// index serves them.
struct SearchCheck {
  private struct Search {
    let filter: PlannedFilter
    /// The large tables that it reads, by their names.
    let tables: [String: DatabaseCatalog.Relation]
  }

  private let searches: [Search]

  init(catalog: DatabaseCatalog, rows: [DescribedRow], largeTableRows: Int) {
    var searches: [Search] = []
    var known: Set<String> = []
    for row in rows where !row.row.filters.isEmpty {
      var tables: [String: DatabaseCatalog.Relation] = [:]
      for word in ["this", "edge"] {
        guard let type = row.source(word), let relation = catalog.relations[type],
          relation.isTable, relation.rowCount >= Double(largeTableRows)
        else { continue }
        tables[Self.unqualified(relation.name)] = relation
      }
      guard !tables.isEmpty else { continue }
      for filter in row.row.filters
      where known.insert(filter.coordinate + "\n" + filter.statement.text).inserted {
        searches.append(Search(filter: filter, tables: tables))
      }
    }
    self.searches = searches
  }

  /// The commands that plan each search twice. It is reported if both plans read a table as a
  /// whole.
  ///
  /// If sequential scans are discouraged, one is planned only if nothing else is possible, but
  /// other discouraged nodes of the plan then outweigh all differences. If they are not, one may
  /// just be the best plan.
  var commands: [PipelinedCommand] {
    guard !searches.isEmpty else { return [] }
    let explained = searches.flatMap {
      ProbePlan.explain($0.filter.statement, options: "FORMAT JSON")
    }
    return Self.discouraged.map { .execute("SET \($0) = off") } + explained
      + Self.discouraged.map { .execute("RESET \($0)") } + explained
  }

  private static let discouraged = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"]

  func findings(_ answers: [Result<PipelinedAnswer, PostgresError>]) -> [StorageFinding] {
    let settings = Self.discouraged.count
    return searches.enumerated().compactMap { place, search in
      // EXPLAIN is the second of the three commands of each search.
      let first = settings + place * 3 + 1
      let second = first + settings + searches.count * 3
      guard let table = scannedTable(answers.dropFirst(first).first, search.tables),
        scannedTable(answers.dropFirst(second).first, search.tables) != nil
      else { return nil }
      let rows = Int(search.tables[table]?.rowCount ?? 0)
      return StorageFinding(
        .warning, search.filter.coordinate,
        "no index of \(table) serves its condition, and the table has \(rows) rows; create one for "
          + "what the condition compares, or leave the argument out.")
    }
  }

  private func scannedTable(
    _ answer: Result<PipelinedAnswer, PostgresError>?, _ tables: [String: DatabaseCatalog.Relation]
  ) -> String? {
    guard case .success(let answer)? = answer, let text = answer.rows.first?.first ?? nil,
      let plan = try? JSONParser.parse(Array(text.utf8)),
      case .array(let statements) = plan, let root = statements.first?["Plan"]
    else { return nil }
    return scannedTable(root, tables, depth: 0)
  }

  /// Returns one of these tables if the plan reads it as a whole to find few of its rows. If many
  /// rows are expected, an index does not help, because a page is soon full.
  private func scannedTable(
    _ node: JSONValue, _ tables: [String: DatabaseCatalog.Relation], depth: Int
  ) -> String? {
    guard depth < 100, let kind = node["Node Type"]?.text else { return nil }
    // A limit reads one row, and a condition that is never true reads none.
    if kind == "Limit" || node["One-Time Filter"]?.text == "false" { return nil }
    if let table = node["Relation Name"]?.text, let relation = tables[table],
      kind.hasSuffix("Scan"), kind == "Seq Scan" || isWholeIndex(node, of: relation),
      node["Filter"] == nil && node["Index Cond"] == nil
        || (node["Plan Rows"]?.number ?? 0) * 100 < relation.rowCount
    {
      return table
    }
    guard case .array(let plans)? = node["Plans"] else { return nil }
    for plan in plans {
      if let table = scannedTable(plan, tables, depth: depth + 1) { return table }
    }
    return nil
  }

  /// Returns whether all of an index is read, because the condition is not on its first columns. An
  /// index with few of the rows may be read so.
  private func isWholeIndex(_ node: JSONValue, of relation: DatabaseCatalog.Relation) -> Bool {
    guard let index = node["Index Name"]?.text, !relation.narrowIndexes.contains(index) else {
      return false
    }
    guard let condition = node["Index Cond"]?.text else { return true }
    guard let first = relation.indexes[index] else { return false }
    return condition.ranges(of: first).allSatisfy { place in
      let before = condition[..<place.lowerBound].last
      let after = condition[place.upperBound...].first
      return [before, after].contains {
        $0.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
      }
    }
  }

  /// Returns the name as EXPLAIN prints it: `Post` for `other."Post"`.
  private static func unqualified(_ name: String) -> String {
    String(name.split(separator: ".").last ?? "").replacing("\"", with: "")
  }
}

extension JSONValue {
  fileprivate var number: Double? {
    if case .number(let text) = self { Double(text) } else { nil }
  }

  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
}
