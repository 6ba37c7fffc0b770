/// What roles may do with mutations, from a table in text.
///
/// A comment that begins with `# mutation` names the columns: the mutation, what it is aimed at, and
/// a role each. Every other line that is no comment is a row:
///
///     # mutation  target   anonymous        member
///     deletePost  other's  UNAUTHENTICATED  FORBIDDEN
package struct SchemaRights: Sendable {
  package private(set) var roles: [String] = []
  package private(set) var rights: [SchemaSite.Right] = []

  package init() {}

  /// - Returns: nil if a row has another number of columns than the heading, or comes before it.
  package init?(_ text: String) {
    for line in text.split(separator: "\n") {
      let isComment = line.hasPrefix("#")
      let cells = line.drop { $0 == "#" || $0 == " " }.split(separator: " ").map(String.init)
      if isComment {
        if cells.count > 2, cells[0] == "mutation" { roles = Array(cells.dropFirst(2)) }
        continue
      }
      guard !cells.isEmpty else { continue }
      guard cells.count == roles.count + 2, !roles.isEmpty else { return nil }
      rights.append(
        SchemaSite.Right(
          mutation: cells[0], target: cells[1], outcomes: Array(cells.dropFirst(2))))
    }
  }
}
