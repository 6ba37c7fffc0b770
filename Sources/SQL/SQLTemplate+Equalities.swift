extension SQLTemplate {
  /// The equalities that a condition requires, whatever else it requires: both sides of each `=`
  /// among the conditions joined by `AND`. There are none if an `OR` or a `BETWEEN` is on the same
  /// level.
  package var equalities: [(left: SQLTemplate, right: SQLTemplate)] {
    guard let tokens = try? SQLToken.tokens(of: source) else { return [] }
    // What follows a dot is the name of a column, such as `this.between`.
    let words = tokens.indices.filter { place in
      tokens[place].isOutermost && (place == 0 || !tokens[place - 1].isSymbol("."))
        && ["and", "or", "between"].contains(where: tokens[place].isWord)
    }
    guard words.allSatisfy({ tokens[$0].isWord("and") }) else { return [] }
    let starts = [0] + words.map { $0 + 1 }
    let parts = zip(starts, words + [tokens.count]).map { tokens[$0..<$1] }
    return parts.compactMap { part in
      let operators = part.indices.filter { place in
        part[place].isOutermost && "=<>!~".unicodeScalars.contains { part[place].isSymbol($0) }
      }
      guard operators.count == 1, part[operators[0]].isSymbol("=") else { return nil }
      return (
        SQLTemplate(part[..<operators[0]]), SQLTemplate(part[(operators[0] + 1)...])
      )
    }
  }

  /// The qualifier and the column's catalog name, if the template is only `this.name` or
  /// `this."name"`.
  package var soleColumn: (word: String, name: String)? {
    guard pieces.count == 2, case .qualifier(let word) = pieces[0],
      case .text(let text) = pieces[1], text.first == ".",
      let tokens = try? SQLToken.tokens(of: text),
      tokens.count == 2, tokens[1].kind == .name || tokens[1].kind == .quotedName
    else { return nil }
    return (word, SQLQuoting.catalogName(tokens[1]))
  }

  /// The last name in the catalog: that of the table, if the template is one, such as
  /// `sales."Order"`.
  package var lastName: String {
    let last = (try? SQLToken.tokens(of: source))?.last { !$0.isBlank }
    return last.map { SQLQuoting.catalogName($0) } ?? ""
  }

  /// Whether the template refers to a row by this qualifier: `this.`, `edge.` or another name
  /// before a dot.
  package func mentions(qualifier name: String) -> Bool { pieces.contains(.qualifier(name)) }
}
