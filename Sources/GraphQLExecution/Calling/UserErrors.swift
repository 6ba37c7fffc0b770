import GraphQLPlanning
import GraphQLSchema
import JSON
import Postgres
import SQL

/// Something a user caused: one entry of a payload's user errors.
struct UserError: Equatable {
  let code: String
  /// The message, or nil for the code's description.
  let message: String?
  /// The path of the invalid argument.
  let path: [String]?
  /// The constraint that is broken.
  var constraint: String?
  /// The smallest and the largest value that the rule allows, as JSON numbers.
  var min: Double?
  var max: Double?
}

extension UserError {
  /// Returns the user errors that a function raised, or nil for any other error.
  ///
  /// The detail of SQLSTATE `SG100` is a JSON list of objects with `code`, and optionally `path`,
  /// `message`, `min` and `max`.
  static func raised(_ error: PostgresError) -> [UserError]? {
    guard error.sqlState == "SG100", let detail = error.detail,
      case .array(let items)? = try? JSONParser.parse(Array(detail.utf8))
    else { return nil }
    var errors: [UserError] = []
    for item in items {
      guard case .string(let code)? = item["code"] else { return nil }
      var path: [String]?
      if case .array(let steps)? = item["path"] {
        path = steps.compactMap { if case .string(let step) = $0 { step } else { nil } }
      }
      var message: String?
      if case .string(let text)? = item["message"] { message = text }
      errors.append(
        UserError(
          code: code, message: message, path: path, min: item["min"]?.number,
          max: item["max"]?.number))
    }
    return errors.isEmpty ? nil : errors
  }
}

extension JSONValue {
  /// The value of a number; nil for anything else.
  fileprivate var number: Double? {
    if case .number(let text) = self { Double(text) } else { nil }
  }
}

