/// One key of an `ORDER BY`.
package struct SQLSortKey: Sendable, Hashable {
  package let expression: SQLTemplate
  package let isDescending: Bool
  /// Whether nulls come first; nil if the key is never null.
  package let nullsFirst: Bool?
  /// The type of a value that cursors have as its text, as it may have no binary form.
  package var textType: String?

  package init(expression: SQLTemplate, isDescending: Bool, nullsFirst: Bool?) {
    self.expression = expression
    self.isDescending = isDescending
    self.nullsFirst = nullsFirst
  }

  /// Parses a list such as `this.name, this.born DESC NULLS LAST`, split at the commas outside of
  /// brackets.
  ///
  /// - Throws: the errors of a template, and an error if a required key is missing.
  package static func list(
    _ source: String, isRequired: Bool = false
  ) throws(SQLSyntaxError) -> [SQLSortKey] {
    let tokens = try SQLToken.tokens(of: source)
    if !isRequired, tokens.allSatisfy(\.isBlank) { return [] }
    var keys: [SQLSortKey] = []
    for part in tokens.split(
      omittingEmptySubsequences: false, whereSeparator: { $0.isOutermost && $0.isSymbol(",") })
    {
      keys.append(try SQLSortKey(part))
    }
    return keys
  }

  private init(_ tokens: ArraySlice<SQLToken>) throws(SQLSyntaxError) {
    var tokens = tokens.trimmed()
    var words = tokens.filter { !$0.isBlank }
    func drop() {
      words.removeLast()
      tokens = tokens.dropLast().trimmed()
    }
    var nullsFirst: Bool?
    if words.count > 2, let last = words.last, words[words.count - 2].isWord("nulls"),
      last.isWord("first") || last.isWord("last")
    {
      nullsFirst = last.isWord("first")
      drop()
      drop()
    }
    var isDescending = false
    if words.count > 1, let last = words.last, !words[words.count - 2].isSymbol("."),
      last.isWord("desc") || last.isWord("asc")
    {
      isDescending = last.isWord("desc")
      drop()
    }
    guard !tokens.isEmpty else { throw SQLSyntaxError("A sort key is missing.") }
    expression = SQLTemplate(tokens)
    self.isDescending = isDescending
    self.nullsFirst = nullsFirst
  }
}
