/// The entries of `GraphContract` that a database has. Read one with `PostgresSession.contract()`.
package struct ProvidedContract: Sendable {
  private let provided: Set<String>

  /// A statement that returns a row for each entry that the search path finds.
  package static let question = GraphContract.all.map { entry in
    let found =
      switch entry.form {
      case .function: "to_regprocedure('\(entry.signature)')::oid"
      case .relation: "to_regclass('\(entry.name)')::oid"
      }
    return "SELECT '\(entry.signature)' WHERE \(found) IS NOT NULL"
  }.joined(separator: " UNION ALL ")

  /// - Parameter rows: what `question` returned.
  package init(rows: [[String?]]) {
    provided = Set(rows.compactMap { $0.first ?? nil })
  }

  package func has(_ entry: ContractEntry) -> Bool { provided.contains(entry.signature) }

  /// Returns the use of an entry, or the consequence if it is missing.
  package func consequence(of entry: ContractEntry) -> String {
    has(entry) ? entry.use : entry.consequence
  }

  /// The entries that the database lacks, in the order of the list.
  package var missing: [ContractEntry] { GraphContract.all.filter { !has($0) } }
}
