import GraphQLLanguage
import GraphQLSchema
import SQL

/// The action of a mutation's field: a function (`@call`), or rows (`@insert`, `@update`, `@delete`).
package struct CallStorage: Sendable {
  package enum Action: Sendable {
    /// A call with its arguments, such as `react(:viewer, :subjectId, :kind)`.
    case function(SQLTemplate)
    case rows(WriteStorage)
  }

  package let action: Action
  /// Whether a repeated request with the same key is not executed again. The request then has a row
  /// that stores its response.
  package let isOnce: Bool
  /// The function to call instead if a request is repeated whose response is not stored.
  package let again: SQLTemplate?
  /// The member of the function's result with the ID of the user whom the mutation signs in. The
  /// payload is read as that user.
  package let signsIn: String?
  /// Whether the function may end sessions of others than the viewer.
  package let endsSessions: Bool
  /// Whether clients without a session or a signed token are refused.
  package var refusesAnonymous = false
  /// The call of a function; nil for a field that writes rows.
  var function: SQLTemplate? { if case .function(let function) = action { function } else { nil } }

  /// The rows that the field writes; nil for a call.
  var write: WriteStorage? { if case .rows(let write) = action { write } else { nil } }

  /// The function's name before the parentheses; nil if the template is not a call.
  package var functionName: String? {
    guard let function else { return nil }
    let name = function.source.prefix { $0 != "(" }.filter { $0 != " " }
    return function.source.contains("(") && !name.isEmpty ? name : nil
  }

  /// Whether it reads or creates a session, and may end other sessions of the account.
  package var mayEndOwnSession: Bool {
    makesSecret || function?.mentions(variable: "sessionHash") == true
  }

  /// Whether the response contains a secret, and must not be stored.
  package var makesSecret: Bool {
    function?.mentions(variable: "secret") == true
      || function?.mentions(variable: "secretHash") == true
  }
}

/// The SQL of a payload's field with `@result`, in the words of the other directives.
enum ResultText {
  /// The function's result as text, within its transaction. Outside of one, such as when a
  /// statement is prepared, it is null.
  static let word: SQLFragment = "nullif(current_setting('sociograph.result', true), '')"

  /// Returns the result, or its member `key`, as a value of a leaf type.
  static func leaf(_ key: String?, _ type: TypeReference, in schema: Schema) -> String {
    "(\(source(key)))::\(sqlType(type, in: schema))"
  }

  /// Returns the ID of the object.
  static func id(_ key: String?) -> String { "(\(source(key)))::bigint" }

  /// The IDs of objects.
  static let ids = "(:result)::bigint[]"

  private static func source(_ key: String?) -> String { ":result" + (key.map { ".\($0)" } ?? "") }

  static func sqlType(_ type: TypeReference, in schema: Schema) -> String {
    switch type {
    case .nonNull(let inner): return sqlType(inner, in: schema)
    case .list(let item): return sqlType(item, in: schema) + "[]"
    case .named(let id):
      switch schema[id].name {
      case "ID": return "bigint"
      case "Int": return "int4"
      case "Float": return "float8"
      case "Boolean": return "boolean"
      default:
        return schema[id].appliedDirectives.first(named: "scalar")?.string("type") ?? "text"
      }
    }
  }
}

extension CallStorage {
  /// Returns whether an input object is used only as one `jsonb`, and none of its fields alone.
  func takesWhole(_ argument: String) -> Bool {
    guard let function else { return false }
    return ([function] + (again.map { [$0] } ?? [])).allSatisfy { template in
      template.variables.allSatisfy { $0.first != argument || $0.count == 1 }
    }
  }
}
