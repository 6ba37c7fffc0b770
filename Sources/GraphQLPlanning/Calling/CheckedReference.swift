import GraphQLSchema
import SQL

/// A reference of rows that are written to rows with a rule: it must lead to one that the viewer may
/// see.
///
/// PostgreSQL's foreign key accepts any row that there is. Without this check a client would find out
/// by it which keys hidden rows have.
struct CheckedReference {
  /// The columns of the written row, and those of the other one, by their names in the catalog.
  let columns: [(own: String, other: String)]
  let target: TypeID
  /// The rows that the rule lets through.
  let rows: SQLTemplate

  /// Returns the columns of written rows that the check reads, as statements write them.
  ///
  /// - Parameter type: the type of the rows, which may refer to each other.
  func names(in type: TypeID?) -> [String] {
    let names = columns.map(\.own) + (target == type ? columns.map(\.other) : [])
    return names.map { SQLQuoting.name($0) }
  }
}

extension StorageMapping {
  /// Returns the references of a type that are checked when one of these columns is written: its
  /// fields with `@reference` by columns alone, to types with `@table(where:)`.
  ///
  /// - Parameter written: is asked for the columns only if the type has such a reference.
  func checkedReferences(
    of type: TypeID, writing written: () -> Set<String>
  ) -> [CheckedReference] {
    let all = schema[type].fields.compactMap { field -> CheckedReference? in
      guard case .reference(let reference)? = self[type]?.fields[field.name]?.kind,
        reference.from == nil, reference.rows == nil,
        let table = self[field.type.namedType]?.table, table.masked == nil, table.rule != nil
      else { return nil }
      var columns: [(own: String, other: String)] = []
      if let own = reference.id?.soleColumn?.name {
        columns.append((own, SQLQuoting.catalogName(table.key)))
      }
      for (left, right) in reference.condition?.equalities ?? [] {
        guard let left = left.soleColumn, let right = right.soleColumn else { return nil }
        switch (left.word, right.word) {
        case ("this", "parent"): columns.append((right.name, left.name))
        case ("parent", "this"): columns.append((left.name, right.name))
        default: return nil
        }
      }
      return CheckedReference(columns: columns, target: field.type.namedType, rows: table.name)
    }
    guard !all.isEmpty else { return [] }
    let columns = written()
    return all.filter { $0.columns.contains { columns.contains($0.own) } }
  }
}

extension CallCompiler {
  /// Returns the branch of a CASE that fails if a written row refers to a row that does not exist for
  /// the viewer.
  ///
  /// - Parameters:
  ///   - name: the part of the statement with the written rows.
  ///   - others: the part with all rows of the field that are of the type.
  ///   - type: their type.
  ///   - table: the name of their table, without its namespace.
  func refusal(
    _ reference: CheckedReference, of name: String, among others: String, _ type: TypeID?,
    in table: String, _ compiler: SelectionCompiler, _ scope: Scope
  ) -> SQLFragment {
    let alias = compiler.statement.alias()
    func own(_ column: (own: String, other: String)) -> SQLFragment {
      "\(name: name).\(name: SQLQuoting.identifier(column.own))"
    }
    let isGiven = reference.columns.map { column -> SQLFragment in
      "\(own(column)) IS NOT NULL"
    }
    let isEqual = reference.columns.map { column -> SQLFragment in
      "\(name: alias).\(name: SQLQuoting.identifier(column.other)) = \(own(column))"
    }
    let rows = compiler.renderer.render(reference.rows, scope, isNoted: false)
    var found: SQLFragment =
      "NOT EXISTS (SELECT FROM \(rows) AS \(name: alias) WHERE \(isEqual.joined(separator: " AND ")))"
    // A row may refer to one that is written with it, which the statement does not see.
    if reference.target == type {
      found.append(
        """
         AND NOT EXISTS (SELECT FROM \(name: others) AS \(name: alias) \
        WHERE \(isEqual.joined(separator: " AND ")))
        """)
    }
    let count: SQLFragment = """
      (SELECT count(*) FROM \(name: name) WHERE \(isGiven.joined(separator: " AND ")) AND \(found))
      """
    let text = WriteRefusal.reference(from: table, by: reference.columns.map(\.own))
    return "WHEN \(count) > 0 THEN \(failure(text, count))"
  }
}
