/// Quoting of what the schema, never a client, puts into statement text.
package enum SQLQuoting {
  /// `'it''s'`. Standard-conforming strings: a backslash is a backslash.
  package static func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }

  /// The text of `'it''s'`; nil for anything but one string in plain quotes.
  package static func text(ofLiteral source: String) -> String? {
    guard source.utf8.first == UInt8(ascii: "'"),
      let tokens = try? SQLToken.tokens(of: source), tokens.count == 1, tokens[0].kind == .string
    else { return nil }
    return source.dropFirst().dropLast()
      .split(separator: "''", omittingEmptySubsequences: false).joined(separator: "'")
  }

  /// - Throws: unless it is a name as a statement has it: `created_at` or `"createdAt"`.
  package static func checkName(_ source: String) throws(SQLSyntaxError) {
    let tokens = try SQLToken.tokens(of: source)
    guard tokens.count == 1, tokens[0].kind == .name || tokens[0].kind == .quotedName else {
      throw SQLSyntaxError("\"\(source)\" is not a name.")
    }
  }

  /// A column's name, as PostgreSQL's catalogs have it, as a statement needs it: `created_at`, `"createdAt"`.
  package static func name(_ name: String) -> String {
    let isPlain =
      name.utf8.first.map { !(0x30...0x39).contains($0) && $0 != UInt8(ascii: "$") } ?? false
      && name.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte >= 0x80
          || (0x30...0x39).contains(byte)
          || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
      }
    return isPlain
      ? name
      : "\""
        + name.split(separator: "\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\"") + "\""
  }

  /// A name of a column that a directive gives. PostgreSQL would take `Id` for `id`, which nobody means who writes it so.
  package static func written(_ source: String) -> String {
    source.utf8.first == UInt8(ascii: "\"")
      || !source.utf8.contains(where: { (0x41...0x5A).contains($0) })
      ? source : name(source)
  }

  /// The name that a token is of: what stands in quotes, or in small letters what does not.
  static func catalogName(_ token: SQLToken) -> String {
    guard token.kind == .quotedName else {
      let bytes = token.text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return String(decoding: bytes, as: UTF8.self)
    }
    return token.text.dropFirst().dropLast()
      .split(separator: "\"\"", omittingEmptySubsequences: false).joined(separator: "\"")
  }

  /// An element of an array literal such as `'{A,B}'`, quoted where it needs to be.
  package static func arrayLiteral(_ elements: [String]) -> String {
    let quoted = elements.map { element in
      element.utf8.allSatisfy(isPlain) && !element.isEmpty && element.uppercased() != "NULL"
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

  /// `createdAt` as `created_at`.
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
