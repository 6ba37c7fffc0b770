/// The relations and functions that a text of SQL may read: each name that can be one, with the
/// values that its rows are required to equal.
///
/// They are found by the tokens alone. Other names among them do no harm, because the caller knows
/// which relations and functions exist. An equality is listed only if it holds whatever else the
/// condition says, so that rows that do not satisfy it are irrelevant.
package struct SQLDependencies: Sendable {
  package enum Operand: Sendable, Hashable {
    /// A variable, `:name.path`.
    case variable([String])
    /// A column, `alias.name`.
    case column(String, String)
    case name(String)
  }

  /// A column of the rows that have the alias, and the value that it equals.
  package struct Equality: Sendable, Hashable {
    package let alias: String
    package let column: String
    package let operand: Operand
  }

  package struct Mention: Sendable {
    package let name: String
    package let isCall: Bool
    /// The arguments of a call; nil for each that is not a single operand.
    package let arguments: [Operand?]
    /// The alias of its rows.
    package let alias: String
    /// The equalities that its rows satisfy.
    package let equalities: [Equality]
    /// Whether it comes first after the first FROM of all, and the text returns `alias.*` or is not
    /// a SELECT.
    package let isFirst: Bool
  }

  package let mentions: [Mention]
  /// The equalities that hold for the text itself, if it is a condition.
  package let conditions: [Equality]
  /// Whether nothing is known, because the text generates SQL itself or cannot be split into
  /// tokens.
  package let isOpaque: Bool
  /// Whether the select list is `alias.*` of the first mention.
  package let givesFirst: Bool

  package init(_ text: String) {
    guard let reader = try? Reader(text), !reader.isDynamic else {
      (mentions, conditions, isOpaque, givesFirst) = ([], [], true, false)
      return
    }
    mentions = reader.mentions
    conditions = reader.conditions
    isOpaque = false
    givesFirst = reader.givesFirst
  }
}

private struct Reader {
  struct Token {
    let kind: SQLScanner.Token
    /// The text; names are in lower case, without quotes.
    let text: String

    func isSymbol(_ symbol: Unicode.Scalar) -> Bool { kind == .symbol(UInt8(ascii: symbol)) }
    var isName: Bool { kind == .name || kind == .quotedName }
    func isWord(_ word: String) -> Bool { kind == .name && text == word }
  }

  private(set) var tokens: [Token] = []
  /// The part of a query that each token belongs to: the same SELECT in the same brackets.
  private var groups: [Int] = []
  /// The tokens of each group.
  private var members: [Int: [Int]] = [:]
  private(set) var isDynamic = false

  /// The words after which another query begins.
  private static let separators: Set<String> = [
    "union", "intersect", "except", "then", "else", "elsif", "loop", "begin", "into", "return",
    "perform",
  ]
  /// The words that end a condition.
  private static let ends: Set<String> = [
    "group", "order", "limit", "offset", "having", "window", "fetch", "for", "returning", "on",
  ]
  /// The words that cannot be an alias.
  private static let words: Set<String> =
    separators.union(ends).union([
      "where", "join", "left", "right", "full", "inner", "outer", "cross", "natural", "using",
      "lateral", "tablesample", "and", "or", "when", "end", "is", "in", "not", "desc", "asc",
      "with", "as", "set", "between", "like", "from", "select", "case",
    ])

  init(_ text: String) throws {
    var scanner = try SQLScanner(text)
    while let (kind, range) = try scanner.next() {
      switch kind {
      case .space, .lineComment, .blockComment: continue
      case .name, .quotedName, .string, .variable, .symbol: break
      }
      var word = String(decoding: scanner.bytes[range], as: UTF8.self)
      if kind == .name { word = word.lowercased() }
      if kind == .quotedName { word = SQLQuoting.catalogName(word) }
      if kind == .name, word == "execute" { isDynamic = true }
      tokens.append(Token(kind: kind, text: word))
    }
    group()
  }

  private enum Bracket { case round, `case` }

  private mutating func group() {
    var stack: [(group: Int, bracket: Bracket)] = [(0, .round)]
    var count = 1
    func current() -> Int { stack.last?.group ?? 0 }
    func open(_ bracket: Bracket) {
      stack.append((count, bracket))
      count += 1
    }
    for (index, token) in tokens.enumerated() {
      if token.isSymbol(")") || token.isSymbol("]") {
        while stack.count > 1, let last = stack.popLast(), last.bracket == .case {}
      } else if token.isWord("end"), stack.last?.bracket == .case {
        stack.removeLast()
      } else if token.isSymbol(";")
        || token.kind == .name && Self.separators.contains(token.text)
          && !(stack.last?.bracket == .case)
      {
        let bracket = stack.popLast()?.bracket ?? .round
        open(bracket)
      }
      groups.append(current())
      members[current(), default: []].append(index)
      if token.isSymbol("(") || token.isSymbol("[") { open(.round) }
      if token.isWord("case") { open(.case) }
    }
  }