/// Which user error a broken constraint is: `constraint_error` in the graph's SQL, a table or view of
/// (table_name, constraint_name, code, argument).
///
/// The argument is named alone; each field has it in its own place.
package struct ConstraintErrors: Sendable {
  private struct Key: Hashable {
    let table: String
    let constraint: String
  }

  private var errors: [Key: (code: String, argument: String?)] = [:]
  /// The columns of constraints and unique indexes, for fields that write rows.
  private var columns: [Key: [String]] = [:]
  /// The types of the columns of tables, with their modifiers, by column; a domain's is the one that
  /// it is over.
  private var types: [String: [String: String]] = [:]

  package init() {}

  /// - Returns: none where the database has no such relation.
  package static func read(
    from session: PostgresSession, for mapping: StorageMapping
  ) throws(PostgresError) -> ConstraintErrors {
    var result = ConstraintErrors()
    for row in try session.rowsIfThere(
      "SELECT table_name, constraint_name, code, argument FROM \(GraphContract.constraintError)")
    {
      guard let table = row[0], let constraint = row[1], let code = row[2] else { continue }
      result.errors[Key(table: table, constraint: constraint)] = (code, row[3])
    }
    if mapping.writesRows { try result.readColumns(session) }
    return result
  }

  private mutating func readColumns(_ session: PostgresSession) throws(PostgresError) {
    for row in try session.execute(
      """
      SELECT c.relname, k.conname, a.attname, u.place FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
      CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY AS u (number, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number
      WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        AND k.contype <> 't'
      UNION ALL
      SELECT c.relname, x.relname, a.attname, u.place FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
      JOIN pg_class x ON x.oid = i.indexrelid
      CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS u (number, place)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number
      WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'pg_toast'::regnamespace)
        AND i.indisunique AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.oid)
      ORDER BY place
      """, [])
    {
      guard let table = row[0], let constraint = row[1], let column = row[2] else { continue }
      columns[Key(table: table, constraint: constraint), default: []].append(column)
    }
    for row in try session.execute(
      """
      SELECT c.relname, a.attname, CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod)
        ELSE format_type(a.atttypid, a.atttypmod) END
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
      WHERE c.relkind IN ('r', 'p', 'v', 'f') AND a.attnum > 0 AND NOT a.attisdropped
        AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      """, [])
    {
      guard let table = row[0], let column = row[1], let type = row[2] else { continue }
      types[table, default: [:]][column] = type
    }
  }

  /// Returns the type of a column that is written; nil if it is unknown.
  func type(of column: String, in table: String) -> String? { types[table]?[column] }

  /// Returns why a field that writes rows was refused by a constraint, by the rule of its type or by
  /// its limit; nil for any other failure.
  ///
  /// - Parameter binder: the values of the request.
  func writeError(
    for error: PostgresError, in plan: CallPlan, _ binder: ParameterBinder
  ) -> UserError? {
    guard let write = plan.write else { return nil }
    let written = plan.rows(in: binder.variables)
    // What a client sends for an integer is bound as one, and never read from text.
    let refusal = error.routine?.hasPrefix("pg_strtoint32") == true ? error.message : ""
    if refusal.contains(WriteRefusal.tooMany) {
      return UserError(code: "TOO_MANY", message: nil, path: ["atMost"])
    }
    if refusal.contains(WriteRefusal.forbidden) {
      return UserError(code: "NOT_PERMITTED", message: nil, path: nil)
    }
    if let reference = WriteRefusal.reference(in: refusal) {
      let rows = written.filter { row in
        row.table == reference.table
          && row.values.contains { reference.columns.contains($0.column) }
      }
      var path = plan.writtenMembers?.path(ofColumns: reference.columns, in: reference.table)
      if rows.count == 1, let row = rows.first {
        let members = row.values.filter { reference.columns.contains($0.column) }.map(\.member)
        path = row.path + members.prefix(1)
      }
      return UserError(code: "NOT_FOUND", message: nil, path: path)
    }
    let code: String
    var message: String?
    let rows = written.filter { $0.table == error.table }
    var broken: [String] = []
    if let constraint = error.constraint {
      broken =
        error.sqlState == "23502"
        ? [constraint] : columns[Key(table: error.table ?? "", constraint: constraint)] ?? []
    }
    switch error.sqlState {
    case "23502": code = "REQUIRED"
    case "23503":
      code = refersToNothing(error, write, rows, broken) ? "NOT_FOUND" : "STILL_REFERENCED"
    case "23505": code = "NOT_UNIQUE"
    case "23514": code = "INVALID"
    case "23P01": code = "CONFLICT"
    // A policy of row level security, if its check is of the row.
    case "42501" where error.routine == "ExecWithCheckOptions":
      code = "NOT_PERMITTED"
      if Set(plan.rows.map(\.table)).count > 1 {
        message =
          "You may not write such a row. A policy that looks for the row around another does not find it "
          + "yet: insert that one with a field before, in a mutation with @transaction."
      }
    // Two given rows have the same key.
    case "21000": code = "NOT_UNIQUE"
    default: return nil
    }
    var path = plan.writtenMembers?.path(ofColumns: broken, in: error.table)
    if let row = row(of: error, among: rows, broken, binder), row.path.count > 1 || path != nil {
      let member = row.values.first { broken.contains($0.column) }?.member ?? path?.last
      path = row.path + (member.map { [$0] } ?? [])
    }
    return UserError(
      code: code, message: message, path: path,
      constraint: error.sqlState.hasPrefix("23") && error.sqlState != "23502"
        ? error.constraint : nil)
  }

  /// Returns whether a foreign key was broken by a row that refers to one that does not exist, and
  /// not by one that others refer to.
  private func refersToNothing(
    _ error: PostgresError, _ write: WriteStorage.Action, _ rows: [WrittenRow], _ columns: [String]
  ) -> Bool {
    switch write {
    case .insert: return true
    case .delete: return false
    case .update:
      guard rows.contains(where: { $0.values.contains { columns.contains($0.column) } }) else {
        return false
      }
      // The detail has the columns and values, whatever the language around them. Those of the other
      // table may be called the same.
      return error.detail?.contains("(\(columns.joined(separator: ", ")))=(") ?? true
    }
  }

  /// Returns the values of the key that a constraint's error is about: `(a, b)=(1, x)`, whatever the
  /// language around it.
  private static func key(in detail: String?) -> String? {
    guard let detail, let start = detail.firstRange(of: ")=("),
      let end = detail.lastIndex(of: ")"), start.upperBound <= end
    else { return nil }
    return String(detail[start.upperBound..<end])
  }

  /// Returns the row that broke a constraint; nil if it is not known.
  private func row(
    of error: PostgresError, among rows: [WrittenRow], _ columns: [String],
    _ binder: ParameterBinder
  ) -> WrittenRow? {
    if rows.count < 2 { return rows.first }
    func value(_ column: String, _ row: WrittenRow) -> WrittenRow.Value? {
      row.values.first { $0.column == column }
    }
    switch error.sqlState {
    case "23502":
      guard let column = columns.first else { return nil }
      return rows.first {
        value(column, $0).map { binder.value(of: $0.source) == .null } ?? false
      } ?? rows.first { value(column, $0) == nil }
    case "23505", "23503", "23P01":
      guard !columns.isEmpty, let key = Self.key(in: error.detail) else { return nil }
      return rows.first { row in
        let texts = columns.map { column in
          value(column, row).flatMap { binder.text(of: $0.source, $0.type) }
        }
        // What is not given comes from elsewhere, such as the row around.
        let parts = key.split(separator: ", ", omittingEmptySubsequences: false)
        if parts.count == columns.count, texts.contains(where: { $0 != nil }) {
          return zip(parts, texts).allSatisfy { part, text in text.map { $0 == part } ?? true }
        }
        return key == texts.map { $0 ?? "" }.joined(separator: ", ")
      }
    default:
      // The detail has the row, as PostgreSQL writes its values.
      guard let detail = error.detail else { return nil }
      let fitting = rows.filter { row in
        var isKnown = false
        for value in row.values where value.type.isShownAsGiven {
          guard let text = binder.text(of: value.source, value.type), text.utf8.count < 64 else {
            continue
          }
          guard
            ["(", ", "].contains(where: { before in
              [", ", ")"].contains { detail.contains(before + text + $0) }
            })
          else { return false }
          isKnown = true
        }
        return isKnown
      }
      return fitting.count == 1 ? fitting.first : nil
    }
  }

  func userError(for error: PostgresError, in field: FieldDefinition, _ schema: Schema)
    -> UserError?
  {
    guard error.kind == .constraint, let table = error.table, let constraint = error.constraint,
      let found = errors[Key(table: table, constraint: constraint)]
    else { return nil }
    return UserError(
      code: found.code, message: nil,
      path: found.argument.flatMap { Self.path(of: $0, in: field, schema) })
  }

  /// An argument of this name, or a field of an input that is one.
  private static func path(
    of name: String, in field: FieldDefinition, _ schema: Schema
  ) -> [String]? {
    if field.argument(named: name) != nil { return [name] }
    for argument in field.arguments {
      guard case .inputObject(let fields, _) = schema[argument.type.namedType].kind,
        fields.contains(where: { $0.name == name })
      else { continue }
      return [argument.name, name]
    }
    return nil
  }
}

