extension SQLTemplate {
  /// Whether its evaluation may fail for some rows: false only if it consists of columns, variables
  /// and constants, comparisons with `=`, `<` and `>`, and what combines these, also in sub-selects.
  /// Calls, casts of anything but a variable, arithmetic and patterns may fail.
  package var canFail: Bool {
    guard let tokens = try? SQLToken.tokens(of: source).filter({ !$0.isBlank }) else { return true }
    for (place, token) in tokens.enumerated() {
      let next = place + 1 < tokens.count ? tokens[place + 1] : nil
      let isCall = next?.isSymbol("(") ?? false
      switch token.kind {
      case .space, .lineComment, .blockComment, .string, .variable: continue
      case .quotedName: if isCall { return true }
      case .name:
        let word = token.text.lowercased()
        // What follows a dot is the name of a column, such as `this.at`, or of a function.
        let isQualified = place > 0 && tokens[place - 1].isSymbol(".")
        if isCall
          ? isQualified || !Self.harmless.contains(word)
          : !isQualified && Self.failing.contains(word)
        {
          return true
        }
      case .symbol(let symbol):
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if token.text == "::", place > 0 {
          switch tokens[place - 1].kind {
          case .variable, .string: continue
          case .space, .lineComment, .blockComment, .name, .quotedName, .symbol: return true
          }
        }
        guard digits.contains(symbol) || "(),.=<>!".utf8.contains(symbol) else { return true }
      }
    }
    return false
  }

  /// The words that are operators which may fail, or whose operands are converted.
  private static let failing: Set<String> = [
    "like", "ilike", "similar", "at", "operator", "xmlparse",
  ]

  /// The words that a bracket may follow without a call.
  private static let harmless: Set<String> = [
    "all", "and", "any", "between", "by", "case", "distinct", "else", "exists", "from", "in", "is",
    "lateral", "not", "on", "or", "select", "some", "then", "union", "values", "when", "where",
  ]

  /// The conditions that are joined by `AND`; the whole condition if there are none, or if a word on
  /// the same level could make another sense of it.
  package var conjuncts: [SQLTemplate] {
    guard let tokens = try? SQLToken.tokens(of: source) else { return [self] }
    // What follows a dot is the name of a column, such as `this.between`.
    let words = tokens.indices.filter { place in
      tokens[place].isOutermost && (place == 0 || !tokens[place - 1].isSymbol("."))
    }
    let others = ["or", "between", "case", "select"]
    guard !words.contains(where: { others.contains(where: tokens[$0].isWord) }) else {
      return [self]
    }
    let ends = words.filter { tokens[$0].isWord("and") }
    let starts = [0] + ends.map { $0 + 1 }
    return zip(starts, ends + [tokens.count]).map { SQLTemplate(tokens[$0..<$1]) }
  }

  /// Whether it says only which columns are equal.
  package var isJoin: Bool {
    let parts = equalities
    return !parts.isEmpty && parts.count == conjuncts.count
      && parts.allSatisfy { $0.left.soleColumn != nil && $0.right.soleColumn != nil }
  }
}