  private subscript(_ index: Int) -> Token? { tokens.indices.contains(index) ? tokens[index] : nil }

  // MARK: Equalities

  /// Returns the equalities that must hold for the rows of a group; none if that is not clear.
  private func equalities(of group: Int) -> [SQLDependencies.Equality] {
    let places = members[group] ?? []
    let starts = places.indices.filter { tokens[places[$0]].isWord("where") }
    guard starts.count == 1 else { return [] }
    return equalities(places[(starts[0] + 1)...].prefix { !isEnd(tokens[$0]) })
  }

  private func isEnd(_ token: Token) -> Bool {
    token.kind == .name && Self.ends.contains(token.text)
  }

  /// The equalities of the text as a condition.
  var conditions: [SQLDependencies.Equality] { equalities((members[0] ?? [])[...]) }

  private func equalities(_ places: ArraySlice<Int>) -> [SQLDependencies.Equality] {
    guard !places.contains(where: { isWord("or", $0) || isWord("between", $0) }) else { return [] }
    return places.split { isWord("and", $0) }.flatMap { part -> [SQLDependencies.Equality] in
      let sides = part.split(omittingEmptySubsequences: false) { tokens[$0].isSymbol("=") }
      guard sides.count == 2, let left = operand(sides[0]), let right = operand(sides[1]) else {
        return []
      }
      var found: [SQLDependencies.Equality] = []
      if case .column(let alias, let column) = left {
        found.append(SQLDependencies.Equality(alias: alias, column: column, operand: right))
      }
      if case .column(let alias, let column) = right {
        found.append(SQLDependencies.Equality(alias: alias, column: column, operand: left))
      }
      return found
    }
  }

  /// Returns whether a token is this key word: not the name of a column, as behind a dot.
  private func isWord(_ word: String, _ place: Int) -> Bool {
    tokens[place].isWord(word) && self[place - 1]?.isSymbol(".") != true
  }

  private func operand(_ places: ArraySlice<Int>) -> SQLDependencies.Operand? {
    let found = places.map { tokens[$0] }
    switch found.count {
    case 1:
      if case .variable(let path, isSplice: false) = found[0].kind { return .variable(path) }
      return found[0].isName ? .name(found[0].text) : nil
    case 3 where found[0].isName && found[1].isSymbol(".") && found[2].isName:
      return .column(found[0].text, found[2].text)
    default: return nil
    }
  }

  // MARK: Mentions

  var mentions: [SQLDependencies.Mention] {
    let first = firstPlace
    return tokens.indices.compactMap { index in
      guard tokens[index].isName, self[index - 1]?.isSymbol(".") != true,
        self[index - 1]?.isWord("as") != true, self[index + 1]?.isSymbol(".") != true
      else { return nil }
      let isCall = self[index + 1]?.isSymbol("(") == true
      var next = index + 1
      var arguments: [SQLDependencies.Operand?] = []
      if isCall {
        let inside = groupBehind(index + 1)
        let places = inside.map { members[$0] ?? [] } ?? []
        if !places.isEmpty {
          arguments =
            places.split(omittingEmptySubsequences: false) { tokens[$0].isSymbol(",") }
            .map { operand($0) }
        }
        next = closing(index + 1) + 1
      }
      while let token = self[next],
        token.isWord("as") || token.isWord("with") || token.isWord("ordinality")
      {
        next += 1
      }
      var alias = tokens[index].text
      if let token = self[next], token.isName,
        token.kind == .quotedName || !Self.words.contains(token.text)
      {
        alias = token.text
      }
      return SQLDependencies.Mention(
        name: tokens[index].text, isCall: isCall, arguments: arguments, alias: alias,
        equalities: equalities(of: groups[index]).filter { $0.alias == alias },
        isFirst: index == first)
    }
  }

  /// Returns the group that an opening bracket starts; nil if it is empty.
  private func groupBehind(_ bracket: Int) -> Int? {
    guard let token = self[bracket + 1], !token.isSymbol(")") else { return nil }
    return groups[bracket + 1]
  }

  private func closing(_ bracket: Int) -> Int {
    let outer = groups[bracket]
    return tokens.indices.first {
      $0 > bracket && tokens[$0].isSymbol(")") && groups[$0] == outer
    } ?? bracket
  }

  private var fromPlace: Int? {
    guard self[0]?.isWord("select") == true else { return nil }
    return members[0]?.first { tokens[$0].isWord("from") }
  }

  private var firstPlace: Int? {
    if let from = fromPlace { return from + 1 }
    return self[0]?.isWord("select") == true || self[0]?.isWord("with") == true ? nil : 0
  }

  var givesFirst: Bool {
    guard let from = fromPlace, from == 4, tokens[2].isSymbol("."), tokens[3].isSymbol("*") else {
      return false
    }
    return mentions.first { $0.isFirst }?.alias == tokens[1].text
  }
}
