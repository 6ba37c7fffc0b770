/// Quotes text of the schema, never of a client, for use in statements.
package enum SQLQuoting {
  /// Returns a literal such as `'it''s'`. Strings are standard-conforming: a backslash is a
  /// backslash.
  package static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }

  /// Returns the text of a literal such as `'it''s'`; nil for anything but one string in plain
  /// quotes.
  package static func text(ofLiteral source: String) -> String? {
    guard source.utf8.first == UInt8(ascii: "'"),
      let tokens = try? SQLToken.tokens(of: source), tokens.count == 1, tokens[0].kind == .string
    else { return nil }
    return source.dropFirst().dropLast()
      .split(separator: "''", omittingEmptySubsequences: false).joined(separator: "'")
  }

  /// Checks that a text is a name as statements write it: `created_at` or `"createdAt"`.
  ///
  /// - Throws: `SQLSyntaxError` if it is not.
  package static func checkName(_ source: String) throws(SQLSyntaxError) {
    let tokens = try SQLToken.tokens(of: source)
    guard tokens.count == 1, tokens[0].kind == .name || tokens[0].kind == .quotedName else {
      throw SQLSyntaxError("\"\(source)\" is not a name.")
    }
  }

  /// Returns the names in a list such as `actor_id, "filmId"`, as statements write them.
  ///
  /// - Throws: `SQLSyntaxError` if it is none.
  package static func names(in source: String) throws(SQLSyntaxError) -> [String] {
    var names: [String] = []
    for part in try SQLToken.tokens(of: source).split(
      omittingEmptySubsequences: false, whereSeparator: { $0.isSymbol(",") })
    {
      let words = part.filter { !$0.isBlank }
      guard words.count == 1, words[0].kind == .name || words[0].kind == .quotedName else {
        throw SQLSyntaxError("\"\(source)\" is not a name, nor names with commas between them.")
      }
      names.append(written(words[0].text))
    }
    return names
  }

  /// Checks that a text is a type as casts name it: `uuid`, `double precision`, `varchar(20)`,
  /// `inventory."Size"`, `int4[]`.
  ///
  /// - Throws: `SQLSyntaxError` if it is not.
  package static func checkType(_ source: String) throws(SQLSyntaxError) {
    let tokens = try SQLToken.tokens(of: source)
    let isType = tokens.allSatisfy { token in
      switch token.kind {
      case .name, .quotedName, .space: true
      case .symbol:
        ["(", ")", "[", "]", ",", "."].contains { token.isSymbol($0) } || isNumber(token)
      case .string, .lineComment, .blockComment, .variable: false
      }
    }
    guard isType, tokens.first?.kind == .name || tokens.first?.kind == .quotedName else {
      throw SQLSyntaxError("\"\(source)\" is not a type.")
    }
  }

  private static func isNumber(_ token: SQLToken) -> Bool {
    !token.text.isEmpty && token.text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Returns a column's name in PostgreSQL's catalogs as statements write it: `created_at`,
  /// `"createdAt"`.
  package static func name(_ name: String) -> String {
    let isPlain =
      name.utf8.first.map { !(0x30...0x39).contains($0) && $0 != UInt8(ascii: "$") } ?? false
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
          || (0x30...0x39).contains(byte)
          || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
      }
    return isPlain ? name : identifier(name)
  }

  /// Returns the name of a column as a directive gives it, quoted if needed. Unquoted, PostgreSQL
  /// would read `Id` as `id`, which the author of the directive does not mean.
  package static func written(_ source: String) -> String {
    source.utf8.first == UInt8(ascii: "\"")
      || !source.utf8.contains(where: { (0x41...0x5A).contains($0) })
      ? source : name(source)
  }

  /// Returns the catalog name of a name as statements write it: `createdAt` for `"createdAt"`.
  package static func catalogName(_ written: String) -> String {
    (try? SQLToken.tokens(of: written))?.first.map { catalogName($0) } ?? written
  }

  /// Returns a name as statements write it in quotes: reserved words, too, are names then.
  package static func quoted(_ written: String) -> String {
    identifier(catalogName(written))
  }

  /// Returns a name in PostgreSQL's catalogs in quotes, whatever it holds.
  package static func identifier(_ name: String) -> String {
    let parts = name.split(separator: "\"", omittingEmptySubsequences: false)
    return "\"\(parts.joined(separator: "\"\""))\""
  }

  /// Returns the catalog name of a token: the text between its quotes, or its lower-cased text.
  static func catalogName(_ token: SQLToken) -> String {
    guard token.kind == .quotedName else {
      let bytes = token.text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return String(decoding: bytes, as: UTF8.self)
    }
    return token.text.dropFirst().dropLast()
      .split(separator: "\"\"", omittingEmptySubsequences: false).joined(separator: "\"")
  }

  /// Returns an array literal such as `'{A,B}'`, whose elements are quoted where needed; a nil is a
  /// null.
  package static func arrayLiteral(_ elements: [String?]) -> String {
    let quoted = elements.map { element in
      guard let element else { return "NULL" }
      return element.utf8.allSatisfy(isPlain) && !element.isEmpty && element.uppercased() != "NULL"
        ? element
        : "\"" + element.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : "\($1)" }
          + "\""
    }
    return literal("{" + quoted.joined(separator: ",") + "}")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
      || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
  }

  /// Returns `created_at` for `createdAt`.
  package static func snakeCase(_ name: String) -> String {
    var result = ""
    for character in name {
      if character.isUppercase {
        if !result.isEmpty { result += "_" }
        result += character.lowercased()
      } else {
        result.append(character)
      }
    }
    return result
  }
}
