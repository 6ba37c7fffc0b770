import GraphQLPlanning
import GraphQLSchema
import Postgres
import SQL

/// Reports lists without pages that have all rows of a large table. The server refuses such a list
/// if it is longer than a response may be (`--maximum-elements`), but PostgreSQL has read it by
/// then.
struct ListCheck {
  let mapping: StorageMapping
  let catalog: DatabaseCatalog
  let maximumRows: Int

  func finding(for row: DescribedRow) -> StorageFinding? {
    let parts = row.row.coordinate.split(separator: ".").map(String.init)
    guard parts.count == 2, let type = mapping.schema.typesByName[parts[0]],
      let field = mapping[type]?.fields[parts[1]], case .relation(let relation) = field.kind,
      !relation.isConnection, relation.ids == nil,
      field.definition.argument(named: "limit") == nil,
      // The rows of one object or one viewer are assumed to be few.
      ![relation.condition, relation.from, relation.rows].compactMap(\.self).contains(where: {
        $0.mentions(qualifier: "parent") || !$0.variables.isEmpty
      }),
      let source = row.source(relation.from == nil ? "this" : "edge"),
      let table = catalog.relations[source], table.isTable,
      table.rowCount > Double(maximumRows)
    else { return nil }
    return StorageFinding(
      .warning, row.row.coordinate,
      "the list has all \(Int(table.rowCount)) rows of \(table.name), and is refused beyond \(maximumRows); "
        + "give it the argument limit: Int! = 20, or make it a @connection.")
  }
}
