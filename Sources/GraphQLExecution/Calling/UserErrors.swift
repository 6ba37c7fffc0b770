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
  }

  /// Returns why a field that writes rows was refused by a constraint, by the rule of its type or by
  /// its limit; nil for any other failure.
  func writeError(for error: PostgresError, in plan: CallPlan) -> UserError? {
    guard let write = plan.write else { return nil }
    if error.message.contains(WriteRefusal.tooMany) {
      return UserError(code: "TOO_MANY", message: nil, path: ["atMost"])
    }
    if error.message.contains(WriteRefusal.forbidden) {
      return UserError(code: "NOT_PERMITTED", message: nil, path: nil)
    }
    let code: String
    switch error.sqlState {
    case "23502": code = "REQUIRED"
    case "23503":
      code =
        write == .delete || error.detail?.contains("still referenced") == true
        ? "STILL_REFERENCED" : "NOT_FOUND"
    case "23505": code = "NOT_UNIQUE"
    case "23514": code = "INVALID"
    case "23P01": code = "CONFLICT"
    // A policy of row level security, if its check is of the row.
    case "42501" where error.message.contains("row-level security"): code = "NOT_PERMITTED"
    // Two given rows have the same key.
    case "21000": code = "NOT_UNIQUE"
    default: return nil
    }
    var broken: [String] = []
    if let constraint = error.constraint {
      broken =
        error.sqlState == "23502"
        ? [constraint] : columns[Key(table: error.table ?? "", constraint: constraint)] ?? []
    }
    return UserError(
      code: code, message: nil, path: plan.writtenMembers?.path(ofColumns: broken, in: error.table))
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