extension RefusalShape {
  /// The payload that says why not; nil when a code is none that the schema knows.
  func json(_ errors: [UserError]) -> [UInt8]? {
    guard errors.allSatisfy({ messages[$0.code] != nil || messages.isEmpty }) else { return nil }
    var json = JSONWriter(capacity: 256)
    for (index, field) in fields.enumerated() {
      json.append(UInt8(ascii: index == 0 ? "{" : ","))
      json.append(field.key)
      switch field.value {
      case .constant(let text): json.append(text)
      case .userErrors(let parts):
        json.append(UInt8(ascii: "["))
        for (index, error) in errors.enumerated() {
          if index > 0 { json.append(UInt8(ascii: ",")) }
          write(error, parts, to: &json)
        }
        json.append(UInt8(ascii: "]"))
      }
    }
    json.append(fields.isEmpty ? "{}" : "}")
    return json.finish()
  }

  private func write(_ error: UserError, _ parts: [UserErrorField], to json: inout JSONWriter) {
    for (index, part) in parts.enumerated() {
      json.append(UInt8(ascii: index == 0 ? "{" : ","))
      json.append(part.key)
      switch part.part {
      case .constant(let text): json.append(text)
      case .code: json.write(error.code)
      case .message: json.write(error.message ?? messages[error.code] ?? error.code)
      case .constraint:
        if let constraint = error.constraint { json.write(constraint) } else { json.writeNull() }
      case .min: write(error.min, to: &json)
      case .max: write(error.max, to: &json)
      case .path:
        guard let path = error.path else {
          json.writeNull()
          continue
        }
        json.append(UInt8(ascii: "["))
        for (index, step) in path.enumerated() {
          if index > 0 { json.append(UInt8(ascii: ",")) }
          json.write(step)
        }
        json.append(UInt8(ascii: "]"))
      }
    }
    json.append(parts.isEmpty ? "{}" : "}")
  }

  private func write(_ limit: Double?, to json: inout JSONWriter) {
    guard let limit else { return json.writeNull() }
    json.write(limit)
  }
}
