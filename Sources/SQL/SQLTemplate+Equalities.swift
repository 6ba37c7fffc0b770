extension SQLTemplate {
  /// What a condition asks to be equal, whatever else it asks for: the sides of each `=` among the
  /// conditions that it joins by `AND`. None where there is an `OR` or a `BETWEEN` beside them.
  package var equalities: [(left: SQLTemplate, right: SQLTemplate)] {
    guard let tokens = try? SQLToken.tokens(of: source),
      !tokens.contains(where: { $0.isOutermost && ($0.isWord("or") || $0.isWord("between")) })
    else { return [] }
    return tokens.split { $0.isOutermost && $0.isWord("and") }.compactMap { part in
      let operators = part.indices.filter { place in
        part[place].isOutermost && "=<>!~".unicodeScalars.contains { part[place].isSymbol($0) }
      }
      guard operators.count == 1, part[operators[0]].isSymbol("=") else { return nil }
      return (
        SQLTemplate(part[..<operators[0]]), SQLTemplate(part[(operators[0] + 1)...])
      )
    }
  }

  /// `this.name` or `this."name"`: the word and the column as PostgreSQL's catalogs have it, when it is nothing else.
  package var soleColumn: (word: String, name: String)? {
    guard pieces.count == 2, case .qualifier(let word) = pieces[0],
      case .text(let text) = pieces[1], text.first == ".",
      let tokens = try? SQLToken.tokens(of: text),
      tokens.count == 2, tokens[1].kind == .name || tokens[1].kind == .quotedName
    else { return nil }
    return (word, SQLQuoting.catalogName(tokens[1]))
  }

  /// Whether it says anything of a row: by `this.`, `edge.` or another name before a dot.
  package func mentions(qualifier name: String) -> Bool { pieces.contains(.qualifier(name)) }
}
