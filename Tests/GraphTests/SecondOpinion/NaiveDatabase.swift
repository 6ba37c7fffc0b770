import Foundation
import JSON
import Postgres
import TestSupport

/// Rows, fetched one at a time by simple statements and remembered: the database does not change
/// while a test compares.
final class NaiveDatabase {
  private let session: PostgresSession
  private var rows: [String: [Int64: NaiveRow?]] = [:]
  private var lists: [String: [NaiveRow]] = [:]
  /// Results that depend on rows alone, shared by the graphs of all viewers.
  var words: [String: Set<String>] = [:]
  var scores: [Int64: Int64] = [:]
  var popularities: [Int64: Int64] = [:]

  init(_ database: String) throws {
    session = try TestCluster.session(database)
    try session.execute("SET timezone = 'UTC'; SET plan_cache_mode = auto")
  }

  func row(_ table: String, _ id: Int64, key: String = "id") throws -> NaiveRow? {
    if let known = rows[table]?[id] { return known }
    let found = try select("SELECT * FROM \(table) WHERE \(key) = \(id)").first
    rows[table, default: [:]][id] = .some(found)
    return found
  }

  /// The rows of a simple statement.
  func list(_ text: String) throws -> [NaiveRow] {
    if let known = lists[text] { return known }
    let found = try select(text)
    lists[text] = found
    return found
  }

  /// The first column of a simple statement, as ids.
  func ids(_ text: String) throws -> [Int64] {
    try list(text).map { Int64($0.first ?? "") ?? 0 }
  }

  private func select(_ text: String) throws -> [NaiveRow] {
    let (columns, rows) = try session.table(text)
    return rows.map { NaiveRow(columns: columns, values: $0) }
  }

  static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}

struct NaiveRow {
  private let values: [String: String]
  let first: String?

  init(columns: [String], values: [String?]) {
    var named: [String: String] = [:]
    for (column, value) in zip(columns, values) { named[column] = value }
    self.values = named
    first = values.first ?? nil
  }

  subscript(_ column: String) -> String? { values[column] }
  func text(_ column: String) -> String { values[column] ?? "" }
  func id(_ column: String = "id") -> Int64 { Int64(values[column] ?? "") ?? 0 }
  func optionalID(_ column: String) -> Int64? { values[column].flatMap { Int64($0) } }
  func int(_ column: String) -> Int { Int(values[column] ?? "") ?? 0 }
  func double(_ column: String) -> Double? { values[column].flatMap { Double($0) } }
  func bool(_ column: String) -> Bool { values[column] == "t" }
}

/// Times as the database writes them in UTC, `2026-05-01 18:30:00.25+00`, which sort as text.
enum NaiveTime {
  static func json(_ text: String?) -> Expected {
    guard let text else { return .null }
    let moment = text.replacing(" ", with: "T").replacing("+00", with: "")
    let parts = moment.split(separator: ".")
    let fraction = (parts.count > 1 ? String(parts[1]) : "") + "000"
    return .value(.string("\(parts[0]).\(fraction.prefix(3))Z"))
  }

  /// From what a client sends, always in UTC: `2026-05-01T18:30:00.000Z`.
  static func stored(_ text: String) -> String {
    var moment = text.replacing("T", with: " ").replacing("Z", with: "")
    if moment.contains(".") {
      while moment.hasSuffix("0") { moment.removeLast() }
      if moment.hasSuffix(".") { moment.removeLast() }
    }
    return moment + "+00"
  }

  static func now() -> String {
    let time = Date().timeIntervalSince1970
    let whole = time.rounded(.down)
    let seconds = Date(timeIntervalSince1970: whole).formatted(.iso8601)
    let fraction = String(Int((time - whole) * 1_000_000) + 1_000_000).dropFirst()
    return stored(seconds).replacing("+00", with: ".\(fraction)+00")
  }
}
