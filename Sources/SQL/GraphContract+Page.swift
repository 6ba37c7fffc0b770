extension GraphContract {
  /// The page `docs/reference/sql-contract.md`, in Markdown.
  package static var page: String {
    let rows = all.map { entry in
      "| `\(entry.signature)` | \(entry.columns) | \(entry.callers.map(\.name).joined(separator: ", ")) "
        + "| \(entry.use) | \(entry.consequence)\(entry.requirement) |"
    }
    return """
      # SQL contract

      The functions, views, and tables that the program itself calls or reads, besides those that the directives of a
      schema name. All are optional unless an option requires them. A graph that lacks one works without what it is for.
      `sociograph migrate` creates those named `sociograph_...`, and grants the roles that serve what is listed for them.
      `migrate`, `schema --check`, and the start of `serve` compare the database with this list.

      The reader is the role of queries (`--server-role`), the writer that of mutations and background tasks
      (`--writer-role`), and the owner runs `migrate` and other commands.

      | Name | Columns | Called by | With it, the program | Without it |
      |---|---|---|---|---|
      \(rows.joined(separator: "\n"))

      In addition, `sociograph verify` calls every function `verify_<what>()` that has no arguments and returns rows, and
      reports each row as an error.

      This page is generated from `Sources/SQL/GraphContract.swift`. `SOCIOGRAPH_UPDATE_FIXTURES=1 script/test --filter
      GraphContractPageTests` writes it again.

      """
  }
}

extension ContractEntry {
  fileprivate var columns: String {
    switch form {
    case .function: ""
    case .relation(let columns): columns.map { "`\($0)`" }.joined(separator: ", ")
    }
  }

  fileprivate var requirement: String {
    requiredBy.map { "; `\($0.rawValue)` requires it" } ?? ""
  }
}

extension ContractEntry.Caller {
  fileprivate var name: String {
    switch self {
    case .reader: "reader"
    case .writer: "writer"
    case .owner: "owner"
    }
  }
}
