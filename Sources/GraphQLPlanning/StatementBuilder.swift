import SQL

/// What one statement collects while its parts are compiled: parameters and alias numbers.
final class StatementBuilder {
  private(set) var parameters: [PlanParameter] = []
  private var numbers: [PlanParameter: Int] = [:]
  private var aliasCount = 0

  /// `t1`, `t2`, ... in the order of use, so that the same plan always has the same text.
  func alias(_ letter: String = "t") -> String {
    aliasCount += 1
    return "\(letter)\(aliasCount)"
  }

  /// `$n`, the same for the same parameter.
  func reference(_ parameter: PlanParameter) -> String {
    if let number = numbers[parameter] { return "$\(number)" }
    parameters.append(parameter)
    numbers[parameter] = parameters.count
    return "$\(parameters.count)"
  }

  /// The finished text with the parameters it mentions, numbered anew where some are left over from
  /// parts that were not needed: PostgreSQL cannot tell the type of a parameter nobody uses.
  func finished(_ text: String) -> (statement: String, parameters: [PlanParameter]) {
    var isUsed = [Bool](repeating: false, count: parameters.count)
    let mentions = SQLParameter.mentions(in: text)
    for mention in mentions where mention.number <= isUsed.count {
      isUsed[mention.number - 1] = true
    }
    if !isUsed.contains(false) { return (text, parameters) }
    var numbers: [Int] = []
    var kept: [PlanParameter] = []
    for (parameter, isUsed) in zip(parameters, isUsed) {
      if isUsed { kept.append(parameter) }
      numbers.append(kept.count)
    }
    var renumbered: [UInt8] = []
    let bytes = Array(text.utf8)
    var copied = 0
    for mention in mentions where mention.number <= numbers.count {
      renumbered += bytes[copied..<mention.range.lowerBound]
      renumbered += "$\(numbers[mention.number - 1])".utf8
      copied = mention.range.upperBound
    }
    renumbered += bytes[copied...]
    return (String(decoding: renumbered, as: UTF8.self), kept)
  }
}

/// A row of a statement under construction: its alias, the columns asked of it and the joins they
/// need. Asking for the same column twice gives the same place.
final class RowBuilder {
  /// Of `this` in expressions.
  let alias: String
  /// Of the `from` item that led here, if any.
  let edgeAlias: String?
  /// Read from a table's masked form: what hangs on it needs the row itself to be visible.
  let mask: TableStorage?
  private(set) var columns: [String] = []
  private var places: [String: Int] = [:]
  private var joins: [(join: JoinStorage, alias: String)] = []
  private(set) var joinClauses: [String] = []

  init(alias: String, edgeAlias: String? = nil, mask: TableStorage? = nil) {
    self.alias = alias
    self.edgeAlias = edgeAlias
    self.mask = mask
  }

  func column(_ expression: String) -> Int {
    if let place = places[expression] { return place }
    columns.append(expression)
    places[expression] = columns.count - 1
    return columns.count - 1
  }

  func alias(of join: JoinStorage) -> String? {
    joins.first { $0.join == join }?.alias
  }

  /// A new alias for a declared join whose clause follows in `addClause`.
  func addAlias(for join: JoinStorage) -> String {
    let isTaken = joins.contains { $0.join.name == join.name }
    let alias = "\(self.alias)_\(join.name)" + (isTaken ? "\(joins.count)" : "")
    joins.append((join, alias))
    return alias
  }

  func addClause(_ clause: String) { joinClauses.append(clause) }

  /// `ROW(...)` of all columns asked for.
  var rowExpression: String {
    columns.count > 6
      ? "ROW(\n  " + columns.map(indented).joined(separator: ",\n  ") + ")"
      : "ROW(" + columns.map(indented).joined(separator: ", ") + ")"
  }
}

/// The lines after the first moved right.
func indented(_ text: String) -> String {
  let newline = UInt8(ascii: "\n")
  guard text.utf8.contains(newline) else { return text }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.utf8.count + text.utf8.count / 8)
  for byte in text.utf8 {
    bytes.append(byte)
    if byte == newline { bytes += [UInt8(ascii: " "), UInt8(ascii: " ")] }
  }
  return String(decoding: bytes, as: UTF8.self)
}

/// `(SELECT ...)` from its clauses, one a line.
func select(_ expression: String, from: [String], where conditions: [String], tail: [String] = [])
  -> String
{
  var lines = ["SELECT " + expression]
  if !from.isEmpty { lines.append("FROM " + from.joined(separator: "\n  ")) }
  if !conditions.isEmpty { lines.append("WHERE " + conditions.joined(separator: "\n  AND ")) }
  lines += tail
  return "(" + indented(lines.joined(separator: "\n")) + ")"
}
